"""The slots that a shard decided last, kept in memory within a bound of bytes."""

from actors.dependents import SlotKey
from schemas.evidence import Evidence
from schemas.slot import StoredSlot

SHARD_CACHE_MB = 256
"""What each shard keeps, unless told otherwise."""
_PIECE_BYTES = 2_500
"""What a piece of evidence takes beside its words, with its share of the slot; measured 3.4 kB with all of it."""


class KeptSlots:
    """Slots by key, the one used longest ago gone first where all of them take more than `most_bytes`; 0 keeps none."""

    def __init__(self, most_bytes: int) -> None:
        self.bytes = 0
        self._most_bytes = most_bytes
        self._slots: dict[SlotKey, tuple[StoredSlot, int]] = {}

    def get(self, key: SlotKey) -> StoredSlot | None:
        """The slot, if it is kept."""
        found = self._slots.get(key)
        return None if found is None else found[0]

    def keep(self, key: SlotKey, stored: StoredSlot) -> None:
        """Keep a slot as the most recently used, unless it has no evidence or alone takes more than all may."""
        self.drop(key)
        size = sum(map(_bytes_of, stored.evidence))
        if not 0 < size <= self._most_bytes:
            return
        self._slots[key] = (stored, size)
        self.bytes += size
        while self.bytes > self._most_bytes:
            self.drop(next(iter(self._slots)))

    def drop(self, key: SlotKey) -> None:
        """Let a slot go."""
        found = self._slots.pop(key, None)
        if found is not None:
            self.bytes -= found[1]

    def drop_bank(self, bank: str) -> None:
        """Let all slots of a bank go."""
        for key in [key for key in self._slots if key[0] == bank]:
            self.drop(key)


def _bytes_of(piece: Evidence) -> int:
    words = len(piece.value) if isinstance(piece.value, str) else 0
    return _PIECE_BYTES + len(piece.statement) + words
