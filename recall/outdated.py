"""What needs a fresh look: beliefs that fit but expired, or rest on what did, with nothing in their place."""

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from beliefs.scope import covers
from recall.fit import misfit
from recall.question import Question, Sources
from recall.seen import SeenSlot
from schemas.belief import LIVE, Belief
from schemas.errors import StoreUnavailable

MOST = 3
"""How many of them an answer tells."""

_REASONS = ("expired", "unfounded")
_DEPTH = 10


def stale_hits(question: Question, sources: Sources) -> list[str]:
    """Beliefs that the index knows as stale and that share words with the question, best first; none if it fails.

    Who asks about a period is told what was then, and is not searched for what is out of date now.
    """
    if question.periods or "stale" in question.query.statuses or not question.filter.statuses:
        return []
    with suppress(StoreUnavailable):
        stale = msgspec.structs.replace(question.filter, statuses=("stale",))
        return [hit.belief for hit in sources.index.keyword(stale, question.query.text, _DEPTH)]
    return []


def is_outdated(belief: Belief, slot: SeenSlot, question: Question) -> bool:
    """Whether a belief fits but for being stale, by expiry or what it rests on, and no other holds its place."""
    if belief.status != "stale" or belief.reason not in _REASONS or "stale" in question.query.statuses:
        return False
    if any(other.status in LIVE and covers(other.scope, belief.scope) for other in slot.slot.beliefs):
        return False
    as_stale = msgspec.structs.replace(question, query=msgspec.structs.replace(question.query, statuses=("stale",)))
    return not misfit(belief, slot, as_stale, 1.0)


def newest_of_each(beliefs: Sequence[tuple[Belief, SeenSlot]]) -> list[tuple[Belief, SeenSlot]]:
    """Of several outdated values of one slot and scope the one that was seen last; at most `MOST`."""
    newest: dict[tuple[str, object], tuple[Belief, SeenSlot]] = {}
    for belief, slot in beliefs:
        place = (slot.slot.id, belief.scope)
        known = newest.get(place)
        if known is None or _last(belief) > _last(known[0]):
            newest[place] = (belief, slot)
    return list(newest.values())[:MOST]


def _last(belief: Belief) -> tuple[int, str]:
    return (belief.newest_support or belief.valid_until or 0, belief.id)
