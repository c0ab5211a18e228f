"""A slot with one plain piece of evidence: what a full hearing of it would conclude, without the hearing.

Most slots have a single piece when they are first decided, and many never get another: every free statement, for one.
A property test holds this beside the full hearing, which alone is the rule.
"""

from operator import attrgetter

from beliefs.confidence import balance
from beliefs.review import first_stale
from beliefs.rulebook import Rulebook
from beliefs.statement import compose
from schemas.belief import Belief, Mass, Reason, Status
from schemas.claim import ValueType
from schemas.edge import Edge
from schemas.entity import entity_id
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.reserved import is_same_as
from schemas.slot import Slot, belief_id

_SOURCE = attrgetter("src")


def is_plain(piece: Evidence, now: Instant) -> bool:
    """Whether a piece counts for certain and for good: it supports, rests on nothing, has begun, and does not end.

    An echo of what we said ourselves does not count, and an opinion is folded, which is left to the hearing.
    """
    return (
        piece.stance == "supports"
        and piece.effective_at <= now
        and piece.valid_until is None
        and piece.source.type != "recall"
        and piece.network != "opinion"
        and not is_same_as(piece.attribute)
        and not piece.premises
    )


def resolve_lone(piece: Evidence, book: Rulebook, now: Instant) -> Slot:
    """The state of a slot whose evidence is one plain piece."""
    instructs = piece.kind == "instruction" and book.authority(piece).may_instruct
    weight = piece.weight * book.reliability(piece)
    support = (Mass(weight, piece.effective_at, book.half_life(piece, instructs)),) if weight != 0.0 else ()
    status, reason, review_at = ("active", "", None) if instructs else _weighed(support, book, now)
    belief = _belief(piece, book, instructs, support, status, reason)
    return Slot(
        id=piece.slot,
        bank=piece.bank,
        entity=piece.entity,
        attribute=piece.attribute,
        beliefs=(belief,),
        resolved_at=now,
        review_at=review_at,
        restricted=piece.visibility != "bank",
        in_session=piece.session != "",
        settled_by=book.name,
        edges=_edges(piece, belief.id),
    )


def _belief(
    piece: Evidence, book: Rulebook, instructs: bool, support: tuple[Mass, ...], status: Status, reason: Reason
) -> Belief:
    value_type: ValueType = "text"
    value_key = ""
    if piece.value is not None:
        value_type, value_key = book.normal_value(piece.attribute, piece.value, piece.value_type)
    return Belief(
        id=belief_id(piece.slot, piece.scope, value_key),
        bank=piece.bank,
        slot=piece.slot,
        entity=piece.entity,
        statement=piece.statement or compose(piece.entity, piece.attribute, piece.value, piece.scope),
        status=status,
        attribute=piece.attribute,
        value=piece.value,
        value_type=value_type,
        scope=piece.scope,
        kind=piece.kind if instructs or piece.kind != "instruction" else "observation",
        network=piece.network,
        tier=piece.tier,
        reason=reason,
        support=support,
        first_support=piece.effective_at,
        newest_support=piece.effective_at,
        occurred_start=piece.occurred_start,
        occurred_end=piece.occurred_end,
        supports=1,
        pinned=piece.pinned,
    )


def _weighed(support: tuple[Mass, ...], book: Rulebook, now: Instant) -> tuple[Status, Reason, Instant | None]:
    """Status, reason and next change of what nothing speaks against, if it does not instruct."""
    odds, bound = balance(support, (), now), book.stale_odds
    if odds <= 0:
        return "revoked", "outweighed", None
    if odds < bound:
        stale = balance(support, (), support[0].as_of) >= bound
        return ("stale", "decayed", None) if stale else ("active", "", None)
    return "active", "", None if support[0].half_life is None else first_stale(support, (), bound, now)


def _edges(piece: Evidence, belief: str) -> tuple[Edge, ...]:
    about = Edge(entity_id(piece.bank, piece.entity), "mentions", belief)
    if not piece.mentions:
        return (about,)
    mentioned = {Edge(entity_id(piece.bank, entity), "mentions", belief) for entity in piece.mentions}
    return tuple(sorted({about, *mentioned}, key=_SOURCE))
