"""The columns of one bank's index rows in memory, and which rows a filter lets through."""

from collections.abc import Iterable, Sequence
from typing import TypeVar, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from schemas.belief import Status
from schemas.claim import Network
from schemas.instant import Instant
from stores.ports import IndexFilter, IndexRow

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Slots = NDArray[np.int64]

_STATUSES: tuple[Status, ...] = get_args(Status)
_NETWORKS: tuple[Network, ...] = get_args(Network)
_STATUS_CODES = {status: code for code, status in enumerate(_STATUSES)}
_NETWORK_CODES = {network: code for code, network in enumerate(_NETWORKS)}
_FIRST_SIZE = 256
_MASKS = 16

Column = TypeVar("Column", bound=np.generic)


class RowTable:
    """Rows by slot, 0, 1, 2…, in the order of their numbers; a removed row leaves its slot dead.

    Not locked: its owner does that. `names` (the belief of each slot) and what `numbers` holds only ever grow.
    """

    def __init__(self, size: int = _FIRST_SIZE) -> None:
        self.names: list[str] = []
        self.live = 0
        self._slots_of: dict[str, tuple[int, ...]] = {}
        self._mentions: dict[str, set[int]] = {}
        self._entities: list[tuple[str, ...]] = []
        self._audiences: dict[tuple[str, ...], int] = {}
        self._masks: dict[IndexFilter, Mask] = {}
        self._number = np.empty(size, np.int64)
        self._audience = np.empty(size, np.int32)
        self._status = np.empty(size, np.uint8)
        self._network = np.empty(size, np.uint8)
        self._checked = np.empty(size, np.bool_)
        self._alive = np.zeros(size, np.bool_)
        self._since = np.empty(size, np.int64)
        self._until = np.empty(size, np.int64)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def numbers(self) -> Numbers:
        """The number of each slot, ascending."""
        return self._number[: len(self)]

    def add(self, numbers: Sequence[int], rows: Sequence[IndexRow]) -> range:
        """Append rows; their numbers ascend, and are greater than all before. Returns their slots."""
        self._masks.clear()
        slots = range(len(self), len(self) + len(rows))
        if slots.stop > len(self._number):
            self._grow(slots.stop)
        here = slice(slots.start, slots.stop)
        self._number[here] = numbers
        self._alive[here] = True
        self._audience[here] = [self._audiences.setdefault(row.readers, len(self._audiences)) for row in rows]
        self._status[here] = [_STATUS_CODES[row.status] for row in rows]
        self._network[here] = [_NETWORK_CODES[row.network] for row in rows]
        self._checked[here] = [row.checked for row in rows]
        spans = [span_of(row) for row in rows]
        self._since[here] = [since for since, _ in spans]
        self._until[here] = [until for _, until in spans]
        self.names += [row.belief for row in rows]
        self._entities += [()] * len(rows)
        for slot, row in zip(slots, rows, strict=True):
            self._slots_of[row.belief] = (*self._slots_of.get(row.belief, ()), slot)
            self._mention(slot, row.entities)
        self.live += len(rows)
        return slots

    def update(self, slot: int, row: IndexRow) -> None:
        """Put the facts of a row into its slot."""
        self._masks.clear()
        self._audience[slot] = self._audiences.setdefault(row.readers, len(self._audiences))
        self._status[slot] = _STATUS_CODES[row.status]
        self._network[slot] = _NETWORK_CODES[row.network]
        self._checked[slot] = row.checked
        self._since[slot], self._until[slot] = span_of(row)
        self._mention(slot, row.entities)

    def remove(self, slot: int) -> None:
        """Leave a slot dead."""
        if self._alive[slot]:
            self._masks.clear()
            self._alive[slot] = False
            self.live -= 1
            name = self.names[slot]
            self._slots_of[name] = tuple(other for other in self._slots_of[name] if other != slot)
            self._mention(slot, ())

    def slots(self, numbers: Iterable[int]) -> list[int]:
        """The slot of each number; a number must be in the table."""
        found: list[int] = np.searchsorted(self.numbers, np.fromiter(numbers, np.int64)).tolist()
        return found

    def found(self, numbers: Numbers) -> Slots:
        """The slot of each number, -1 for one that the table does not hold."""
        if not len(self):
            return np.full(len(numbers), -1, np.int64)
        slots = np.minimum(np.searchsorted(self.numbers, numbers), len(self) - 1)
        return np.where(self.numbers[slots] == numbers, slots, -1)

    def visible(self, beliefs: Sequence[str], readers: Sequence[str]) -> tuple[list[str], Slots]:
        """The slots of these beliefs that these readers may see, each with its belief; those of a belief ascend."""
        pairs = [(belief, slot) for belief in beliefs for slot in self._slots_of.get(belief, ())]
        slots = np.fromiter((slot for _, slot in pairs), np.int64, len(pairs))
        seen = self._allowed(readers)[self._audience[slots]]
        return [pair[0] for pair, may in zip(pairs, seen.tolist(), strict=True) if may], slots[seen]

    def mask(self, filter: IndexFilter) -> Mask:
        """Which slots the filter lets through, read-only: it is remembered until a row changes.

        The retrievers of one question ask with one filter, as do most questions of one reader.
        """
        mask = self._masks.get(filter)
        if mask is None:
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            mask = self._masks[filter] = self._mask(filter)
            mask.flags.writeable = False
        return mask

    def _mask(self, filter: IndexFilter) -> Mask:
        size = len(self)
        if filter.periods:
            within = np.zeros(size, np.bool_)
            for first, last in filter.periods:
                within |= (self._until[:size] >= first) & (self._since[:size] <= last)
            return within & self.mask(msgspec.structs.replace(filter, periods=()))
        if filter.occurred_from is not None or filter.occurred_to is not None:
            mask = self.mask(msgspec.structs.replace(filter, occurred_from=None, occurred_to=None)).copy()
            if filter.occurred_from is not None:
                mask &= self._until[:size] >= filter.occurred_from
            if filter.occurred_to is not None:
                mask &= self._since[:size] <= filter.occurred_to
            return mask
        mask = self._allowed(filter.readers)[self._audience[:size]]
        mask &= self._alive[:size]
        if filter.statuses:
            wanted = np.array([status in filter.statuses for status in _STATUSES])
            mask &= wanted[self._status[:size]] | self._checked[:size]
        if filter.networks:
            mask &= np.array([network in filter.networks for network in _NETWORKS])[self._network[:size]]
        if filter.entities:
            mask &= self._about(filter.entities)
        return mask

    def overlap(self, mask: Mask, start: Instant, end: Instant) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The slots of a mask whose span overlaps [start, end], and the middle of each span."""
        size = len(mask)
        slots = np.flatnonzero(mask & (self._since[:size] <= end) & (self._until[:size] >= start))
        return slots, (self._since[slots] / 2.0 + self._until[slots] / 2.0)

    def _allowed(self, readers: Sequence[str]) -> Mask:
        """For each distinct set of readers, whether any of `readers` is in it."""
        wanted = set(readers)
        return np.array([not wanted.isdisjoint(tokens) for tokens in self._audiences] or [False])

    def _about(self, entities: Sequence[str]) -> Mask:
        mask = np.zeros(len(self), np.bool_)
        for entity in entities:
            slots = self._mentions.get(entity, ())
            mask[np.fromiter(slots, np.int64, len(slots))] = True
        return mask

    def _mention(self, slot: int, entities: Sequence[str]) -> None:
        mentioned = tuple(sorted(set(entities))) if entities else ()
        if mentioned == self._entities[slot]:
            return
        for entity in self._entities[slot]:
            slots = self._mentions[entity]
            slots.discard(slot)
            if not slots:
                del self._mentions[entity]
        for entity in mentioned:
            self._mentions.setdefault(entity, set()).add(slot)
        self._entities[slot] = mentioned

    def _grow(self, least: int) -> None:
        """Larger arrays under the same names; whoever holds a slice of an old one keeps a true copy."""
        size = max(_FIRST_SIZE, least, 2 * len(self._number))
        self._number = resized(self._number, size)
        self._audience = resized(self._audience, size)
        self._status = resized(self._status, size)
        self._network = resized(self._network, size)
        self._checked = resized(self._checked, size)
        self._alive = resized(self._alive, size)
        self._since = resized(self._since, size)
        self._until = resized(self._until, size)


def span_of(row: IndexRow) -> tuple[Instant, Instant]:
    """When a row's content occurred; a missing end is the other end, and without both it is `at`."""
    start, end = row.occurred_start, row.occurred_end
    if start is None:
        start = row.at if end is None else end
    if end is None:
        end = start
    return min(start, end), max(start, end)


def resized(column: NDArray[Column], size: int) -> NDArray[Column]:
    """A larger copy of a column; what is new in it is not set."""
    larger = np.empty((size, *column.shape[1:]), column.dtype)
    larger[: len(column)] = column
    return larger
