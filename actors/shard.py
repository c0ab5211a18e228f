"""The single writer of a share of the entities: evidence in, decisions written, changes out."""

from collections.abc import Sequence

from beliefs.revise import Revision, revise
from schemas.errors import VersionConflict
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import Change, StoredSlot
from stores.ports import GraphStore

_ATTEMPTS = 8
_CACHED_EVIDENCE = 100_000

SlotKey = tuple[str, str]


class EntityShard:
    """Decides slots from their evidence and writes them by version.

    Recently used slots are kept; another writer is noticed by the version check, and then the slot is read again and
    decided again. Everything here may run twice with the same effect as once.
    """

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._kept: dict[SlotKey, StoredSlot] = {}
        self._kept_evidence = 0
        self._policies: dict[str, Policy] = {}

    def apply(self, evidence: Sequence[Evidence], now: Instant) -> list[Change]:
        """Write the evidence and what follows from it, durable on return; one change a slot touched.

        Raises VersionConflict when other writers kept winning, StoreUnavailable when the graph is out of reach; in
        either case the whole call may be repeated.
        """
        by_slot: dict[SlotKey, list[Evidence]] = {}
        for piece in evidence:
            by_slot.setdefault((piece.bank, piece.slot), []).append(piece)
        return self._write(by_slot, now)

    def review(self, slots: Sequence[SlotKey], now: Instant) -> list[Change]:
        """Decide (bank, slot) pairs again because time or policy has moved; changes of those that did change."""
        return [change for change in self._write({key: [] for key in slots}, now) if change.beliefs]

    def _write(self, by_slot: dict[SlotKey, list[Evidence]], now: Instant) -> list[Change]:
        for bank in {bank for bank, _ in by_slot}:
            self._refresh_policy(bank)
        done: dict[SlotKey, Revision] = {}
        for attempt in range(1, _ATTEMPTS + 1):
            for key, stored in self._load([key for key in by_slot if key not in done]).items():
                if stored is not None or by_slot[key]:
                    done[key] = revise(stored, by_slot[key], self._policies[key[0]], now)
            try:
                self._graph.apply([revision.decision for revision in done.values() if revision.decision is not None])
                break
            except VersionConflict as conflict:
                if attempt == _ATTEMPTS:
                    raise
                for key in [key for key in done if key[1] in conflict.slots]:
                    del done[key]
                    self._drop(key)
        for key, revision in done.items():
            self._keep(key, revision.stored)
        return [revision.change for revision in done.values()]

    def _refresh_policy(self, bank: str) -> None:
        policy = self._graph.policy(bank)
        if self._policies.get(bank) != policy:
            self._policies[bank] = policy

    def _load(self, keys: Sequence[SlotKey]) -> dict[SlotKey, StoredSlot | None]:
        found: dict[SlotKey, StoredSlot | None] = {key: self._kept.get(key) for key in keys}
        missing: dict[str, list[str]] = {}
        for (bank, slot), stored in found.items():
            if stored is None:
                missing.setdefault(bank, []).append(slot)
        for bank, slots in missing.items():
            found.update({(bank, slot): stored for slot, stored in self._graph.load_slots(bank, slots).items()})
        return found

    def _keep(self, key: SlotKey, stored: StoredSlot) -> None:
        """Keep a slot as the most recently used, and drop the oldest while too much evidence is held."""
        self._drop(key)
        self._kept[key] = stored
        self._kept_evidence += len(stored.evidence)
        while self._kept_evidence > _CACHED_EVIDENCE and self._kept:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: SlotKey) -> None:
        stored = self._kept.pop(key, None)
        if stored is not None:
            self._kept_evidence -= len(stored.evidence)
