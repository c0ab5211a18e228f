"""Judging: from fused candidates to the beliefs that the asker may see, that hold when asked, and that fit.

    score = fused + d * ( CONFIDENCE * (confidence - 0.5) + FRESHNESS * 2 ** (-age / FRESH_HALF_LIFE) + DECIDED )

where d is the standard deviation of all fused scores (1 where they are equal), so that the factors weigh alike for
every kind of fusion. DECIDED is for beliefs of an attribute, whose rivals have been heard; free text, which nothing
can contradict, gets none, nor do conclusions and retellings, whose premises answer themselves. Example: d = 1.5, fused
2.0, confidence .9, age 180 days, free text: 2.0 + 1.5 * (.04 + .025) = 2.0975.

What the index says of access, status and time is not relied on: every candidate's slot is resolved again from the
evidence that the asker may see. Candidates that they may not see are not even counted.
"""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from beliefs.confidence import confidence, decay
from beliefs.explain import explain_slot
from recall.chain import FOUND, chain
from recall.fit import instead_of, misfit
from recall.fuse import Fused
from recall.outdated import is_outdated, newest_of_each
from recall.question import Question
from recall.seen import Seen, SeenSlot
from schemas.answer import Contribution, Found
from schemas.belief import LIVE, Belief
from schemas.instant import DAY, Instant

CONFIDENCE = 0.1
FRESHNESS = 0.05
FRESH_HALF_LIFE: Instant = 180 * DAY
DECIDED = 0.5
_MOST = CONFIDENCE * 0.5 + FRESHNESS + DECIDED

MAX_FORMER = 3
"""How many of the beliefs that this one replaced are told, newest first."""

Filter = Callable[[Found], bool]
"""A caller's own filter; what it refuses is counted under "filter"."""


class Judged(msgspec.Struct, frozen=True):
    """The beliefs for the answer, best first, and how many were left out for which reason."""

    found: list[Found]
    left_out: dict[str, int]
    needs_fresh_look: list[Found] = []


class _Kept(msgspec.Struct, frozen=True):
    belief: Belief
    seen: SeenSlot
    confidence: float
    score: float
    scores: dict[str, float]


def judge(
    candidates: Sequence[Fused],
    question: Question,
    seen: Seen,
    filters: Sequence[Filter] = (),
    stale: Sequence[str] = (),
) -> Judged:
    """The best `query.limit` of the candidates that fit; stops where no further one can come among them.

    Apart from them: which of the `stale` beliefs, and of those met on the way, need a fresh look. Where nobody asks for
    the evidence on the way (a filter, or an entity that words may mention), only what is told is read whole.
    """
    bench = _Bench(question, seen, _unit(candidates), filters)
    look = seen.slots if filters or question.subjects else seen.glimpses
    for candidate, belief, slot in _opened(candidates, question, seen, look, bench.is_full_for):
        bench.hear(candidate, belief, slot)
    best = _in_order(sorted(bench.kept, key=_best_first)[: question.query.limit])
    for one, place in _stored(stale, seen):
        bench.look(one, place)
    moment, base = question.query.moment, seen.policy.base
    outdated = [
        _Kept(one, place, confidence(one, moment, base), 0.0, {}) for one, place in newest_of_each(bench.outdated)
    ]
    seen.slots(kept.belief.slot for kept in (*best, *outdated) if not kept.seen.evidence)
    again = [found for found in _told(outdated, seen) if all(admits(found) for admits in filters)]
    return Judged(list(_told(best, seen)), bench.left_out, again)


class _Bench:
    def __init__(self, question: Question, seen: Seen, unit: float, filters: Sequence[Filter]) -> None:
        self.kept: list[_Kept] = []
        self.left_out: dict[str, int] = {}
        self.outdated: list[tuple[Belief, SeenSlot]] = []
        self._question = question
        self._seen = seen
        self._unit = unit
        self._filters = filters
        self._met: set[str] = set()
        self._best: list[float] = []

    def is_full_for(self, score: float) -> bool:
        """Whether no candidate of this fused score or less can come among the first `limit` any more."""
        return len(self._best) >= self._question.query.limit and score + self._unit * _MOST <= self._best[0]

    def hear(self, candidate: Fused, id: str, slot: SeenSlot) -> None:
        """Keep a candidate, or what answers in its place, or count why not."""
        belief = next((belief for belief in slot.slot.beliefs if belief.id == id), None)
        if belief is None:
            return
        self._weigh(candidate, belief, slot)
        for other in instead_of(belief, slot, self._question.query.scope):
            if other.id not in self._met:
                self._weigh(candidate, other, slot)

    def _weigh(self, candidate: Fused, belief: Belief, slot: SeenSlot) -> None:
        if belief.id in self._met:
            self._leave_out("duplicate")
            return
        self._met.add(belief.id)
        moment = self._question.query.moment
        sure = confidence(belief, moment, self._seen.policy.base)
        reason = misfit(belief, slot, self._question, sure)
        if reason:
            self.look(belief, slot)
            self._leave_out(reason)
            return
        score = candidate.score + self._unit * _worth(belief, sure, moment)
        kept = _Kept(belief, slot, sure, score, candidate.scores)
        if self._filters:
            found = _found(kept, self._seen)
            if not all(admits(found) for admits in self._filters):
                self._leave_out("filter")
                return
        self.kept.append(kept)
        heapq.heappush(self._best, score)
        if len(self._best) > self._question.query.limit:
            heapq.heappop(self._best)

    def look(self, belief: Belief, slot: SeenSlot) -> None:
        """Note a belief that needs a fresh look."""
        if is_outdated(belief, slot, self._question):
            self.outdated.append((belief, slot))

    def _leave_out(self, reason: str) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def _opened(
    candidates: Sequence[Fused],
    question: Question,
    seen: Seen,
    look: Callable[[Iterable[str]], dict[str, SeenSlot]],
    enough: Callable[[float], bool],
) -> Iterator[tuple[Fused, str, SeenSlot]]:
    """Candidates in order with the id that their belief has now and its slot as seen, loaded page by page.

    As much again is loaded as was needed so far: few requests to a store that is far away, little that nobody reads.
    """
    bank = question.query.bank
    at, page = 0, 2 * question.query.limit + 4
    while current := candidates[at : at + page]:
        if enough(current[0].score):
            return
        at += len(current)
        page = at
        beliefs = seen.graph.beliefs(bank, [candidate.belief for candidate in current])
        slots = look(belief.slot for belief in beliefs.values())
        for candidate in current:
            if enough(candidate.score):
                return
            belief = beliefs.get(candidate.belief)
            if belief is not None and belief.slot in slots:
                slot = slots[belief.slot]
                yield candidate, slot.now(belief.id), slot


