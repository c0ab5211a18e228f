"""What conclusions rest on, read layer by layer: which of their premises are not held (design 3.7)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from beliefs.access import public
from beliefs.counting import NONE_FALLEN, NOT_HELD, Fallen
from beliefs.premises import MAX_DEEP, Beneath, fallen_premises
from beliefs.sameness import leads_of, several_slots
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import StoredSlot
from stores.ports import GraphStore

LoadSlots = Callable[[Sequence[str]], Mapping[str, StoredSlot]]
LookedAt = Callable[[Sequence[Evidence]], Sequence[Evidence]]
"""What of a premise's evidence is looked at."""

_SLOTS_AT_ONCE = 500


class Foundations:
    """Judges the premises of a bank's conclusions; reads each slot beneath them once. For one thread."""

    def __init__(
        self, graph: GraphStore, bank: str, policy: Policy, moment: Instant, load: LoadSlots, looked_at: LookedAt
    ) -> None:
        self._graph = graph
        self._bank = bank
        self._policy = policy
        self._moment = moment
        self._load = load
        self._looked_at = looked_at
        self._evidence: dict[str, Sequence[Evidence]] = {}
        self._homes: dict[str, tuple[str, str]] = {}
        self._leads: dict[str, Mapping[str, str]] = {}
        self._asked: set[str] = set()
        self._fallen: Fallen | None = None

    def fallen(self, slots: Mapping[str, Sequence[Evidence]]) -> Fallen:
        """The premises of this evidence (by slot), and of all beneath it, that are not held at the moment.

        Evidence given here goes before what the graph has of the same slot. What lies beneath what was asked before is
        not judged anew.
        """
        if not any(piece.premises for pieces in slots.values() for piece in pieces):
            return NONE_FALLEN
        beneath = self.beneath(slots)
        if self._fallen is None:
            self._fallen = self._judged(beneath, self._moment)
        return self._fallen

    def beneath(self, slots: Mapping[str, Sequence[Evidence]]) -> Beneath:
        """Everything that these slots rest on, themselves included."""
        given = {id: self._looked_at(pieces) for id, pieces in slots.items() if pieces}
        asked = self._new(slots.values())
        if asked or any(self._evidence.get(id) != pieces for id, pieces in given.items()):
            self._fallen = None
        self._evidence.update(given)
        for _ in range(MAX_DEEP + 1):
            if not asked:
                break
            asked = self._new(self._layer(sorted(asked)))
        return Beneath(self._evidence, self._homes)

    def over_time(self, slot: str, evidence: Sequence[Evidence]) -> tuple[Callable[[Instant], Fallen], set[Instant]]:
        """For a slot's history: which premises were not held at a time, and when any of them may have moved.

        At a time before the moment only the evidence of then is looked at.
        """
        if not any(piece.premises for piece in evidence):
            return (lambda _: NONE_FALLEN), set()
        beneath = self.beneath({slot: evidence})
        below = [piece for id, pieces in beneath.evidence.items() if id != slot for piece in pieces]
        ends = {piece.valid_until for piece in below if piece.valid_until is not None}

        def fallen_at(at: Instant) -> Fallen:
            return self._judged(beneath if at == self._moment else _until(beneath, at), at)

        return fallen_at, {piece.effective_at for piece in below} | ends

    def _judged(self, beneath: Beneath, at: Instant) -> Fallen:
        unknown = dict.fromkeys(sorted(self._asked - self._homes.keys()), NOT_HELD)
        return unknown | fallen_premises(beneath, self._policy, at)

    def _new(self, pieces: Iterable[Sequence[Evidence]]) -> set[str]:
        """The premises of this evidence that were not looked for yet."""
        found = {premise for some in pieces for piece in some for premise in piece.premises} - self._asked
        self._asked |= found
        return found

    def _layer(self, premises: Sequence[str]) -> list[Sequence[Evidence]]:
        """Find where premises live, and read the slots that are not here yet; what they hold."""
        beliefs = self._graph.beliefs(self._bank, premises)
        wanted = sorted({belief.slot for belief in beliefs.values()} - self._evidence.keys())
        read: dict[str, Sequence[Evidence]] = {}
        for at in range(0, len(wanted), _SLOTS_AT_ONCE):
            stored = self._load(wanted[at : at + _SLOTS_AT_ONCE])
            read |= {id: self._looked_at(slot.evidence) for id, slot in stored.items()}
        self._evidence |= read
        for premise, belief in beliefs.items():
            if self._evidence.get(belief.slot):
                self._homes[premise] = (belief.slot, self._leads_in(belief.slot).get(belief.id, belief.id))
        return list(read.values())

    def _leads_in(self, slot: str) -> Mapping[str, str]:
        """Under which ids beliefs stand in a slot that several entities, being one, share."""
        if slot not in self._leads:
            pieces = self._evidence[slot]
            self._leads[slot] = leads_of(pieces, self._policy, self._moment) if several_slots(pieces) else {}
        return self._leads[slot]


def apart(graph: GraphStore, bank: str, policy: Policy, moment: Instant) -> Foundations:
    """Foundations as what is stored goes by them: each entity apart, premises by what the whole bank may see.

    A premise of which it may see nothing is judged by all its evidence: who published the conclusion vouched for it.
    """
    return Foundations(graph, bank, policy, moment, partial(graph.load_slots, bank), _shared)


def _shared(evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    return public(evidence) or evidence


def _until(beneath: Beneath, at: Instant) -> Beneath:
    evidence = {
        slot: [piece for piece in pieces if piece.effective_at <= at] for slot, pieces in beneath.evidence.items()
    }
    return Beneath(evidence, beneath.homes)
