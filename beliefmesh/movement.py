"""Notices a stage that has work in a partition and does none of it, also while other partitions move."""

import time
from collections.abc import Callable, Iterable
from threading import Lock

from streams.backlog import Place


class Movement:
    """What was seen of every place where something waits, each time that somebody looked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = Lock()
        self._since: dict[tuple[str, int], tuple[int, float]] = {}

    def still(self, found: Iterable[Place]) -> dict[Place, float]:
        """The places where something waits, each with the seconds since it was first seen to stand where it stands."""
        waiting = {(place.stage, place.partition): place for place in found if place.committed < place.end}
        with self._turn:
            now, before = self._clock(), self._since
            self._since = {key: _since(before.get(key), place.committed, now) for key, place in waiting.items()}
            return {place: now - self._since[key][1] for key, place in waiting.items()}


def _since(before: tuple[int, float] | None, committed: int, now: float) -> tuple[int, float]:
    return before if before is not None and before[0] == committed else (committed, now)
