"""Whether a belief, as its asker sees it, is what the query asks for; and if not, why."""

from beliefs.scope import covers
from recall.question import Question
from recall.seen import SeenSlot
from schemas.belief import Belief
from schemas.claim import Scope
from schemas.entity import entity_id
from schemas.identity import normal_name
from schemas.query import Query


def misfit(belief: Belief, seen: SeenSlot, question: Question, confidence: float) -> str:
    """The reason to leave a belief out, empty when it fits; the words that `Answer.left_out` counts by."""
    query = question.query
    if question.subjects and not _about(seen, question):
        return "entity"
    if query.attribute is not None and not _has_attribute(belief, query.attribute):
        return "attribute"
    if query.networks and belief.network not in query.networks:
        return "network"
    if belief.status not in query.statuses:
        return "status"
    if query.scope and not answers(belief, query.scope):
        return "scope"
    if not _occurred_within(belief, query):
        return "time"
    return "confidence" if confidence < query.min_confidence else ""


def answers(belief: Belief, asked: Scope) -> bool:
    """Whether a belief speaks for the case asked about: its scope covers it, and none of its exceptions does."""
    return covers(belief.scope, asked) and not any(covers(exception, asked) for exception in belief.exceptions)


def instead_of(belief: Belief, seen: SeenSlot, asked: Scope) -> list[Belief]:
    """The beliefs of the slot that answer for the case in place of one whose exception it is."""
    if not asked or answers(belief, asked) or not covers(belief.scope, asked):
        return []
    return [other for other in seen.slot.beliefs if other.scope in belief.exceptions and answers(other, asked)]


def _about(seen: SeenSlot, question: Question) -> bool:
    bank, subjects = question.query.bank, question.subjects
    if entity_id(bank, seen.slot.entity) in subjects:
        return True
    return any(entity_id(bank, entity) in subjects for piece in seen.evidence for entity in piece.mentions)


def _has_attribute(belief: Belief, attribute: str) -> bool:
    return belief.attribute is not None and normal_name(belief.attribute) == normal_name(attribute)


def _occurred_within(belief: Belief, query: Query) -> bool:
    """Whether it occurred (else: was last supported) within the times asked about, as in `SearchIndex.by_time`."""
    if query.occurred_from is None and query.occurred_to is None:
        return True
    start = belief.newest_support if belief.occurred_start is None else belief.occurred_start
    if start is None:
        return False
    end = start if belief.occurred_end is None else belief.occurred_end
    after = query.occurred_from is None or end >= query.occurred_from
    return after and (query.occurred_to is None or start <= query.occurred_to)
