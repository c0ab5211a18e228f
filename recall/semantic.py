"""Semantic retrieval: statements whose vectors lie nearest to the question's."""

from collections.abc import Sequence

import numpy as np

from recall.question import Question, Sources
from stores.ports import Hit


def retrieve(question: Question, sources: Sources) -> list[Hit] | None:
    """Beliefs by the cosine of their statement and the question; None without an embedder."""
    vector = question.vector.get()
    if vector is None:
        return None
    return sources.index.semantic(question.filter, vector, question.depth)


def likeness(question: Question, sources: Sources, beliefs: Sequence[str]) -> list[Hit]:
    """The cosine of these beliefs that the asker may see and that have a vector, in the order given."""
    vector = question.vector.get()
    if vector is None or not beliefs:
        return []
    stored = sources.index.vectors(question.query.bank, beliefs, question.filter.readers)
    found = [belief for belief in beliefs if belief in stored]
    if not found:
        return []
    cosines = np.stack([stored[belief] for belief in found]).astype(np.float32, copy=False) @ vector
    return [Hit(belief, cosine) for belief, cosine in zip(found, cosines.tolist(), strict=True)]
