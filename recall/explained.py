"""The accounts of several beliefs at once: of those named, and of those that given observations speak for."""

from collections.abc import Iterable, Sequence

import msgspec

from beliefs.explain import explain_slot
from recall.chain import EXPLAINED, chain
from recall.seen import Seen, SeenSlot
from schemas.answer import Explanation


def explained(seen: Seen, beliefs: Sequence[str], observations: Sequence[str]) -> list[Explanation]:
    """First the beliefs named, in their order, then what the observations speak for, slot by slot; each once.

    What is unknown or not to be seen is left out.
    """
    graph, bank = seen.graph, seen.sight.bank
    stored = graph.beliefs(bank, beliefs) if beliefs else {}
    pieces = graph.evidence_of_observations(bank, observations) if observations else []
    slots = seen.slots([*(belief.slot for belief in stored.values()), *(piece.slot for piece in pieces)])
    named = {
        slots[stored[id].slot].now(id): stored[id].slot for id in beliefs if id in stored and stored[id].slot in slots
    }
    found = {id: account for id, slot in named.items() for account in _accounts(seen, slots[slot], [id])}
    told = frozenset(observations)
    for slot in dict.fromkeys(piece.slot for piece in pieces):
        for account in _accounts(seen, slots[slot]) if slot in slots else ():
            if _speaks_for(account, told):
                found.setdefault(account.belief.id, account)
    return list(found.values())


def _accounts(seen: Seen, slot: SeenSlot, ids: Iterable[str] | None = None) -> list[Explanation]:
    """The accounts of these beliefs of a slot, or of all of them."""
    known = [belief.id for belief in slot.slot.beliefs]
    wanted = known if ids is None else [id for id in ids if id in known]
    accounts = explain_slot(slot.evidence, slot.slot, wanted, seen.policy, seen.sight.moment, slot.fallen)
    return [
        msgspec.structs.replace(account, premises=chain(seen, slot, account.belief.id, EXPLAINED))
        for account in accounts
    ]


def _speaks_for(account: Explanation, observations: frozenset[str]) -> bool:
    terms = account.contributions
    return any(term.stance == "supports" and term.evidence.observation_id in observations for term in terms)
