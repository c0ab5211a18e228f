"""The decay job: slots whose time has come are decided again, and no others (design 10)."""

from collections import Counter

from beliefs.revise import revise
from jobs.job import PAGE, Page, Work
from schemas.instant import Instant
from schemas.slot import BeliefChange, Change

_MORE = 4


def decay(work: Work, after: str) -> Page:
    """Decide a page of the slots that are due (`review_at <= now`).

    What was decided is not due any more, so that each page begins anew. Where nothing is to be changed, `after` counts
    what was seen, and each page is as long as all before it, so that reading them again costs little.
    """
    now = work.clock()
    seen = int(after or 0)
    wanted = PAGE if work.applies else 2 * seen + PAGE
    due = _due(work, now, wanted)
    page = due if work.applies else due[seen:]
    changes = [change for at in range(0, len(page), PAGE) for change in _decided(work, page[at : at + PAGE], now)]
    moves = [moved for change in changes for moved in change.beliefs]
    return Page(
        after=str(seen + len(page)) if len(due) == wanted else None,
        counts={"slots": len(page), "changed": sum(bool(change.beliefs) for change in changes)},
        reasons=dict(Counter(map(_told, moves))),
        examples=tuple(f"belief {moved.id}: {_told(moved)}" for moved in moves),
    )


def _due(work: Work, now: Instant, wanted: int) -> list[str]:
    """The first slots of the bank that are due; the graph knows them of all banks, in one order."""
    asked = wanted
    while True:
        found = work.graph.due(now, asked)
        mine = [slot for bank, slot in found if bank == work.bank]
        if len(mine) >= wanted or len(found) < asked:
            return mine[:wanted]
        asked *= _MORE


def _decided(work: Work, slots: list[str], now: Instant) -> list[Change]:
    if work.applies:
        changes = work.mesh.review([(work.bank, slot) for slot in slots], now)
        work.announce(changes)
        return changes
    policy = work.graph.policy(work.bank)
    stored = work.graph.load_slots(work.bank, slots)
    revisions = [revise(stored[slot], (), policy, now) for slot in slots if slot in stored]
    return [revision.change for revision in revisions if revision.decision is not None]


def _told(moved: BeliefChange) -> str:
    return f"{moved.before or 'new'} to {moved.status}"
