"""Histograms of seconds or sizes with fixed bounds, counted by several threads."""

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
    """Counts durations, or sizes, by the smallest bound that they do not exceed."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0
        self._turn = Lock()

    def add(self, amounts: Iterable[float]) -> None:
        """Count some."""
        with self._turn:
            for each in amounts:
                self._counts[bisect_left(self._bounds, each)] += 1
                self._sum += each

    def counted(self) -> Counted:
        """The buckets, each with all that the smaller ones hold."""
        with self._turn:
            totals, total = list(accumulate(self._counts)), self._sum
        names = (*map(str, self._bounds), "+Inf")
        return Counted(dict(zip(names, totals, strict=True)), total, totals[-1])


class Histograms:
    """A histogram of the same bounds for each name that was given or met."""

    def __init__(self, bounds: Sequence[float], names: Iterable[str] = ()) -> None:
        self._bounds = tuple(bounds)
        self._turn = Lock()
        self._by_name = {name: Histogram(self._bounds) for name in names}

    def add(self, name: str, amount: float) -> None:
        """Count one under a name."""
        with self._turn:
            histogram = self._by_name.setdefault(name, Histogram(self._bounds))
        histogram.add([amount])

    def counted(self) -> dict[str, Counted]:
        """What was counted, by name."""
        with self._turn:
            known = dict(self._by_name)
        return {name: histogram.counted() for name, histogram in known.items()}
