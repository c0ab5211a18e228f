"""What is searchable of one bank, in memory: its rows' columns, their vectors and the graph over those."""

from collections.abc import Iterable, Sequence, Set
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from schemas.instant import DAY, Instant
from stores.local.neighbours import Neighbours
from stores.local.row_file import Stored
from stores.local.row_table import RowTable
from stores.local.vectors import VectorSpace, exact, near
from stores.ports import Hit, IndexFilter, Vectors

_CHUNK = 8
_WASTE_ALLOWED = 1_000


class BankIndex:
    """Rows of one bank, for many searching threads and one that writes.

    A search reads columns under the lock and scores outside it. Banks of more than `exact_up_to` vectors are
    searched by way of the graph, once the background has grown it; until then, and for narrow filters, exactly.
    """

    def __init__(self, sizes: tuple[int, int], neighbours: Neighbours, dimensions: int, exact_up_to: int) -> None:
        """Make an empty one with room for so many rows and vectors; `neighbours` is let go where it is mostly waste."""
        rows, vectors = sizes
        wasteful = len(neighbours) > max(_WASTE_ALLOWED, 2 * vectors)
        self.neighbours = Neighbours(dimensions) if wasteful else neighbours
        self._exact_up_to = exact_up_to
        self._lock = RLock()
        self._table = RowTable(rows)
        self._space = VectorSpace(dimensions, vectors)

    @property
    def size(self) -> int:
        """The number of rows."""
        return self._table.live

    @property
    def wasteful(self) -> bool:
        """Whether so many slots are dead that the bank should be made anew from its file."""
        return len(self._table) - self._table.live > max(_WASTE_ALLOWED, self._table.live)

    def put(self, stored: Sequence[Stored], kept: Set[int] = frozenset(), gone: Iterable[int] = ()) -> None:
        """Let rows appear, change (those whose number is in `kept`) and vanish, all at once for a search."""
        with self._lock:
            for slot in self._table.slots(gone):
                self._table.remove(slot)
            changed = [item for item in stored if item.number in kept]
            for slot, item in zip(self._table.slots(item.number for item in changed), changed, strict=True):
                self._table.update(slot, item.row)
            self._add([item for item in stored if item.number not in kept])

    def semantic(self, filter: IndexFilter, vector: Vectors, limit: int) -> list[Hit]:
        """Nearest rows by cosine that pass the filter."""
        with self._lock:
            mask = self._table.mask(filter)
            space = self._space.now()
        if len(space.numbers) > self._exact_up_to:
            found = near(space, mask, self.neighbours, vector, limit, self._exact_up_to // 4)
            if found is not None:
                hits = self._best(*found, limit)
                if len(hits) == limit:
                    return hits
        return self._best(*exact(space, mask, vector), limit)

    def by_time(self, filter: IndexFilter, start: Instant, end: Instant, limit: int) -> list[Hit]:
        """Rows that overlap [start, end]. Score: 1 / (1 + |middle - asked middle| / max(end - start, one day))."""
        with self._lock:
            slots, middles = self._table.overlap(self._table.mask(filter), start, end)
        scores = 1.0 / (1.0 + np.abs(middles - (start / 2 + end / 2)) / max(end - start, DAY))
        return self._best(slots, scores, limit)

    def passing(self, filter: IndexFilter) -> int:
        """How many rows pass the filter."""
        with self._lock:
            return int(np.count_nonzero(self._table.mask(filter)))

    def hits(self, filter: IndexFilter, scored: Sequence[tuple[int, float]], limit: int) -> list[Hit]:
        """The beliefs of scored row numbers, best first, each once; rows that are gone or do not pass are left out."""
        with self._lock:
            slots = self._table.found(np.fromiter((number for number, _ in scored), np.int64, len(scored)))
            passing = (slots >= 0) & self._table.mask(filter)[slots] if self._table.live else slots >= 0
        best: dict[str, float] = {}
        names = self._table.names
        for slot, passes, (_, score) in zip(slots.tolist(), passing.tolist(), scored, strict=True):
            if passes:
                best.setdefault(names[slot], score)
        return [Hit(belief, score) for belief, score in list(best.items())[:limit]]

    def vectors(self, beliefs: Sequence[str], readers: Sequence[str]) -> dict[str, Vectors]:
        """The vector of each belief's first row that these readers may see."""
        with self._lock:
            owners, slots = self._table.visible(beliefs, readers)
            places, vectors = self._space.at_slots(slots)
        found: dict[str, Vectors] = {}
        for place, vector in zip(places.tolist(), vectors, strict=True):
            found.setdefault(owners[place], vector)
        return found

    def grow(self) -> bool:
        """Add a few rows to the graph where it lags; False when it does not."""
        with self._lock:
            space = self._space.now()
        covered = int(np.searchsorted(space.numbers, self.neighbours.top, "right"))
        if len(space.numbers) <= self._exact_up_to or covered == len(space.numbers):
            return False
        lagging = slice(covered, covered + _CHUNK)
        self.neighbours.add(space.numbers[lagging], space.matrix[lagging])
        return True

    def _add(self, rows: Sequence[Stored]) -> None:
        slots_of_rows = self._table.add([item.number for item in rows], [item.row for item in rows])
        places = [
            (item.number, slot, item.vector)
            for slot, item in zip(slots_of_rows, rows, strict=True)
            if item.vector is not None
        ]
        if places:
            numbers, slots, vectors = map(list, zip(*places, strict=True))
            self._space.add(numbers, slots, vectors)

    def _best(self, slots: NDArray[np.int64], scores: NDArray[np.floating], limit: int) -> list[Hit]:
        """The `limit` beliefs with the best rows; several rows of one belief count once."""
        names, size, wanted = self._table.names, len(slots), 2 * limit
        while True:
            top = best_places(scores, wanted)
            best: dict[str, float] = {}
            for slot, score in zip(slots[top].tolist(), scores[top].tolist(), strict=True):
                best.setdefault(names[slot], score)
            if len(best) >= limit or wanted >= size:
                return [Hit(belief, score) for belief, score in list(best.items())[:limit]]
            wanted *= 4


def best_places(scores: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Places of the `count` highest scores, highest first, equal ones by place."""
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        chosen = np.flatnonzero(scores >= least)
    else:
        chosen = np.arange(len(scores))
    return chosen[np.argsort(-scores[chosen], kind="stable")][:count]
