"""What the jobs of an opened mesh work on."""

from collections.abc import Iterator
from contextlib import contextmanager

from beliefmesh.home import Home
from jobs.catalogue import job_named
from jobs.job import Work
from jobs.run import brought_back
from schemas.instant import DAY
from schemas.job import Mode


def work_on(home: Home, bank: str, mode: Mode = "apply") -> Work:
    """One bank of the mesh, for a job."""
    return Work(
        mesh=home.mesh,
        graph=home.graph,
        bank=bank,
        clock=home.clock,
        announce=home.worker.announce,
        archive=home.archive,
        archive_after=round(home.settings.jobs.archive_after_days * DAY),
        mode=mode,
    )


@contextmanager
def unarchived(home: Home, bank: str) -> Iterator[None]:
    """All evidence of the bank is in its slots, and stays there, while the block lasts; Busy while a job runs on it."""
    with brought_back(job_named("restore"), work_on(home, bank), home.ledger):
        home.worker.drain()
        yield
