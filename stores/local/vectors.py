"""The vectors of one bank in memory, and the rows of a mask that are nearest to one: exactly, or by way of a graph."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stores.local.neighbours import Neighbours
from stores.local.row_table import Mask, Numbers, Slots, resized
from stores.ports import Vectors

Scores = NDArray[np.float32]

_SCANNED_SHARE = 0.05
_OVERSAMPLING = 2
_FILTERED_OVERSAMPLING = 2
_LEAST_SEARCHED = 64
_MOST_GATHERED_SHARE = 0.3


class Space(NamedTuple):
    """What a space held at one moment: number, slot and vector of each place."""

    numbers: Numbers
    slots: Slots
    matrix: Vectors


class VectorSpace:
    """Vectors in the order of their row numbers. Not locked: its owner does that; a `Space` once taken stays true."""

    def __init__(self, dimensions: int, size: int) -> None:
        self._count = 0
        self._numbers = np.empty(size, np.int64)
        self._slots = np.empty(size, np.int64)
        self._matrix = np.empty((size, dimensions), np.float32)

    def add(self, numbers: list[int], slots: list[int], vectors: list[bytes]) -> None:
        """Append float16 vectors; their numbers ascend, and are greater than all before."""
        start, end = self._count, self._count + len(numbers)
        if end > len(self._numbers):
            size = max(end, len(self._numbers) * 3 // 2)
            self._numbers = resized(self._numbers, size)
            self._slots = resized(self._slots, size)
            self._matrix = resized(self._matrix, size)
        self._numbers[start:end] = numbers
        self._slots[start:end] = slots
        self._matrix[start:end] = np.frombuffer(b"".join(vectors), np.float16).reshape(-1, self._matrix.shape[1])
        self._count = end

    def at_slots(self, slots: Slots) -> tuple[NDArray[np.intp], Vectors]:
        """Which of these slots have a vector, by place in `slots`, and a copy of each one's vector."""
        held = self.now()
        places = np.searchsorted(held.slots, slots)
        having = np.flatnonzero(held.slots[np.minimum(places, self._count - 1)] == slots) if self._count else places[:0]
        return having, held.matrix[places[having]]

    def now(self) -> Space:
        """What is held at this moment."""
        return Space(self._numbers[: self._count], self._slots[: self._count], self._matrix[: self._count])


def exact(space: Space, mask: Mask, vector: Vectors) -> tuple[Slots, Scores]:
    """Slot and cosine of every row of the mask."""
    allowed = np.flatnonzero(mask[space.slots])
    if len(allowed) > _MOST_GATHERED_SHARE * len(space.slots):
        return space.slots[allowed], (space.matrix @ vector)[allowed]
    return space.slots[allowed], space.matrix[allowed] @ vector


def near(
    space: Space, mask: Mask, neighbours: Neighbours, vector: Vectors, limit: int, scanned: int
) -> tuple[Slots, Scores] | None:
    """Slot and cosine of rows of the mask among the nearest ones; None where an exact scan is the better way.

    Up to `scanned` rows that the graph does not cover yet are scanned. The graph is asked for more rows the fewer of
    them pass the mask; if too few passed nevertheless, the caller falls back to `exact`: a filter never costs a hit.
    """
    size = len(space.numbers)
    covered = int(np.searchsorted(space.numbers, neighbours.top, "right"))
    passing = int(np.count_nonzero(mask[space.slots]))
    if not covered or size - covered > scanned or passing <= max(scanned, _SCANNED_SHARE * size):
        return None
    wanted = max(_LEAST_SEARCHED, _OVERSAMPLING * limit, _FILTERED_OVERSAMPLING * limit * size // passing)
    numbers = neighbours.search(vector, wanted)
    if numbers is None:
        return None
    places = np.minimum(np.searchsorted(space.numbers, numbers), size - 1)
    places = np.concatenate((places[space.numbers[places] == numbers], np.arange(covered, size)))
    places = places[mask[space.slots[places]]]
    return space.slots[places], space.matrix[places] @ vector
