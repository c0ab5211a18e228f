"""The answer to a question: what was judged to fit, the session's recent turns, a budget kept, and an id."""

from collections.abc import Sequence

from recall.budget import within_budget
from recall.judge import Judged
from recall.question import Question
from recall.seen import Seen
from schemas.answer import Answer, Found, RetrieverReport
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.query import Query


def answer_from(question: Question, judged: Judged, seen: Seen, reports: tuple[RetrieverReport, ...]) -> Answer:
    """Put an answer together; with `max_tokens`, its structured rendering keeps to the budget."""
    query = question.query
    whole = Answer(
        id=_id(query, judged.found),
        bank=query.bank,
        question=query.text,
        moment=query.moment,
        found=tuple(judged.found),
        needs_fresh_look=tuple(judged.needs_fresh_look),
        recent=recent_turns(query, seen),
        left_out=judged.left_out,
        reports=reports,
    )
    return within_budget(whole, query.max_tokens)


def recent_turns(query: Query, seen: Seen) -> tuple[Evidence, ...]:
    """The last turns of the session that the asker may see, in order."""
    if not query.recent:
        return ()
    return tuple(seen.sight.allowed(seen.graph.session(query.bank, query.session, query.recent)))


def _id(query: Query, found: Sequence[Found]) -> str:
    """Who asked what when, and what was found at which version: the same answer has the same id."""
    groups = sorted(query.principal.groups)
    beliefs = [f"{one.belief.id}@{one.belief.version}" for one in found]
    asked = (query.bank, query.text, str(query.now), str(query.moment), str(query.known_at), query.principal.id)
    return "a" + digest(*asked, str(len(groups)), *groups, *beliefs)
