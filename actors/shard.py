"""The single writer of a share of the entities: evidence in, decisions written, changes out."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import structlog

from actors.kept import SHARD_CACHE_MB, KeptSlots
from beliefs.amend import amend
from beliefs.counting import NONE_FALLEN, Fallen
from beliefs.premises import fallen_among
from beliefs.revise import Revision, revise
from recall.foundations import apart
from schemas.errors import VersionConflict
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import Amendment, Change, StoredSlot
from schemas.tombstone import grave
from stores.ports import GraphStore
from stores.tracing.events import INFO, wanted

_ATTEMPTS = 8
_MEGABYTE = 1_048_576

SlotKey = tuple[str, str]
_Decide = Callable[[SlotKey, StoredSlot | None, Policy, Fallen], Revision | None]
"""Decides a slot from what is stored and from those of its premises that are not held."""


log_events = structlog.get_logger("actors")


class EntityShard:
    """Decides slots from their evidence and writes them by version.

    Recently used slots are kept, in at most `cache_mb` of memory; another writer is noticed by the version check, and
    then the slot is read again and decided again. Everything here may run twice with the same effect as once. `counts`
    tells of slots found kept and not, and of writes that met another writer.
    """

    def __init__(self, graph: GraphStore, cache_mb: int = SHARD_CACHE_MB) -> None:
        self._most_bytes = cache_mb * _MEGABYTE
        self.counts = Counter({"version_conflicts": 0, "version_conflicts_given_up": 0})
        self._graph = graph
        self._kept = KeptSlots(self._most_bytes)
        self._policies: dict[str, Policy] = {}
        self._burials: dict[str, int] = {}

    def apply(self, evidence: Sequence[Evidence], now: Instant) -> list[Change]:
        """Write the evidence and what follows from it, durable on return; a change for each slot touched.

        What was forgotten on request is passed over. Raises VersionConflict when other writers kept winning,
        StoreUnavailable when the graph is out of reach; in either case the whole call may be repeated.
        """
        by_slot: dict[SlotKey, list[Evidence]] = {}
        for piece in self._without_buried(evidence):
            by_slot.setdefault((piece.bank, piece.slot), []).append(piece)
        return self._write(list(by_slot), lambda key, *known: _revised(by_slot[key], now, *known), now)

    def review(self, slots: Sequence[SlotKey], now: Instant) -> list[Change]:
        """Decide (bank, slot) pairs again because time, policy or a premise has moved; changes of those that moved.

        They may belong to another shard, which may have written them since; so they are read anew.
        """
        self.drop(slots)
        changes = self._write(list(slots), lambda _, *known: _revised((), now, *known), now)
        return [change for change in changes if change.beliefs]

    def amend(self, amendments: Sequence[Amendment], now: Instant) -> list[Change]:
        """Remove evidence from slots for good and add other, durable on return; at most one amendment a slot.

        To repeat it is harmless. Together the changes name the slots whose index rows hold words of what is gone.
        """
        asked = {(amendment.bank, amendment.slot): amendment for amendment in amendments}
        leaving: dict[str, list[Evidence]] = {}
        left: set[SlotKey] = set()

        def amended(key: SlotKey, stored: StoredSlot | None, policy: Policy, fallen: Fallen) -> Revision | None:
            amendment = asked[key]
            if amendment.version not in (None, stored.slot.version if stored else 0):
                return None
            return amend(
                stored,
                amendment.remove,
                amendment.add,
                policy,
                now,
                again=key in left,
                fallen=fallen,
                demote=amendment.demote,
            )

        self.drop(asked)
        for (bank, slot), stored in self._load(list(asked)).items():
            pieces = {piece.id: piece for piece in stored.evidence} if stored else {}
            missing = [id for id in asked[bank, slot].remove if id not in pieces]
            if missing and any(piece.slot == slot for piece in self._graph.evidence(bank, missing).values()):
                left.add((bank, slot))
            leaving.setdefault(bank, []).extend(pieces[id] for id in asked[bank, slot].remove if id in pieces)
        beside = {bank: self._beside(bank, pieces) for bank, pieces in leaving.items()}
        return _refreshing(self._write(list(asked), amended, now), beside)

    def kept(self, bank: str, slots: Iterable[str]) -> dict[str, StoredSlot]:
        """Those of a bank's slots that are kept, as they were written last; another writer is not noticed here."""
        found = {slot: self._kept.get((bank, slot)) for slot in slots}
        return {slot: stored for slot, stored in found.items() if stored is not None}

    def drop(self, keys: Iterable[SlotKey]) -> None:
        """Keep nothing of these slots in memory."""
        for key in keys:
            self._kept.drop(key)

    def drop_all(self) -> None:
        """Keep no slot in memory. From any thread: a call under way may still keep what it writes itself."""
        self._kept = KeptSlots(self._most_bytes)

    def _beside(self, bank: str, pieces: Sequence[Evidence]) -> set[str]:
        """The slots whose evidence stands directly beside these pieces in their sessions."""
        windows = self._graph.windows(bank, pieces, reach=1)
        return {other.slot for window in windows.values() for other in window}

    def _write(self, keys: Sequence[SlotKey], decide: _Decide, now: Instant) -> list[Change]:
        """Write slots, and again while a premise that they were decided by moved meanwhile; a change a write.

        What writes a premise looks for what rests on it afterwards; so of a premise and a conclusion that are written
        at the same time, one sees the other.
        """
        for bank in {bank for bank, _ in keys}:
            self._refresh_policy(bank)
            self._refresh_burials(bank)
        conclusions, changes = self._write_once(keys, decide, now)
        for _ in range(_ATTEMPTS):
            moved = self._moved_beneath(conclusions, now)
            if not moved:
                break
            again, further = self._write_once(moved, lambda _, *known: _revised((), now, *known), now)
            conclusions |= again
            changes += further
        return changes

    def _write_once(
        self, keys: Sequence[SlotKey], decide: _Decide, now: Instant
    ) -> tuple[dict[SlotKey, Fallen], list[Change]]:
        """Returns the slots of conclusions with the premises that counted as fallen, and every slot's change."""
        done: dict[SlotKey, Revision] = {}
        conclusions: dict[SlotKey, Fallen] = {}
        for attempt in range(1, _ATTEMPTS + 1):
            loaded = self._load([key for key in keys if key not in done])
            for key, stored in loaded.items():
                revision = decide(key, stored, self._policies[key[0]], NONE_FALLEN)
                if revision is not None:
                    done[key] = revision
            beneath = self._beneath(
                {key: done[key].stored.evidence for key in loaded if key in done and _concludes(done[key])}, now
            )
            for key, fallen in beneath.items():
                revision = decide(key, loaded[key], self._policies[key[0]], fallen) if fallen else None
                done[key] = revision or done[key]
            conclusions |= beneath
            try:
                self._graph.apply([revision.decision for revision in done.values() if revision.decision is not None])
                break
            except VersionConflict as conflict:
                self.counts["version_conflicts"] += 1
                if wanted(log_events, INFO):
                    banks = sorted({bank for bank, slot in done if slot in conflict.slots})
                    log_events.info("slot.version_conflict", banks=banks, slots=sorted(conflict.slots), attempt=attempt)
                if attempt == _ATTEMPTS:
                    self.counts["version_conflicts_given_up"] += 1
                    raise
                for key in [key for key in done if key[1] in conflict.slots]:
                    del done[key]
                    self._kept.drop(key)
        for key, revision in done.items():
            self._kept.keep(key, revision.stored)
        return conclusions, [revision.change for revision in done.values()]

    def _beneath(self, conclusions: Mapping[SlotKey, Sequence[Evidence]], now: Instant) -> dict[SlotKey, Fallen]:
        """For each slot with conclusions, those of its premises that are not held (design 3.7)."""
        by_bank: dict[str, dict[str, Sequence[Evidence]]] = {}
        for (bank, slot), pieces in conclusions.items():
            by_bank.setdefault(bank, {})[slot] = pieces
        found: dict[SlotKey, Fallen] = {}
        for bank, slots in by_bank.items():
            fallen = apart(self._graph, bank, self._policies[bank], now).fallen(slots)
            found |= {(bank, slot): fallen_among(fallen, pieces) for slot, pieces in slots.items()}
        return found

    def _moved_beneath(self, conclusions: Mapping[SlotKey, Fallen], now: Instant) -> list[SlotKey]:
        """Those of these slots whose premises are not any more what they were when the slot was decided."""
        if not conclusions:
            return []
        loaded = self._load(list(conclusions))
        current = self._beneath({key: stored.evidence for key, stored in loaded.items() if stored is not None}, now)
        return [key for key, fallen in current.items() if fallen != conclusions[key]]

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
            self._kept.drop_bank(bank)
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
        absent = sum(map(len, missing.values()))
        self.counts.update({"cache.slots.miss": absent, "cache.slots.hit": len(found) - absent})
        for bank, slots in missing.items():
            found.update({(bank, slot): stored for slot, stored in self._graph.load_slots(bank, slots).items()})
        return found


def _revised(
    incoming: Sequence[Evidence], now: Instant, stored: StoredSlot | None, policy: Policy, fallen: Fallen
) -> Revision | None:
    return revise(stored, incoming, policy, now, fallen) if stored is not None or incoming else None


def _concludes(revision: Revision) -> bool:
    return [piece for piece in revision.stored.evidence if piece.premises] != []


def _refreshing(changes: Sequence[Change], beside: Mapping[str, set[str]]) -> list[Change]:
    """The changes with more slots to be indexed again, shared out among those of their bank."""
    done: list[Change] = []
    for bank, slots in beside.items():
        mine = [change for change in changes if change.bank == bank]
        named = {slot for change in mine for slot in (change.slot, *change.refresh)}
        more = sorted(slots - named)
        for place, change in enumerate(mine):
            refresh = tuple(sorted((*change.refresh, *more[place :: len(mine)])))
            done.append(msgspec.structs.replace(change, refresh=refresh))
    return done
