"""The reindex job: every row of a bank's index is made anew from the graph."""

from jobs.job import Page, Work

_MARKED = "marked"


def reindex(work: Work, after: str) -> Page:
    """First forget what is indexed, then index what is not; a run that stopped goes on with what is left."""
    if not work.applies:
        return Page(after=None, counts={"beliefs": work.graph.counts(work.bank)["beliefs"]})
    if after != _MARKED:
        return Page(after=_MARKED, counts={"beliefs": work.graph.mark_unindexed(work.bank)})
    return Page(after=None, counts={"indexed": work.mesh.catch_up(work.clock())})
