"""Fusion: one ranking from the rankings of several retrievers.

z-score sum (the default). Over all candidates, those of any retriever, with m the mean and d the standard deviation
of one retriever's scores for them:

    fused(b) = sum over retrievers of  weight * (score(b) - m) / d          (0 where d is 0)

What a retriever did not return has its lowest score where its list is full, since it lies just beyond or further;
where the list is not full, 0: it shares no word, no edge, no time. (Cosines have no such zero; those of candidates
that others found are looked up beforehand, in `fanout`, and what has no vector gets the lowest.) All retrievers are
thus compared over the same beliefs. Measured on LoCoMo, over each one's own list instead, semantic scores, which
are close to each other at the top, outweigh the rest: recall@10 is .746 to .751 (by what a missed belief gets)
where it is .760 here.

Reciprocal ranks (Cormack, Clarke and Büttcher 2009) with k = 60:  fused(b) = sum of weight / (k + rank).

Example, with a depth of 3: keyword finds a 12, b 9, c 6 (full), semantic b .9, a .8, c .7, and d .8, which keyword did
not return. Keyword: d has 6; m = 8.25, d = 2.487; z of a, b, c, d: 1.508, .302, -.905, -.905. Semantic: m = .8,
d = .0707; z: 0, 1.414, -1.414, 0. Fused: b 1.716, a 1.508, d -.905, c -2.319.
"""

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from schemas.query import Fusion
from stores.ports import Hit

WEIGHTS: Mapping[str, float] = {"semantic": 1.0, "keyword": 1.0, "spread": 0.05, "temporal": 0.3}
"""Semantic and keyword rank by the question's own words. Spread ranks by what is near to their hits, which repeats
what they said, and temporal by time, which many share: both break ties and bring in what the first two miss.
Measured on five LoCoMo conversations (760 questions): recall@10 is .768 with the first two alone and .771 with
temporal at 0.3; spread costs .003 of that, at 0.05 as at 0.1. It is there for what shares an entity with the question,
and no words."""

OWN_WEIGHT = 0.5
"""A caller's own retriever."""

RRF_K = 60
_NO_ZERO = ("semantic",)


class Fused(msgspec.Struct, frozen=True):
    """A belief id with its fused score and its score by each retriever that returned it."""

    belief: str
    score: float
    scores: dict[str, float]


def fuse(hits: Mapping[str, Sequence[Hit]], fusion: Fusion, depth: int) -> list[Fused]:
    """All beliefs of all hits, best first; equal scores go by id, so that equal hits give equal rankings.

    A retriever that gave `depth` hits has more that it did not give.
    """
    scores: dict[str, dict[str, float]] = {}
    for name in sorted(hits):
        for hit in hits[name]:
            scores.setdefault(hit.belief, {})[name] = hit.score
    fused = [0.0] * len(scores)
    for name in sorted(hits):
        if not hits[name]:
            continue
        weight = WEIGHTS.get(name, OWN_WEIGHT)
        parts = _zscores(name, hits[name], scores, depth) if fusion == "zscore" else _reciprocal(hits[name], scores)
        fused = [score + weight * part for score, part in zip(fused, parts, strict=True)]
    found = [Fused(belief, score, scores[belief]) for belief, score in zip(scores, fused, strict=True)]
    return sorted(found, key=_best_first)


def _zscores(name: str, hits: Sequence[Hit], beliefs: Collection[str], depth: int) -> list[float]:
    """The part of each belief, in their order; zeros where the scores do not differ."""
    given = {hit.belief: hit.score for hit in hits}
    lowest = min(given.values())
    absent = lowest if len(hits) >= depth or name in _NO_ZERO else min(0.0, lowest)
    values = [given.get(belief, absent) for belief in beliefs]
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / len(values))
    if deviation <= 1e-9 * max(1.0, abs(mean)):
        return [0.0] * len(values)
    return [(value - mean) / deviation for value in values]


def _reciprocal(hits: Sequence[Hit], beliefs: Collection[str]) -> list[float]:
    given = {hit.belief: 1.0 / (RRF_K + rank) for rank, hit in enumerate(hits, start=1)}
    return [given.get(belief, 0.0) for belief in beliefs]


def _best_first(candidate: Fused) -> tuple[float, str]:
    return (-candidate.score, candidate.belief)
