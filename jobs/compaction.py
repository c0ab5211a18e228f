"""The compaction job: what a source said again, later, leaves its slot for the archive (beliefs/compaction.py)."""

from beliefs.compaction import spent
from jobs.job import Page, Work
from jobs.moving import Choose, move_page
from schemas.archived import Archived, archived
from schemas.instant import Instant
from schemas.slot import StoredSlot

_WHY = "the same voice said the same again later"


def compact(work: Work, after: str) -> Page:
    """Move what is spent in a page of slots; no confidence and no holder changes, then or later."""
    return move_page(work, after, repeats(work.clock()), _WHY)


def repeats(now: Instant) -> Choose:
    """Chooses what is spent of a slot, each piece with the one that stands for it."""

    def chosen(stored: StoredSlot) -> list[Archived]:
        known = {piece.id: piece for piece in stored.evidence}
        return [archived(known[id], known[stands]) for id, stands in spent(stored.evidence, now).items()]

    return chosen
