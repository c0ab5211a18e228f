"""What the jobs of an opened mesh work on."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from beliefmesh.failure import error_from_builtins
from beliefmesh.gold import read_gold_file
from beliefmesh.home import Home
from beliefmesh.keeping import scales_of, usage_counted, value_files
from jobs.bank_files import BankFiles
from jobs.catalogue import job_named
from jobs.job import Budgeting, Job, Work, digest_age
from jobs.proposed import Proposed
from jobs.rest import Rest
from jobs.run import Progress, brought_back, run_job
from schemas.entity import Entity
from schemas.errors import Busy
from schemas.gold import Gold
from schemas.job import JobRun, Mode
from stores.tracing.spans import span

_MEGABYTE = 1_048_576
_PROPOSALS = "proposals"


def work_on(
    home: Home,
    bank: str,
    job: Job,
    mode: Mode = "apply",
    *,
    arguments: Mapping[str, object] | None = None,
    far: bool = False,
    summarise: Callable[[Entity], bool] = lambda _: False,
) -> Work:
    """One bank of the mesh, for a job with its arguments; see `Job.told`. Raises InvalidInput."""
    told = job.told(arguments or {}, msgspec.structs.asdict(home.settings.jobs), far=far)
    return Work(
        mesh=home.mesh,
        graph=home.graph,
        bank=bank,
        clock=home.clock,
        announce=home.worker.announce,
        archive=home.archive,
        budgeting=Budgeting(
            scales=cache(lambda: scales_of(home, bank, digest_age(told))),
            plans=home.plans,
            keep_use=lambda use: home.usage.keep_use(bank, use, home.clock()),
            archive_bytes=round(home.settings.jobs.archive_megabytes * _MEGABYTE),
        ),
        usage=home.usage,
        count_usage=lambda: usage_counted(home),
        values=value_files(home),
        proposed=proposed_files(home),
        summarise=summarise,
        gold=_gold,
        evaluate=_figures,
        arguments=told,
        embedder=None if home.urls.embedder.startswith("none:") else home.embedder,
        mode=mode,
    )


def run_on(
    home: Home,
    name: str,
    bank: str,
    mode: Mode,
    *,
    arguments: Mapping[str, object] | None = None,
    far: bool = False,
    summarise: Callable[[Entity], bool] = lambda _: False,
    told: Progress = lambda _: None,
    enough: Callable[[], bool] = lambda: False,
    waits: Callable[[], bool] = lambda: False,
) -> JobRun:
    """Run a job on a bank, counted in the metrics; it leaves most of the time to a stream that moves.

    `waits` says that the stream waits for the job, which then does not rest.
    """
    job = job_named(name)
    work = work_on(home, bank, job, mode, arguments=arguments, far=far, summarise=summarise)
    worker = home.worker
    rest = Rest(
        lambda: worker.counts["observations"] + worker.counts["evidence"],
        lambda: worker.at_work > 0 and not waits(),
        lambda: enough() or waits(),
    )
    began, outcome = time.monotonic(), "failed"
    try:
        with span("job", name=name, bank=bank, mode=mode):
            run = run_job(job, work, home.ledger, told=told, enough=enough, rest=rest if home.streaming else _at_once)
        outcome = "stopped" if run.ended is None else "done"
    except Busy:
        outcome = "busy"
        raise
    finally:
        home.tally.ran(name, work.mode, outcome, time.monotonic() - began)
    return run


def _at_once(_: float) -> None:
    """No rest."""


def proposed_files(home: Home) -> BankFiles[Proposed]:
    """Where the merges that a job proposed are."""
    return BankFiles(Path(home.folder.path) / _PROPOSALS, Proposed)


@contextmanager
def unarchived(home: Home, bank: str) -> Iterator[None]:
    """All evidence of the bank is in its slots, and stays there, while the block lasts; Busy while a job runs on it.

    What a job kept that names what may be about to go is gone as well.
    """
    restore = job_named("restore")
    with brought_back(restore, work_on(home, bank, restore), home.ledger):
        proposed_files(home).drop(bank)
        home.worker.drain()
        yield


def _gold(file: str) -> Sequence[Gold]:
    return read_gold_file(Path(file))


def _figures(evaluation: str, data: str) -> Mapping[str, float]:
    """In a process of its own: it opens memories, which stand above the jobs of one, and takes their room."""
    command = [sys.executable, "-m", "beliefmesh.evaluate.chosen", evaluation, data]
    ran = subprocess.run(command, capture_output=True, check=False)
    try:
        told = msgspec.json.decode(ran.stdout)
    except msgspec.DecodeError:
        told = None
    if ran.returncode or not isinstance(told, dict):
        raise error_from_builtins(told, ran.returncode)
    return told
