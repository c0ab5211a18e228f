"""Temporal retrieval: what occurred in the periods that the question names."""

from collections.abc import Sequence

import msgspec

from recall.period import Period
from recall.question import Question, Sources
from recall.semantic import likeness
from schemas.instant import Instant
from stores.ports import Hit

MAX_PERIODS = 3
CLOSENESS = 0.1
"""What the middle of the period is worth against its edge, in cosine; inside a period, likeness should decide."""


def retrieve(question: Question, sources: Sources) -> list[Hit] | None:
    """Beliefs of the periods named, by likeness to the question and closeness to the middle of the period.

    None when the question names no period. Without an embedder closeness alone ranks.
    """
    if not question.periods:
        return None
    closeness: dict[str, float] = {}
    crowded = []
    for period in question.periods[:MAX_PERIODS]:
        near = _close(question, sources, period)
        for belief, close in near.items():
            closeness[belief] = max(close, closeness.get(belief, 0.0))
        if len(near) == question.depth:
            crowded.append((period.start, period.end - 1))
    for belief in _alike_within(question, sources, crowded):
        closeness.setdefault(belief, 0.0)
    alike = {hit.belief: hit.score for hit in likeness(question, sources, list(closeness))}
    hits = [Hit(belief, alike.get(belief, 0.0) + CLOSENESS * close) for belief, close in closeness.items()]
    return sorted(hits, key=_best_first)[: question.depth]


def _close(question: Question, sources: Sources, period: Period) -> dict[str, float]:
    """Closeness from 0 to 1 of what occurred nearest to the middle of a period."""
    hits = sources.index.by_time(question.filter, period.start, period.end - 1, question.depth)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return {hit.belief: hit.score / best for hit in hits}


def _alike_within(question: Question, sources: Sources, periods: Sequence[tuple[Instant, Instant]]) -> list[str]:
    """What is most like the question in periods that hold more than is read by time, in one search for all of them."""
    vector = question.vector.get() if periods else None
    if vector is None:
        return []
    within = msgspec.structs.replace(question.filter, periods=tuple(periods))
    return [hit.belief for hit in sources.index.semantic(within, vector, question.depth * len(periods))]


def _best_first(hit: Hit) -> tuple[float, str]:
    return (-hit.score, hit.belief)
