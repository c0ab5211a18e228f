"""The reindex job: every row of a bank's index is made anew from the graph, by the model that is set now."""

from jobs.job import PAGE, Page, Work
from schemas.slot import Change

_MARKED = "marked"
_SLOTS = "slots/"


def reindex(work: Work, after: str) -> Page:
    """First forget what is indexed, then index a page of slots; at the end what came in between."""
    if not work.applies:
        counts = work.graph.counts(work.bank)
        return Page(after=None, counts={"beliefs": counts["beliefs"], "behind": counts["unindexed"]})
    if not after:
        return Page(after=_MARKED, counts={"beliefs": work.graph.mark_unindexed(work.bank)})
    ids = work.graph.scan(work.bank, after.removeprefix(_MARKED).removeprefix(_SLOTS), PAGE)
    if not ids:
        return Page(after=None, counts={"indexed": work.mesh.catch_up(work.clock())})
    return Page(after=_SLOTS + ids[-1], counts={"indexed": work.mesh.index(_again(work, ids), work.clock())})


def _again(work: Work, ids: list[str]) -> list[Change]:
    """To an indexer: make all rows of these slots again."""
    return [
        Change(bank=work.bank, slot=id, entity=slot.entity, slot_version=slot.version, at=work.clock(), refresh=(id,))
        for id, slot in work.graph.slots(work.bank, ids).items()
    ]
