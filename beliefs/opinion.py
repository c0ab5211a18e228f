"""How sure an opinion is: steps folded in key order from where it was formed (design 3.9).

    formed       sigmoid(base + weight * reliability) of its first support
    reinforces   + STEP * (1 + (3 - skepticism) / 4)        a further origin supports the same value
    weakens      - STEP * (1 - bias_strength)               a rival is supported, or a word below weight 1 refutes it
    contradicts  - 2 * STEP * (1 - bias_strength)           a word of weight 1 or more refutes it

After every step the confidence is kept within 0 and 1. What spoke before the opinion was formed does not move it, nor
does the origin that formed it by saying it again; an opinion that no counted evidence supports any more stands at 0.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from beliefs.confidence import logit, sigmoid
from beliefs.counting import OUTSPOKEN, Voice
from schemas.belief import Mass
from schemas.profile import MIDDLE, Profile

STEP = 0.1
_FULL_WEIGHT = 1.0
_SCALE = 4.0
_DIGITS = 12
_NEAREST = 2.0**-40
"""How near to 0 and 1 the log-odds of an opinion are told; its confidence itself may reach them."""

Relation = Literal["forms", "reinforces", "weakens", "contradicts"]


class Step(NamedTuple):
    """What one voice did to an opinion, and by how much its confidence moved."""

    voice: Voice
    relation: Relation
    move: float


class Opinion(NamedTuple):
    """An opinion's confidence with every step to it, in key order."""

    confidence: float
    steps: tuple[Step, ...]


def is_opinion(voices: Sequence[Voice]) -> bool:
    """Whether these voices, at least one, tell an opinion."""
    return bool(voices) and all(voice.evidence.network == "opinion" for voice in voices)


def forming(supporters: Sequence[Voice], silent: Sequence[Voice]) -> Voice | None:
    """The voice that formed the opinion: the earliest that weighs anything, also if its origin spoke again since.

    None where nobody supports it any more.
    """
    weighing = [voice for voice in supporters if voice.weight > 0.0]
    if not weighing:
        return None
    earlier = [voice for voice in silent if voice.note == OUTSPOKEN and voice.weight > 0.0]
    return min((*weighing, *earlier), key=_key)


def fold(
    start: Voice | None, supporters: Sequence[Voice], against: Sequence[Voice], profile: Profile, base: float
) -> Opinion:
    """The confidence after every voice for and against it has been heard, in key order."""
    if start is None:
        return Opinion(0.0, ())
    sure = sigmoid(base + start.weight)
    steps = [Step(start, "forms", sure)]
    further = [(voice, True) for voice in supporters if voice.evidence.origin != start.evidence.origin]
    contrary = [(voice, False) for voice in against if voice.at >= start.at]
    for voice, supports in sorted((*further, *contrary), key=lambda heard: heard[0].key):
        relation = relation_of(voice, supports)
        after = min(1.0, max(0.0, round(sure + step_of(relation, voice, profile), _DIGITS)))
        steps.append(Step(voice, relation, after - sure))
        sure = after
    return Opinion(sure, tuple(steps))


def relation_of(voice: Voice, supports: bool) -> Relation:
    """How a voice relates to an opinion that stands already."""
    if supports:
        return "reinforces"
    denies = voice.evidence.stance != "supports" and voice.weight >= _FULL_WEIGHT
    return "contradicts" if denies else "weakens"


def step_of(relation: Relation, voice: Voice, profile: Profile) -> float:
    """By how much a relation moves the confidence under a profile; a voice without weight moves nothing."""
    if voice.weight <= 0.0:
        return 0.0
    if relation == "reinforces":
        return STEP * (1.0 + (MIDDLE - profile.skepticism) / _SCALE)
    steps = 2.0 if relation == "contradicts" else 1.0
    return -steps * STEP * (1.0 - profile.bias_strength)


def masses_of(opinion: Opinion, at: int) -> tuple[tuple[Mass, ...], tuple[Mass, ...]]:
    """Support and refutation whose difference is the log-odds of the opinion; an opinion does not fade with age."""
    odds = logit(min(1.0 - _NEAREST, max(_NEAREST, opinion.confidence)))
    if odds == 0.0:
        return (), ()
    mass = (Mass(abs(odds), at),)
    return (mass, ()) if odds > 0 else ((), mass)


def _key(voice: Voice) -> tuple[object, ...]:
    return voice.key
