"""Which jobs there are."""

from collections.abc import Mapping

from jobs.archive import archive, restore
from jobs.budget import keep_budget
from jobs.compaction import compact
from jobs.decay import decay
from jobs.job import Job
from jobs.reindex import reindex
from schemas.errors import NotFound

JOBS: Mapping[str, Job] = {
    job.name: job
    for job in (
        Job(name="decay", summary="decides again what time has changed: only slots that are due", step=decay),
        Job(
            name="compaction",
            summary="archives what the same source said again, later; changes no belief",
            step=compact,
        ),
        Job(name="archive", summary="archives slots that nobody speaks of and in which nothing is held", step=archive),
        Job(name="budget", summary="makes room in a bank that is near the bounds of its budget", step=keep_budget),
        Job(name="restore", summary="brings everything that is archived back", step=restore, of="files"),
        Job(name="reindex", summary="makes every row of the index anew from the graph", step=reindex, of="beliefs"),
    )
}


def job_named(name: str) -> Job:
    """The job of a name. Raises NotFound."""
    if name not in JOBS:
        raise NotFound(f"there is no job {name!r:.80}; there are {', '.join(JOBS)}")
    return JOBS[name]
