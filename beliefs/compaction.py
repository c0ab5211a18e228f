"""Which evidence says nothing that a later piece does not say as well, so that it may leave the slot for good.

A source that repeats itself is heard once: its newest word counts (design 3.3). The earlier words of the same voice
for the same value in the same scope are silent as long as the newest stands, and whatever ends the newest, a
retraction or a rival, ends or outweighs them alike. So the slot without them is the same slot, to the last bit, at
every time from then on and whatever is still to come. Only questions for a time before the newest word lose them.

What is not of this class is left alone. Counted evidence of several origins cannot be summed into one piece: each
origin may yet speak again, and then its own word, and no other, must fall silent.
"""

from collections.abc import Sequence
from operator import attrgetter

from schemas.evidence import Evidence
from schemas.instant import Instant

_IN_ORDER = attrgetter("effective_at", "id")
_UNTOUCHED = ("feedback", "recall")
"""Sources of verdicts and of our own words, which are weighed by rules of their own."""


def spent(evidence: Sequence[Evidence], now: Instant) -> dict[str, str]:
    """From the id of each piece that may go to the id of the piece that stands for it, which never goes itself.

    `evidence` is all of one slot. Nothing goes from a slot whose evidence spells its entity or attribute in several
    ways, since the slot bears one of the spellings.
    """
    if len({(piece.entity.name, piece.entity.type, piece.attribute) for piece in evidence}) != 1:
        return {}
    standing: dict[tuple[object, ...], Evidence] = {}
    replaced: dict[str, str] = {}
    for piece in sorted(evidence, key=_IN_ORDER, reverse=True):
        if not may_stand(piece, now):
            continue
        newest = standing.setdefault(_voice(piece), piece)
        if newest is not piece and not piece.pinned:
            replaced[piece.id] = newest.id
    return replaced


def without(evidence: Sequence[Evidence], replaced: dict[str, str]) -> list[Evidence]:
    """The evidence that stays, in the order given."""
    return [piece for piece in evidence if piece.id not in replaced]


def may_stand(piece: Evidence, now: Instant) -> bool:
    """Whether it has begun, has no end of its own, and is plain testimony: no verdict, echo, command or conclusion.

    Of an opinion the first word counts for where it was formed, so none of them goes.
    """
    return (
        piece.stance == "supports"
        and piece.kind == "observation"
        and piece.source.type not in _UNTOUCHED
        and piece.effective_at <= now
        and piece.valid_until is None
        and not piece.premises
        and piece.network != "opinion"
    )


def _voice(piece: Evidence) -> tuple[object, ...]:
    """Who says what to whom; the value as it is written, so that 1, 1.0, True and "1" are four."""
    source = piece.source
    return (
        source.id,
        source.origin,
        source.type,
        piece.agent,
        piece.scope,
        piece.value.__class__,
        piece.value,
        piece.value_type,
        piece.session,
        piece.owner,
        piece.visibility,
        piece.readers,
    )
