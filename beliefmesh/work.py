"""What the jobs of an opened mesh work on."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from beliefmesh.home import Home
from beliefmesh.keeping import scales_of
from jobs.catalogue import job_named
from jobs.job import Budgeting, Work
from jobs.rest import Rest
from jobs.run import Progress, brought_back, run_job
from schemas.errors import Busy
from schemas.instant import DAY
from schemas.job import JobRun, Mode

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


def run_on(
    home: Home,
    name: str,
    bank: str,
    mode: Mode,
    *,
    told: Progress = lambda _: None,
    enough: Callable[[], bool] = lambda: False,
    rests: bool = True,
) -> JobRun:
    """Run a job on a bank, counted in the metrics; with `rests` it leaves most of the time to a stream that moves."""
    job, work = job_named(name), work_on(home, bank, mode)
    rest = Rest(lambda: _came(home), enough) if rests and home.streaming else lambda _: 0.0
    began, outcome = time.monotonic(), "failed"
    try:
        run = run_job(job, work, home.ledger, told=told, enough=enough, rest=rest)
        outcome = "stopped" if run.ended is None else "done"
    except Busy:
        outcome = "busy"
        raise
    finally:
        home.tally.ran(name, work.mode, outcome, time.monotonic() - began)
    return run


def _came(home: Home) -> int:
    """How much this process has taken in."""
    return home.worker.counts["observations"] + home.worker.counts["evidence"]


@contextmanager
def unarchived(home: Home, bank: str) -> Iterator[None]:
    """All evidence of the bank is in its slots, and stays there, while the block lasts; Busy while a job runs on it."""
    with brought_back(job_named("restore"), work_on(home, bank), home.ledger):
        home.worker.drain()
        yield
