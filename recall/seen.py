"""Slots as one principal may see them at one moment, resolved again from what they may see (design 3.10)."""

from collections.abc import Iterable, Sequence

import msgspec

from beliefs.access import visible
from beliefs.counting import NONE_FALLEN, Fallen
from beliefs.premises import fallen_among
from beliefs.resolve import resolve
from beliefs.rulebook import rulebook
from beliefs.sameness import leads_of, several_slots
from recall.foundations import Foundations
from recall.identity import NOTHING_SUPPOSED, Identity, Supposed
from schemas.entity import entity_id
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.query import Principal
from schemas.slot import Slot
from stores.ports import GraphStore


class SeenSlot(msgspec.Struct, frozen=True):
    """A slot with the evidence behind it, both as seen by one principal, and those of its premises that are fallen.

    Without evidence it is a glimpse of the slot.
    """

    slot: Slot
    evidence: tuple[Evidence, ...]
    leads: dict[str, str] = {}
    fallen: Fallen = NONE_FALLEN

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

    def allowed(self, evidence: Iterable[Evidence]) -> list[Evidence]:
        """The evidence that may be seen and was there by the times asked about."""
        return visible(self._by_then(evidence), self.principal)

    def vouched(self, evidence: Iterable[Evidence]) -> list[Evidence]:
        """The evidence by which a premise is judged: what may be seen, or, where that is nothing, all that was there.

        Who published the conclusion vouched for premises that its readers may not see.
        """
        pieces = self._by_then(evidence)
        return visible(pieces, self.principal) or pieces

    def _by_then(self, evidence: Iterable[Evidence]) -> list[Evidence]:
        pieces = list(evidence)
        if self.as_of is not None:
            pieces = [piece for piece in pieces if piece.effective_at <= self.as_of]
        if self.known_at is not None:
            pieces = [piece for piece in pieces if piece.ingested_at <= self.known_at]
        return pieces


class Seen:
    """The slots of a bank in one principal's sight; each is loaded and resolved once. For one thread.

    Nothing that it holds refers to it, so all of it goes as soon as its answer is told.
    """

    def __init__(self, graph: GraphStore, policy: Policy, sight: Sight, supposed: Supposed = NOTHING_SUPPOSED) -> None:
        self.graph = graph
        self.policy = policy
        self.sight = sight
        self.identity = Identity(graph, sight.bank, policy, sight.moment, sight.allowed, supposed)
        self._slots: dict[str, SeenSlot | None] = {}
        self._glimpsed: dict[str, SeenSlot] = {}
        self._beneath = self.foundations()

    def slots(self, ids: Iterable[str]) -> dict[str, SeenSlot]:
        """Those of the slots in which the principal may see anything."""
        wanted = list(dict.fromkeys(ids))
        missing = [id for id in wanted if id not in self._slots]
        if missing:
            self._load(missing)
        return {id: seen for id in wanted if (seen := self._slots.get(id)) is not None}

    def glimpses(self, ids: Iterable[str]) -> dict[str, SeenSlot]:
        """As `slots`, but what everybody sees as it is stored comes as stored, unresolved and without its evidence.

        So most slots of a long list cost little; whoever is to tell of one asks for it by `slots`.
        """
        wanted = list(dict.fromkeys(ids))
        self._glimpse([id for id in wanted if id not in self._slots and id not in self._glimpsed])
        return {id: self._glimpsed[id] for id in wanted if id in self._glimpsed} | self.slots(
            id for id in wanted if id not in self._glimpsed
        )

    def _glimpse(self, ids: Sequence[str]) -> None:
        stored = self.graph.slots(self.sight.bank, ids) if ids else {}
        self._glimpsed |= {id: SeenSlot(slot, ()) for id, slot in self._standing(stored.items()).items()}

    def _standing(self, stored: Iterable[tuple[str, Slot]]) -> dict[str, Slot]:
        """Those of these slots that are to everybody, at the moment, what they were decided to be."""
        if self.sight.as_of is not None or self.sight.known_at is not None:
            return {}
        rules = rulebook(self.policy).name
        found = {id: slot for id, slot in stored if _stands(slot, rules, self.sight.moment)}
        owners = {id: entity_id(self.sight.bank, slot.entity) for id, slot in found.items()}
        groups = self.identity.groups(dict.fromkeys(owners.values()))
        return {id: slot for id, slot in found.items() if owners[id] not in groups}

    def _load(self, ids: Sequence[str]) -> None:
        stored = self.identity.slots(ids)
        standing = self._standing((id, one.slot) for id, one in stored.items())
        self._slots |= {id: SeenSlot(slot, stored[id].evidence) for id, slot in standing.items()}
        rest = [id for id in ids if id not in standing]
        pieces = {id: self.sight.allowed(stored[id].evidence) if id in stored else [] for id in rest}
        fallen = self._beneath.fallen(pieces)
        for id, seen in pieces.items():
            self._slots[id] = _versioned(self._resolved(seen, fallen), stored[id].slot) if seen else None

    def _resolved(self, evidence: Sequence[Evidence], fallen: Fallen) -> SeenSlot:
        moment = self.sight.moment
        own = fallen_among(fallen, evidence)
        leads = leads_of(evidence, self.policy, moment) if several_slots(evidence) else {}
        return SeenSlot(resolve(evidence, self.policy, moment, own), tuple(evidence), leads, own)

    def foundations(self) -> Foundations:
        """What conclusions rest on, by what the principal may see of it, as of the times asked about."""
        sight = self.sight
        return Foundations(self.graph, sight.bank, self.policy, sight.moment, self.identity.slots, sight.vouched)


def _stands(slot: Slot, rules: str, moment: Instant) -> bool:
    """Whether resolving a slot anew, from all its evidence, would give what is stored of it."""
    due = slot.resolved_at > moment or (slot.review_at is not None and slot.review_at <= moment)
    settled = slot.settled_by == rules and not due
    return settled and not slot.restricted and all(edge.type != "derived_from" for edge in slot.edges)


def _versioned(seen: SeenSlot, held: Slot) -> SeenSlot:
    """The slot as seen, its beliefs at the versions that the store holds them at."""
    versions: dict[str, int] = {}
    for belief in held.beliefs:
        id = seen.now(belief.id)
        versions[id] = versions.get(id, 0) + belief.version
    beliefs = tuple(
        msgspec.structs.replace(belief, version=versions.get(belief.id, held.version)) for belief in seen.slot.beliefs
    )
    slot = msgspec.structs.replace(seen.slot, beliefs=beliefs, version=held.version)
    return msgspec.structs.replace(seen, slot=slot)
