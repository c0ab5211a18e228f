"""The chain of a conclusion: the beliefs that it was concluded from, what they rest on, and so on, within a bound."""

from collections.abc import Iterable

from beliefs.premises import premises_of
from recall.seen import Seen, SeenSlot
from schemas.answer import Premise
from schemas.belief import Belief

EXPLAINED = 50
"""How many premises an explanation lists."""

FOUND = 6
"""How many premises an answer lists of each belief."""


def chain(seen: Seen, slot: SeenSlot, belief: str, limit: int) -> tuple[Premise, ...]:
    """The premises beneath a belief, nearest first, each once, at most `limit`; read a layer at a time."""
    told: dict[str, Premise] = {}
    layer = [(belief, slot)]
    depth = 0
    while layer and len(told) < limit:
        depth += 1
        asked: dict[str, tuple[str, bool]] = {}
        for id, place in layer:
            for premise in premises_of(place.slot, id):
                if premise not in told and premise != belief:
                    asked.setdefault(premise, (id, premise not in place.fallen))
        known = _looked_up(seen, list(asked)[: limit - len(told)])
        for premise, (of, held) in list(asked.items())[: limit - len(told)]:
            found = known.get(premise)
            told[premise] = Premise(
                id=premise,
                of=of,
                depth=depth,
                held=held,
                status=found[0].status if found else None,
                statement=found[0].statement if found else "",
            )
        layer = [(one.id, place) for one, place in known.values()]
    return tuple(told.values())


def _looked_up(seen: Seen, premises: Iterable[str]) -> dict[str, tuple[Belief, SeenSlot]]:
    """Those premises that the asker may see, with their slots."""
    stored = seen.graph.beliefs(seen.sight.bank, list(premises))
    slots = seen.slots(belief.slot for belief in stored.values())
    found = {}
    for premise, belief in stored.items():
        slot = slots.get(belief.slot)
        id = slot.now(belief.id) if slot else ""
        current = next((one for one in slot.slot.beliefs if one.id == id), None) if slot else None
        if slot is not None and current is not None:
            found[premise] = (current, slot)
    return found
