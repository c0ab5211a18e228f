"""The features of a belief, from its slot, its evidence, and what is known of its use and of its bank (design 10)."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from beliefs.confidence import confidence
from beliefs.information import informs
from beliefs.resolve import resolve
from beliefs.rulebook import rulebook
from beliefs.scope import covers
from beliefs.worth import Features
from schemas.belief import LIVE, Belief
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import Slot
from schemas.usage import UNUSED, Usage


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a bank's memories are seen against: its policy, the time, and in how many of some texts each word stands."""

    policy: Policy
    now: Instant
    seen_in: Counter[str]
    texts: int


def appraise(
    belief: Belief,
    evidence: Sequence[Evidence],
    around: Surroundings,
    *,
    usage: Usage = UNUSED,
    degree: int = 0,
    relevance: float = 0.0,
) -> Features:
    """The features of a belief; `evidence` is all of its slot, at least one piece."""
    book = rulebook(around.policy)
    newest = belief.newest_support or max(piece.effective_at for piece in evidence)
    supporters = [piece for piece in evidence if piece.stance == "supports"] or evidence
    return Features(
        kind=belief.kind,
        tier=belief.tier,
        network=belief.network,
        rank=max(book.authority(piece).rank for piece in supporters),
        information=informs(belief.statement, around.seen_in, around.texts),
        surprise=surprise(belief, evidence, around.policy),
        relevance=relevance,
        age=max(0, around.now - newest),
        recalled=usage.recalled,
        useful=usage.right + usage.used,
        wrong=usage.wrong,
        degree=degree,
        pinned=belief.pinned,
    )


def surprise(belief: Belief, evidence: Sequence[Evidence], policy: Policy) -> float:
    """How surely another value was held, in a scope that covers this one's, just before this was first told; 0 to 1.

    2 * confidence - 1 of the surest such belief at that moment: 0 where nothing was believed, or nothing surely.
    """
    first = belief.first_support
    if first is None or belief.attribute is None:
        return 0.0
    before = [piece for piece in evidence if piece.effective_at < first]
    if not before:
        return 0.0
    held = resolve(before, policy, first).beliefs
    others = [
        confidence(other, first, policy.base)
        for other in held
        if other.id != belief.id and other.status in LIVE and covers(other.scope, belief.scope)
    ]
    return max(0.0, 2.0 * max(others, default=0.5) - 1.0)


def holds(slot: Slot) -> bool:
    """Whether some value of the slot holds it, even if it is contested or stale; a free statement holds none."""
    return slot.attribute is not None and any(belief.status in (*LIVE, "stale") for belief in slot.beliefs)


def corrects(slot: Slot, evidence: Sequence[Evidence]) -> bool:
    """Whether something in the slot would still decide over what comes late, though no value holds it.

    That is a retraction, a refutation or a verdict "wrong"; and in a slot with an attribute, an instruction.
    """
    return any(
        piece.stance != "supports" or (piece.kind == "instruction" and slot.attribute is not None) for piece in evidence
    )
