"""A slot beside what is known to be true of it: what its sources had said, and what was believed, at that time."""

from collections.abc import Iterable, Sequence

import msgspec

from beliefs.access import public
from beliefs.confidence import confidence, decay
from beliefs.counting import hear
from beliefs.reliability import Saying, Verified
from beliefs.resolve import resolve
from beliefs.rulebook import Rulebook, rulebook
from beliefs.values import cluster, magnitude, typed
from schemas.belief import LIVE, Belief
from schemas.claim import EVERYWHERE, Value, ValueType
from schemas.evidence import Evidence
from schemas.identity import normal_name
from schemas.instant import Instant
from schemas.policy import Policy


class Verification(msgspec.Struct, frozen=True):
    """What somebody who knows says of a slot at a time: that a value is the true one, or that it is a wrong one."""

    value: Value
    at: Instant
    right: bool = True


def told_by(evidence: Iterable[Evidence], at: Instant) -> list[Evidence]:
    """What sources had said by a time for the whole bank to see; verdicts on beliefs and conclusions are left out."""
    return [
        piece
        for piece in public(evidence)
        if piece.effective_at <= at and piece.source.type != "feedback" and not piece.premises
    ]


def verify(id: str, evidence: Sequence[Evidence], verdict: Verification, policy: Policy) -> Verified | None:
    """Each origin's sighting that counted at the time, beside the verdict; None where none can be judged by it."""
    book = rulebook(policy)
    pieces = told_by(evidence, verdict.at)
    if not pieces or book.rule(pieces[0].attribute).cardinality == "many":
        return None
    sayings = []
    for voice in hear(pieces, book, verdict.at).voices:
        piece = voice.evidence
        if not voice.counts or voice.stance != "supports" or voice.instructs or piece.value is None:
            continue
        if piece.scope == EVERYWHERE:
            alike = equal_values(piece.value, verdict.value, piece.attribute, piece.value_type, book)
            right = alike if verdict.right else False if alike else None
            mass = piece.weight * decay(verdict.at - voice.at, voice.half_life)
            sayings.append(Saying(piece.origin, voice.value_key, right, mass))
    if all(one.right is None for one in sayings):
        return None
    return Verified(id, normal_name(pieces[0].attribute or ""), tuple(sayings))


def equal_values(one: Value, other: Value, attribute: str | None, type: ValueType | None, book: Rulebook) -> bool:
    """Whether two values of an attribute are one by its rule, `other` read by the type of `one`: "200" may be 200."""
    meant = type or typed(one)
    kind, key = book.normal_value(attribute, one, meant)
    other_kind, other_key = book.normal_value(attribute, other, meant)
    if kind != other_kind or key == other_key:
        return kind == other_kind
    sizes = {key: (magnitude(one, kind), 1), other_key: (magnitude(other, kind), 1)}
    anchors = cluster(sizes, book.rule(attribute).tolerance)
    return anchors[key] == anchors[other_key]


def believed(evidence: Sequence[Evidence], verdict: Verification, policy: Policy) -> tuple[float, bool] | None:
    """How surely the leading belief of the time was held, and whether it was right; None where nothing was believed."""
    pieces = told_by(evidence, verdict.at)
    if not pieces or not verdict.right:
        return None
    best, sure = leading(resolve(pieces, policy, verdict.at).beliefs, verdict.at, policy.base)
    if best.value is None:
        return sure, False
    return sure, equal_values(best.value, verdict.value, best.attribute, best.value_type, rulebook(policy))


def leading(beliefs: Sequence[Belief], moment: Instant, base: float) -> tuple[Belief, float]:
    """The belief that a slot answers with, and how surely it is held: its holder, else the surest that is contested."""
    sure = {belief.id: confidence(belief, moment, base) for belief in beliefs}
    best = max(
        beliefs,
        key=lambda one: (
            one.status == "active",
            one.status in LIVE,
            one.reason != "overruled",
            sure[one.id],
            one.newest_support or 0,
            one.id,
        ),
    )
    return best, sure[best.id]


def verdicts_in(evidence: Iterable[Evidence], policy: Policy) -> list[Verification]:
    """What feedback says of each value: what most who may instruct there said last; a draw says nothing."""
    book = rulebook(policy)
    newest: dict[tuple[str, str], Evidence] = {}
    for piece in public(evidence):
        if piece.source.type != "feedback" or piece.value is None or piece.stance == "retracts":
            continue
        if book.authority(piece).may_instruct and piece.scope == EVERYWHERE:
            place = (book.normal_value(piece.attribute, piece.value, piece.value_type)[1], piece.origin)
            known = newest.get(place)
            if known is None or (known.effective_at, known.id) < (piece.effective_at, piece.id):
                newest[place] = piece
    found = []
    for key in sorted({key for key, _ in newest}):
        said = [piece for (about, _), piece in sorted(newest.items()) if about == key]
        balance = sum(1 if piece.stance == "supports" else -1 for piece in said)
        last = max(said, key=lambda piece: (piece.effective_at, piece.id))
        if balance and last.value is not None:
            found.append(Verification(last.value, last.effective_at, balance > 0))
    return found
