"""Slots as one principal may see them at one moment, resolved again from what they may see (design 3.10)."""

from collections.abc import Iterable, Sequence

import msgspec

from beliefs.access import visible
from beliefs.resolve import resolve
from beliefs.sameness import leads_of, several_slots
from recall.identity import NOTHING_SUPPOSED, Identity, Supposed
from schemas.belief import LIVE
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.query import Principal
from schemas.slot import Slot
from stores.ports import GraphStore

_MAX_PREMISES_DEEP = 16
"""Chains of derivations longer than this are not followed; what rests on them does not count."""


class SeenSlot(msgspec.Struct, frozen=True):
    """A slot with the evidence behind it, both as seen by one principal."""

    slot: Slot
    evidence: tuple[Evidence, ...]
    leads: dict[str, str] = {}

    def now(self, belief: str) -> str:
        """The id under which a stored belief stands here: another where the slots of several entities are joined."""
        return self.leads.get(belief, belief)


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """Who looks, at which moment; `as_of` and `known_at` leave out what took effect, or came in, later."""

    bank: str
    principal: Principal
    moment: Instant
    as_of: Instant | None = None
    known_at: Instant | None = None


class Seen:
    """The slots of a bank in one principal's sight; each is loaded and resolved once. For one thread."""

    def __init__(self, graph: GraphStore, policy: Policy, sight: Sight, supposed: Supposed = NOTHING_SUPPOSED) -> None:
        self.graph = graph
        self.policy = policy
        self.sight = sight
        self.identity = Identity(graph, sight.bank, policy, sight.moment, self.allowed, supposed)
        self._slots: dict[str, SeenSlot | None] = {}
        self._held: dict[str, bool] = {}

    def slots(self, ids: Iterable[str]) -> dict[str, SeenSlot]:
        """Those of the slots in which the principal may see anything."""
        wanted = list(dict.fromkeys(ids))
        missing = [id for id in wanted if id not in self._slots]
        if missing:
            self._load(missing)
        return {id: seen for id in wanted if (seen := self._slots.get(id)) is not None}

    def allowed(self, evidence: Iterable[Evidence]) -> list[Evidence]:
        """The evidence that may be seen and was there by the times asked about."""
        pieces = visible(evidence, self.sight.principal)
        as_of, known_at = self.sight.as_of, self.sight.known_at
        if as_of is not None:
            pieces = [piece for piece in pieces if piece.effective_at <= as_of]
        if known_at is not None:
            pieces = [piece for piece in pieces if piece.ingested_at <= known_at]
        return pieces

    def _load(self, ids: Sequence[str]) -> None:
        stored = self.identity.slots(ids)
        pieces = {id: self.allowed(stored[id].evidence) if id in stored else [] for id in ids}
        derived = {id for id, seen in pieces.items() if any(piece.premises for piece in seen)}
        if derived:
            self._check([premise for id in derived for piece in pieces[id] for premise in piece.premises])
        for id, seen in pieces.items():
            standing = self._standing(seen) if id in derived else seen
            resolved = self._resolved(standing)
            self._slots[id] = _versioned(resolved, stored[id].slot) if resolved is not None else None

    def _resolved(self, evidence: Sequence[Evidence]) -> SeenSlot | None:
        if not evidence:
            return None
        moment = self.sight.moment
        leads = leads_of(evidence, self.policy, moment) if several_slots(evidence) else {}
        return SeenSlot(resolve(evidence, self.policy, moment), tuple(evidence), leads)

    def _standing(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        return [piece for piece in evidence if all(self._held.get(premise, False) for premise in piece.premises)]

    def _check(self, premises: Sequence[str]) -> None:
        """Find out which beliefs are held, given that none is at first (design 3.7).

        A belief that rests only on itself is thereby never held. Premises that the principal may not see are
        judged by the whole bank's evidence: who published the conclusion vouched for them.
        """
        met: dict[str, tuple[str, list[Evidence]]] = {}
        asked = {premise for premise in premises if premise not in self._held}
        for _ in range(_MAX_PREMISES_DEEP):
            if not asked:
                break
            self._held.update(dict.fromkeys(asked, False))
            layer = self._premise_evidence(sorted(asked))
            met = layer | met
            asked = {
                p for _, pieces in layer.values() for piece in pieces for p in piece.premises if p not in self._held
            }
        for _ in range(_MAX_PREMISES_DEEP):
            held = {premise: self._holds(id, pieces) for premise, (id, pieces) in met.items()}
            if all(self._held[premise] == state for premise, state in held.items()):
                break
            self._held.update(held)

    def _premise_evidence(self, premises: Sequence[str]) -> dict[str, tuple[str, list[Evidence]]]:
        """For each premise that exists: the id that it has now, and the evidence of its slot."""
        bank = self.sight.bank
        beliefs = self.graph.beliefs(bank, premises)
        stored = self.identity.slots(sorted({belief.slot for belief in beliefs.values()}))
        found = {}
        for premise, belief in beliefs.items():
            if belief.slot in stored:
                evidence = stored[belief.slot].evidence
                found[premise] = (belief.id, self.allowed(evidence) or list(evidence))
        return found

    def _holds(self, belief: str, pieces: Sequence[Evidence]) -> bool:
        seen = self._resolved(self._standing(pieces))
        if seen is None:
            return False
        now = seen.now(belief)
        return any(other.id == now and other.status in LIVE for other in seen.slot.beliefs)


def _versioned(seen: SeenSlot, held: Slot) -> SeenSlot:
    """The slot as seen, its beliefs at the versions that the store holds them at."""
    versions: dict[str, int] = {}
    for belief in held.beliefs:
        id = seen.now(belief.id)
        versions[id] = versions.get(id, 0) + belief.version
    beliefs = tuple(
        msgspec.structs.replace(belief, version=versions.get(belief.id, held.version)) for belief in seen.slot.beliefs
    )
    return SeenSlot(
        msgspec.structs.replace(seen.slot, beliefs=beliefs, version=held.version), seen.evidence, seen.leads
    )
