"""Which premises are held: the least fixpoint over the derivations beneath, so that a cycle supports nothing (3.7)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from beliefs.counting import NOT_HELD, OUTDATED, Fallen
from beliefs.resolve import resolve
from schemas.belief import LIVE
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import Slot

MAX_DEEP = 1_000
"""What rests on a longer chain of derivations does not count."""

MAX_CYCLE = 100
"""Of a cycle through more slots than this no derivation counts, whatever else supports its beliefs."""


class Beneath(msgspec.Struct, frozen=True):
    """Everything that some slots rest on: evidence by slot, and for each known premise (slot, the belief's id now).

    It is closed: the known premises of every piece live in slots that are here too.
    """

    evidence: Mapping[str, Sequence[Evidence]]
    homes: Mapping[str, tuple[str, str]]


def fallen_premises(beneath: Beneath, policy: Policy, now: Instant) -> dict[str, str]:
    """The premises among this evidence that are not held at `now`, with the note for what rests on them.

    Slots are judged after those that they rest on, each once. Slots that rest on each other are judged again and
    again from the state in which none of them holds anything, until nothing changes. A belief that was held on the way
    and is no longer (a conclusion that speaks against its own premise) is held to be fallen, and they begin anew
    without it: so what counts in the end rests on nothing but what is held in the end. What comes out for a slot
    depends on nothing but what it rests on.
    """
    judge = _Judge(beneath, policy, now)
    for slots in _in_order(judge.needs):
        judge.settle(slots)
    return judge.fallen


def fallen_among(fallen: Fallen, evidence: Iterable[Evidence]) -> Fallen:
    """Those of these fallen premises that the evidence rests on."""
    premises = dict.fromkeys(premise for piece in evidence for premise in piece.premises)
    return {premise: fallen[premise] for premise in premises if premise in fallen}


def premises_of(slot: Slot, belief: str) -> list[str]:
    """What one belief of a slot rests on, held or not."""
    return [edge.dst for edge in slot.edges if edge.type == "derived_from" and edge.src == belief]


class _Judge:
    def __init__(self, beneath: Beneath, policy: Policy, now: Instant) -> None:
        self._evidence = beneath.evidence
        self._policy = policy
        self._now = now
        self.needs: dict[str, list[str]] = {}
        self._rests_on: dict[str, tuple[str, ...]] = {}
        self._bears: dict[str, dict[str, str]] = {}
        self._depth: dict[str, int] = {}
        self.fallen: dict[str, str] = {}
        for premise, (slot, belief) in beneath.homes.items():
            self._bears.setdefault(slot, {})[premise] = belief
        for slot in sorted(beneath.evidence):
            premises = dict.fromkeys(premise for piece in beneath.evidence[slot] for premise in piece.premises)
            self._rests_on[slot] = tuple(premises)
            self.needs[slot] = sorted({beneath.homes[premise][0] for premise in premises if premise in beneath.homes})
            self.fallen.update((premise, NOT_HELD) for premise in premises if premise not in beneath.homes)

    def settle(self, slots: Sequence[str]) -> None:
        """Judge slots that rest on each other (or one that does not), given that all beneath them is settled."""
        inside = set(slots)
        depth = max((self._depth[need] for slot in slots for need in self.needs[slot] if need not in inside), default=0)
        cyclic = len(slots) > 1 or slots[0] in self.needs[slots[0]]
        derived = cyclic or bool(self.needs[slots[0]])
        for slot in slots:
            self._depth[slot] = depth + derived
        premises = [premise for slot in slots for premise in self._bears.get(slot, ())]
        if depth + derived > MAX_DEEP:
            self.fallen.update(dict.fromkeys(premises, NOT_HELD))
            return
        if cyclic:
            self.fallen.update(dict.fromkeys(premises, NOT_HELD))
            if len(slots) <= MAX_CYCLE:
                self._climb(slots)
            return
        if premises:
            self.fallen.update(self._states(slots[0], self.fallen))

    def _climb(self, slots: Sequence[str]) -> None:
        """Find what slots of one cycle hold, from nothing; what falls on the way never counts as a premise."""
        known: dict[tuple[str, tuple[str, ...]], dict[str, str]] = {}
        inner = {premise for slot in slots for premise in self._bears.get(slot, ())}
        beneath = {premise: note for premise, note in self.fallen.items() if premise not in inner}
        held: set[str] = set()
        never: set[str] = set()
        while True:
            fallen = beneath | dict.fromkeys(inner - held, NOT_HELD)
            down: dict[str, str] = {}
            for slot in slots:
                key = (slot, tuple(premise for premise in self._rests_on[slot] if premise in held))
                if key not in known:
                    known[key] = self._states(slot, fallen)
                down |= known[key]
            now_held = inner - down.keys() - never
            if now_held == held:
                for premise in held:
                    del self.fallen[premise]
                self.fallen.update(down)
                return
            lost = held - now_held
            never |= lost
            held = set() if lost else now_held

    def _states(self, slot: str, fallen: Fallen) -> dict[str, str]:
        """Those premises in a slot that are not held, given what it rests on."""
        evidence = self._evidence[slot]
        beliefs = resolve(evidence, self._policy, self._now, fallen).beliefs if evidence else ()
        status = {belief.id: belief.status for belief in beliefs}
        return {
            premise: OUTDATED if status.get(belief) == "stale" else NOT_HELD
            for premise, belief in self._bears.get(slot, {}).items()
            if status.get(belief) not in LIVE
        }


def _in_order(needs: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Groups of slots that rest on each other, each after all that it rests on (Tarjan, 1972), without recursion."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_slots: list[str] = []
    is_open: set[str] = set()
    for root in needs:
        path = [(root, iter(needs[root]))] if root not in number else []
        while path:
            slot, rest = path[-1]
            if slot not in number:
                number[slot] = lowest[slot] = len(number)
                open_slots.append(slot)
                is_open.add(slot)
            need = next((one for one in rest if one not in number or one in is_open), None)
            if need is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[slot])
                if lowest[slot] == number[slot]:
                    group = [open_slots.pop()]
                    while group[-1] != slot:
                        group.append(open_slots.pop())
                    is_open.difference_update(group)
                    yield sorted(group)
            elif need in number:
                lowest[slot] = min(lowest[slot], number[need])
            else:
                path.append((need, iter(needs[need])))
