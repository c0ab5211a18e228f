"""Which slots nobody has spoken of for long and nothing is held in any more, so that they may lie in an archive."""

from collections.abc import Sequence

from beliefs.revise import view
from schemas.belief import LIVE
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy

_KEPT_SOURCES = ("feedback", "recall")


def is_dormant(evidence: Sequence[Evidence], policy: Policy, now: Instant, after: Instant) -> bool:
    """Whether the slot has beliefs, none of them live, from plain sightings alone, the newest at least `after` old.

    A slot with an instruction, a retraction, a verdict, a conclusion or anything pinned stays: what it says would
    still decide over what comes late.
    """
    if not evidence or not all(map(_is_plain, evidence)):
        return False
    if max(piece.effective_at for piece in evidence) > now - after:
        return False
    beliefs = view(evidence, policy, now).beliefs
    return bool(beliefs) and not any(belief.status in LIVE for belief in beliefs)


def _is_plain(piece: Evidence) -> bool:
    return (
        piece.kind == "observation"
        and piece.stance == "supports"
        and not piece.pinned
        and not piece.premises
        and piece.source.type not in _KEPT_SOURCES
    )
