"""A histogram of seconds with fixed bounds, counted by several threads."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from threading import Lock

import msgspec


class Counted(msgspec.Struct, frozen=True):
    """What was counted so far: by upper bound (the last is "+Inf") how many were no longer, their sum and number."""

    buckets: dict[str, int]
    sum: float
    count: int


class Histogram:
    """Counts durations by the smallest bound that they do not exceed."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0
        self._turn = Lock()

    def add(self, seconds: Iterable[float]) -> None:
        """Count durations."""
        with self._turn:
            for each in seconds:
                self._counts[bisect_left(self._bounds, each)] += 1
                self._sum += each

    def counted(self) -> Counted:
        """The buckets, each with all that the smaller ones hold."""
        with self._turn:
            totals, total = list(accumulate(self._counts)), self._sum
        names = (*map(str, self._bounds), "+Inf")
        return Counted(dict(zip(names, totals, strict=True)), total, totals[-1])
