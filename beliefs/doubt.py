"""When a belief leads no more because people say that it is wrong: two of them, since it was last supported.

However much evidence stands behind a belief, it does not hold while two different agents, of different origins, have
marked it wrong later than its newest support. Whoever says it again afterwards lets it hold again. A mark without an
agent's name counts as evidence and not as a person. An instruction yields only to those who may instruct.
"""

from collections.abc import Sequence
from itertools import combinations

from beliefs.counting import Voice
from beliefs.rulebook import Rulebook
from schemas.identity import normal_name
from schemas.instant import Instant


def is_doubted(refuting: Sequence[Voice], newest: Instant | None, instructed: bool, book: Rulebook) -> bool:
    """Whether two of these voices, all counted and against the belief, are different people who marked it wrong."""
    marks = [
        voice
        for voice in refuting
        if _marks_wrong(voice)
        and (newest is None or voice.at > newest)
        and (not instructed or book.authority(voice.evidence).may_instruct)
    ]
    return any(_differ(one, other) for one, other in combinations(marks, 2)) if len(marks) > 1 else False


def _marks_wrong(voice: Voice) -> bool:
    piece = voice.evidence
    told = piece.source.type == "feedback" and piece.stance == "refutes"
    return told and voice.weight > 0.0 and bool(piece.agent.strip())


def _differ(one: Voice, other: Voice) -> bool:
    return (
        normal_name(one.evidence.agent) != normal_name(other.evidence.agent)
        and one.evidence.origin != other.evidence.origin
    )
