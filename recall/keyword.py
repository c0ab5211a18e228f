"""Keyword retrieval: statements, with their neighbours in the session, that share words with the question."""

from recall.question import Question, Sources
from stores.ports import Hit


def retrieve(question: Question, sources: Sources) -> list[Hit] | None:
    """Beliefs by BM25."""
    return sources.index.keyword(question.filter, question.query.text, question.depth)
