"""The job summaries: stored summaries of entities from which what lies beneath has moved away are written again."""

from functools import partial

from jobs.job import PAGE, Page, Work
from recall.seen import Seen, Sight
from recall.summary import draft, is_summary
from schemas.entity import Entity
from schemas.query import Principal


def summaries(work: Work, after: str) -> Page:
    """Go through a page of slots, and have those that are summaries written again where they are out of date."""
    ids = work.graph.scan(work.bank, after, PAGE)
    subjects = [slot.entity for slot in work.graph.slots(work.bank, ids).values() if is_summary(slot)]
    refresh = work.summarise if work.applies else partial(_is_outdated, work)
    return Page(
        after=ids[-1] if len(ids) == PAGE else None,
        counts={"slots": len(ids), "summaries": len(subjects), "refreshed": sum(map(refresh, subjects))},
    )


def _is_outdated(work: Work, subject: Entity) -> bool:
    sight = Sight(bank=work.bank, principal=Principal(), moment=work.clock())
    drafted = draft(Seen(work.graph, work.graph.policy(work.bank), sight), subject)
    if not drafted.sentences:
        return False
    return drafted.stored is None or drafted.stored.value != drafted.text
