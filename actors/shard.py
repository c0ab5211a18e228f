"""The single writer of a share of the entities: evidence in, decisions written, changes out."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from beliefs.amend import amend
from beliefs.revise import Revision, revise
from schemas.errors import VersionConflict
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import Amendment, Change, StoredSlot
from schemas.tombstone import grave
from stores.ports import GraphStore

_ATTEMPTS = 8
_CACHED_EVIDENCE = 100_000

SlotKey = tuple[str, str]
_Decide = Callable[[SlotKey, StoredSlot | None, Policy], Revision | None]


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
        self._burials: dict[str, int] = {}

    def apply(self, evidence: Sequence[Evidence], now: Instant) -> list[Change]:
        """Write the evidence and what follows from it, durable on return; one change a slot touched.

        What was forgotten on request is passed over. Raises VersionConflict when other writers kept winning,
        StoreUnavailable when the graph is out of reach; in either case the whole call may be repeated.
        """
        by_slot: dict[SlotKey, list[Evidence]] = {}
        for piece in self._without_buried(evidence):
            by_slot.setdefault((piece.bank, piece.slot), []).append(piece)
        return self._write(list(by_slot), lambda key, stored, policy: _revised(stored, by_slot[key], policy, now))

    def review(self, slots: Sequence[SlotKey], now: Instant) -> list[Change]:
        """Decide (bank, slot) pairs again because time or policy has moved; changes of those that did change."""
        changes = self._write(list(slots), lambda _, stored, policy: _revised(stored, (), policy, now))
        return [change for change in changes if change.beliefs]

    def amend(self, amendments: Sequence[Amendment], now: Instant) -> list[Change]:
        """Remove evidence from slots for good and add other, durable on return; at most one amendment a slot.

        To repeat it is harmless. Each change names the slots whose rows in the index hold words of what is gone.
        """
        asked = {(amendment.bank, amendment.slot): amendment for amendment in amendments}
        beside: dict[SlotKey, set[str]] = {}
        left: set[SlotKey] = set()

        def amended(key: SlotKey, stored: StoredSlot | None, policy: Policy) -> Revision | None:
            amendment = asked[key]
            return amend(stored, amendment.remove, amendment.add, policy, now, again=key in left)

        self.drop(asked)
        for (bank, slot), stored in self._load(list(asked)).items():
            pieces = {piece.id: piece for piece in stored.evidence} if stored else {}
            missing = [id for id in asked[bank, slot].remove if id not in pieces]
            if missing and any(piece.slot == slot for piece in self._graph.evidence(bank, missing).values()):
                left.add((bank, slot))
            beside[bank, slot] = self._beside(bank, [pieces[id] for id in asked[bank, slot].remove if id in pieces])
        changes = self._write(list(asked), amended)
        return [_refreshing(change, beside[change.bank, change.slot]) for change in changes]

    def drop(self, keys: Iterable[SlotKey]) -> None:
        """Keep nothing of these slots in memory."""
        for key in keys:
            self._drop(key)

    def _beside(self, bank: str, pieces: Sequence[Evidence]) -> set[str]:
        """The slots whose evidence stands directly beside these pieces in their sessions."""
        sessions: dict[str, list[Evidence]] = {}
        for piece in pieces:
            if piece.session:
                sessions.setdefault(piece.session, []).append(piece)
        return {
            other.slot
            for session, some in sessions.items()
            for other in self._graph.session(bank, session, some, reach=1)
        }

    def _write(self, keys: Sequence[SlotKey], decide: _Decide) -> list[Change]:
        for bank in {bank for bank, _ in keys}:
            self._refresh_policy(bank)
            self._refresh_burials(bank)
        done: dict[SlotKey, Revision] = {}
        for attempt in range(1, _ATTEMPTS + 1):
            for key, stored in self._load([key for key in keys if key not in done]).items():
                revision = decide(key, stored, self._policies[key[0]])
                if revision is not None:
                    done[key] = revision
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

    def _without_buried(self, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
        """What may be heard; costs one look a bank and batch, and one more where the bank has ever forgotten."""
        buried: set[tuple[str, str]] = set()
        for bank in {piece.bank for piece in evidence}:
            if self._refresh_burials(bank):
                graves = {grave(bank, piece.observation_id) for piece in evidence if piece.bank == bank}
                buried.update((bank, each) for each in self._graph.buried(bank, sorted(graves)))
        if not buried:
            return evidence
        return [piece for piece in evidence if (piece.bank, grave(piece.bank, piece.observation_id)) not in buried]

    def _refresh_burials(self, bank: str) -> int:
        """Let the bank's slots go where somebody has forgotten since: a slot that was erased may begin anew."""
        burials = self._graph.burials(bank)
        if self._burials.setdefault(bank, burials) != burials:
            self._burials[bank] = burials
            self.drop([key for key in self._kept if key[0] == bank])
        return burials

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
        if not stored.evidence:
            return
        self._kept[key] = stored
        self._kept_evidence += len(stored.evidence)
        while self._kept_evidence > _CACHED_EVIDENCE and self._kept:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: SlotKey) -> None:
        stored = self._kept.pop(key, None)
        if stored is not None:
            self._kept_evidence -= len(stored.evidence)


def _revised(stored: StoredSlot | None, incoming: Sequence[Evidence], policy: Policy, now: Instant) -> Revision | None:
    return revise(stored, incoming, policy, now) if stored is not None or incoming else None


def _refreshing(change: Change, slots: set[str]) -> Change:
    """The change with more slots to be indexed again."""
    return msgspec.structs.replace(change, refresh=tuple(sorted(slots.union(change.refresh))))
