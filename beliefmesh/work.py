"""What the jobs of an opened mesh work on."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from beliefmesh.home import Home
from beliefmesh.keeping import scales_of
from jobs.catalogue import job_named
from jobs.job import Budgeting, Work
from jobs.run import brought_back
from schemas.instant import DAY
from schemas.job import Mode

_MEGABYTE = 1_048_576


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
        budgeting=Budgeting(
            scales=cache(lambda: scales_of(home, bank)),
            plans=home.plans,
            keep_use=lambda use: home.usage.keep_use(bank, use, home.clock()),
            archive_bytes=round(home.settings.jobs.archive_megabytes * _MEGABYTE),
        ),
        mode=mode,
    )


@contextmanager
def unarchived(home: Home, bank: str) -> Iterator[None]:
    """All evidence of the bank is in its slots, and stays there, while the block lasts; Busy while a job runs on it."""
    with brought_back(job_named("restore"), work_on(home, bank), home.ledger):
        home.worker.drain()
        yield
