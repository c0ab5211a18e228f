"""Every term of a belief's confidence, and why a piece of evidence does not count (requirement G13)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from beliefs.confidence import decay, sigmoid, total
from beliefs.conflict import Candidate
from beliefs.counting import NONE_FALLEN, Fallen, Voice, heard_as
from beliefs.resolve import judged, resolve
from beliefs.rulebook import Rulebook, rulebook
from schemas.answer import Contribution, Explanation
from schemas.belief import Belief
from schemas.errors import NotFound
from schemas.evidence import Evidence
from schemas.instant import DAY, Instant
from schemas.policy import Policy
from schemas.slot import Slot

_UNAUTHORISED = "an instruction without authority, heard as an observation"
_MOVES_NOTHING = "it moves nothing"
_FORMED = "forms, and "
_TOO_EARLY = "it speaks against what came before it only"


def explain(evidence: Sequence[Evidence], belief_id: str, policy: Policy, now: Instant) -> Explanation:
    """The account of one belief at `now`. Raises NotFound when this evidence makes no such belief."""
    return explain_slot(evidence, resolve(evidence, policy, now), [belief_id], policy, now)[0]


def explain_slot(
    evidence: Sequence[Evidence],
    slot: Slot,
    belief_ids: Iterable[str],
    policy: Policy,
    now: Instant,
    fallen: Fallen = NONE_FALLEN,
) -> list[Explanation]:
    """The accounts of several beliefs of a slot that was resolved from this evidence, with these premises fallen."""
    known = {belief.id: belief for belief in slot.beliefs}
    _, found = judged(evidence, policy, now, fallen)
    accounts = []
    for id in belief_ids:
        if id not in known or id not in found:
            raise NotFound(f"no belief {id}")
        accounts.append(_account(known[id], found[id], policy, now))
    return accounts


def _account(belief: Belief, candidate: Candidate, policy: Policy, now: Instant) -> Explanation:
    terms = _Terms(belief, candidate, rulebook(policy), now)
    support = total(belief.support, now)
    refutation = total(belief.refutation, now)
    return Explanation(
        belief=belief,
        moment=now,
        base=policy.base,
        support=support,
        refutation=refutation,
        confidence=sigmoid(policy.base + support - refutation) if belief.opinion is None else belief.opinion,
        contributions=tuple(sorted([*terms.weighed(), *terms.silent()], key=_strongest_first)),
    )


class _Terms:
    """What each voice contributes to a belief at a time, and why some contribute nothing."""

    def __init__(self, belief: Belief, candidate: Candidate, book: Rulebook, now: Instant) -> None:
        self._belief, self._candidate, self._book, self._now = belief, candidate, book, now
        self._factors = [(voice, 1.0) for voice in candidate.supporters]
        self._factors += [(voice, -factor) for voice, factor in candidate.against]
        self._counted = {id(voice) for voice, _ in self._factors}
        supporting = (*candidate.supporters, *candidate.silent)
        self._voices = Counter(voice.evidence.digest for voice in supporting if voice.evidence.digest)
        self._steps = {id(step.voice): step for step in (candidate.opinion.steps if candidate.opinion else ())}

    def weighed(self) -> Iterator[Contribution]:
        """Of the voices that count."""
        for voice, factor in self._factors:
            yield self._term(voice, factor, self._note(voice, factor))

    def silent(self) -> Iterator[Contribution]:
        """Of those that do not."""
        for voice in (*self._candidate.silent, *self._candidate.refuters):
            if id(voice) not in self._counted:
                factor = 1.0 if voice.stance == "supports" else -1.0
                yield self._term(voice, factor, _silent_note(voice, id(voice) in self._steps))

    def _term(self, voice: Voice, factor: float, note: str) -> Contribution:
        piece = voice.evidence
        expired = piece.valid_until is not None and piece.valid_until <= self._now
        left = 0.0 if expired else decay(self._now - voice.at, voice.half_life)
        counts = id(voice) in self._counted
        trusted = self._book.learned(piece)
        return Contribution(
            evidence=piece,
            stance="supports" if factor > 0 else "refutes",
            kind=heard_as(piece.kind, voice.instructs),
            factor=abs(factor),
            weight=piece.weight,
            reliability=trusted.weight,
            decay=left,
            half_life_days=None if voice.half_life is None else voice.half_life / DAY,
            log_odds=factor * voice.weight * left if counts and self._candidate.opinion is None else 0.0,
            counted=counts,
            note=note or (_UNAUTHORISED if piece.kind == "instruction" and not voice.instructs else ""),
            outcomes=trusted.outcomes,
            step=self._steps[id(voice)].move if id(voice) in self._steps else 0.0,
            voices=self._voices[piece.digest] if piece.digest else 0,
        )

    def _note(self, voice: Voice, factor: float) -> str:
        if self._candidate.opinion is None:
            return _note(voice, self._belief, factor)
        return self._steps[id(voice)].relation if id(voice) in self._steps else _MOVES_NOTHING


def _note(voice: Voice, belief: Belief, factor: float) -> str:
    if factor > 0 or voice.stance != "supports" or belief.newest_support is None:
        return ""
    return "a later rival" if voice.at > belief.newest_support else "a rival of the same time"


def _silent_note(voice: Voice, formed: bool) -> str:
    return (_FORMED if formed else "") + (voice.note or _TOO_EARLY)


def _strongest_first(term: Contribution) -> tuple[bool, float, int, str]:
    return (not term.counted, -abs(term.log_odds or term.step), -term.evidence.effective_at, term.evidence.id)
