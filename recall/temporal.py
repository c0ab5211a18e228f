"""Temporal retrieval: what occurred in the periods that the question names."""

import msgspec

from recall.period import Period
from recall.question import Question, Sources
from recall.semantic import likeness
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
    for period in question.periods[:MAX_PERIODS]:
        for belief, close in _close(question, sources, period).items():
            closeness[belief] = max(close, closeness.get(belief, 0.0))
    alike = {hit.belief: hit.score for hit in likeness(question, sources, list(closeness))}
    hits = [Hit(belief, alike.get(belief, 0.0) + CLOSENESS * close) for belief, close in closeness.items()]
    return sorted(hits, key=_best_first)[: question.depth]


def _close(question: Question, sources: Sources, period: Period) -> dict[str, float]:
    """Closeness from 0 to 1 of what occurred in a period: the nearest to its middle, and the most alike in it."""
    last = period.end - 1
    hits = sources.index.by_time(question.filter, period.start, last, question.depth)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    close = {hit.belief: hit.score / best for hit in hits}
    vector = question.vector.get()
    if vector is not None and len(hits) == question.depth:
        within = msgspec.structs.replace(question.filter, occurred_from=period.start, occurred_to=last)
        for hit in sources.index.semantic(within, vector, question.depth):
            close.setdefault(hit.belief, 0.0)
    return close


def _best_first(hit: Hit) -> tuple[float, str]:
    return (-hit.score, hit.belief)
