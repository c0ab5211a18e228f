"""The archive job, which moves whole slots that are dormant, and the restore job, which brings everything back."""

from beliefs.dormant import is_dormant
from jobs.job import Page, Work
from jobs.moving import move_page, one_by_one
from schemas.archived import Archived, archived
from schemas.instant import DAY
from schemas.slot import StoredSlot

_WHY = "nothing is held there any more, and nobody spoke of it for long"


def archive(work: Work, after: str) -> Page:
    """Move the dormant ones of a page of slots, with all their evidence."""
    now, policy = work.clock(), work.graph.policy(work.bank)
    silent = round(float(work.arguments["after_days"]) * DAY)

    def chosen(stored: StoredSlot) -> list[Archived]:
        if not is_dormant(stored.evidence, policy, now, silent):
            return []
        return [archived(piece) for piece in stored.evidence]

    return move_page(work, after, one_by_one(chosen), _WHY)


def restore(work: Work, after: str) -> Page:
    """Bring the pieces of one file of the archive back, as if they had been told again; then the file goes.

    What was forgotten on request meanwhile is refused by the shards, and goes with the file.
    """
    names = work.archive.files(work.bank, after, 1)
    if not names:
        swept = work.archive.sweep(work.bank) if work.applies else 0
        return Page(after=None, counts={"swept": swept} if swept else {})
    pieces = work.archive.read(work.bank, names[0])
    if work.applies:
        for outcome in work.mesh.apply({0: [piece.evidence for piece in pieces]}, work.clock()).values():
            if isinstance(outcome, Exception):
                raise outcome
            work.announce(outcome)
        work.archive.drop(work.bank, names[0])
    return Page(after=names[0], counts={"files": 1, "restored": len(pieces)})