def _stored(beliefs: Sequence[str], seen: Seen) -> Iterator[tuple[Belief, SeenSlot]]:
    """These beliefs as the asker sees them, those that they may."""
    stored = seen.graph.beliefs(seen.sight.bank, beliefs) if beliefs else {}
    slots = seen.slots(belief.slot for belief in stored.values())
    for id in beliefs:
        slot = slots.get(stored[id].slot) if id in stored else None
        for belief in slot.slot.beliefs if slot else ():
            if slot is not None and belief.id == slot.now(stored[id].id):
                yield belief, slot


def _unit(candidates: Sequence[Fused]) -> float:
    if not candidates:
        return 1.0
    mean = math.fsum([candidate.score for candidate in candidates]) / len(candidates)
    spread = math.sqrt(math.fsum([(candidate.score - mean) ** 2 for candidate in candidates]) / len(candidates))
    return spread if spread > 1e-9 else 1.0


def _worth(belief: Belief, sure: float, moment: Instant) -> float:
    worth = CONFIDENCE * (sure - 0.5) + (
        DECIDED if belief.attribute is not None and belief.kind != "derivation" else 0.0
    )
    if belief.newest_support is None:
        return worth
    return worth + FRESHNESS * decay(moment - belief.newest_support, FRESH_HALF_LIFE)


def _in_order(kept: Sequence[_Kept]) -> list[_Kept]:
    """Give the places that the values of one slot and scope won to what holds first, of contested ones to the surest.

    Their statements differ in a value, so how alike they are to the question says little about which to believe.
    """
    places: dict[tuple[str, object], list[int]] = {}
    for place, one in enumerate(kept):
        places.setdefault((one.belief.slot, one.belief.scope), []).append(place)
    ordered = list(kept)
    for taken in places.values():
        if len(taken) > 1:
            truest = sorted((kept[place] for place in taken), key=_truest_first)
            for place, one in zip(taken, truest, strict=True):
                ordered[place] = msgspec.structs.replace(one, score=kept[place].score)
    return ordered


def _truest_first(one: _Kept) -> tuple[bool, bool, float, float, str]:
    """Sightings contest an instruction; however many they are, they do not take its place (design 3.4)."""
    contested, overruled = bool(one.belief.rivals), one.belief.reason == "overruled"
    return (one.belief.status not in LIVE, overruled, -one.confidence if contested else 0.0, -one.score, one.belief.id)


def _told(kept: Iterable[_Kept], seen: Seen) -> Iterator[Found]:
    """These beliefs with all that is told of them; what went, or fell, since it was glimpsed is left out."""
    for one in kept:
        whole = one.seen if one.seen.evidence else seen.slots([one.belief.slot]).get(one.belief.slot)
        beliefs = {belief.id: belief for belief in whole.slot.beliefs} if whole is not None else {}
        current = beliefs.get(one.belief.id)
        if whole is not None and current is not None and current.status == one.belief.status:
            yield _found(msgspec.structs.replace(one, belief=current, seen=whole), seen)


def _found(kept: _Kept, seen: Seen) -> Found:
    belief, slot = kept.belief, kept.seen
    return Found(
        belief=belief,
        confidence=kept.confidence,
        score=kept.score,
        scores=kept.scores,
        evidence=_contributions(belief, slot, seen),
        rivals=rivals_of(belief, slot),
        premises=chain(seen, slot, belief.id, FOUND),
    )


def _contributions(belief: Belief, slot: SeenSlot, seen: Seen) -> tuple[Contribution, ...]:
    account = explain_slot(slot.evidence, slot.slot, [belief.id], seen.policy, seen.sight.moment, slot.fallen)
    return account[0].contributions


def rivals_of(belief: Belief, slot: SeenSlot) -> tuple[Belief, ...]:
    """What contests a belief, then the newest of what it replaced."""
    contesting = [other for other in slot.slot.beliefs if other.id in belief.rivals]
    former = [other for other in slot.slot.beliefs if other.status == "revoked" and other.by == belief.id]
    former.sort(key=lambda other: (-(other.newest_support or 0), other.id))
    return (*contesting, *former[:MAX_FORMER])


def _best_first(kept: _Kept) -> tuple[float, str]:
    return (-kept.score, kept.belief.id)
