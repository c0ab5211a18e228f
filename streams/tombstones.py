"""What was forgotten on request, as the log keeps it: never a word of it, and how far each space has come with it."""

from collections.abc import Collection, Iterator, Sequence

from schemas.identity import digest
from schemas.instant import Instant
from schemas.tombstone import Tombstone
from schemas.wire import pack, unpack
from stores.ports import Entry, Log
from streams.topics import TOMBSTONES, Topics

_AT_ONCE = 1_000
_PAGE = 100


class Tombstones:
    """The topic `tombstones`; a space's committed offset there says which of them have had all of their effect."""

    def __init__(self, log: Log, topics: Topics) -> None:
        self._log = log
        self._topic = topics.name(TOMBSTONES)
        self._group = f"{topics.group}-{TOMBSTONES}"

    def add(self, bank: str, graves: Collection[str], at: Instant) -> None:
        """Set tombstones, durable on return; nothing that lies under one comes back."""
        ordered = sorted(graves)
        parts = [tuple(ordered[start : start + _AT_ONCE]) for start in range(0, len(ordered), _AT_ONCE)]
        stones = [Tombstone(bank=bank, graves=part, at=at) for part in parts]
        self._log.append(self._topic, [Entry(bank, pack(stone, digest(*stone.graves))) for stone in stones], at)

    def all(self) -> Iterator[Tombstone]:
        """Every tombstone, oldest first."""
        return self._from(0)

    def unfinished(self) -> list[Tombstone]:
        """Those of which the space has yet to see everything forgotten; several where it is new."""
        reached = self._log.committed(self._group, self._topic).get(0, 0)
        return list(self._from(reached)) if reached < self.end() else []

    def finish(self, upto: int) -> None:
        """Note that all below an offset have had their effect in this space."""
        self._log.commit(self._group, self._topic, {0: upto})

    def end(self) -> int:
        """The offset that the next tombstone gets."""
        return self._log.ends(self._topic).get(0, 0)

    def _from(self, offset: int) -> Iterator[Tombstone]:
        end = self.end()
        while offset < end and (records := self._log.read(self._topic, 0, offset, _PAGE)):
            yield from (unpack(record.value, Tombstone) for record in records)
            offset = records[-1].offset + 1


def graves_of(stones: Sequence[Tombstone]) -> dict[str, set[str]]:
    """The graves of some tombstones by bank."""
    found: dict[str, set[str]] = {}
    for stone in stones:
        found.setdefault(stone.bank, set()).update(stone.graves)
    return found
