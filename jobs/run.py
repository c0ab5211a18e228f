"""Runs a job on a bank: under a lease, page by page, from where it stopped, and keeps what it did."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread
from uuid import uuid4

import msgspec

from jobs.job import Job, Page, Work
from schemas.errors import BeliefmeshError, StoreUnavailable
from schemas.instant import Instant
from schemas.job import JobRun
from stores.ledger import Ledger
from stores.owner import new_owner

_EXAMPLES = 20
_BEAT_SECONDS = 60.0

Progress = Callable[[JobRun], None]


def run_job(
    job: Job,
    work: Work,
    ledger: Ledger,
    *,
    told: Progress = lambda _: None,
    enough: Callable[[], bool] = lambda: False,
    rest: Callable[[float], object] = lambda _: None,
) -> JobRun:
    """Run the job to its end, or until `enough`; `told` hears of every page, `rest` after it how long it took.

    A run that a kill, a failure or `enough` has stopped is gone on with by the next call of the same job, bank, mode
    and arguments. The cursor is kept after each page's effect, so that a page may run twice and none is left out.
    Raises Busy while another job runs on the bank, and what a page raised, after it was noted.
    """
    with alone_on(work, ledger) as owner, _kept(work, ledger, owner):
        return _run(job, work, ledger, owner, told, enough, rest)


@contextmanager
def brought_back(restore: Job, work: Work, ledger: Ledger) -> Iterator[None]:
    """Nothing of the bank is archived while the block lasts, and no job runs on it. Raises Busy while one does."""
    with alone_on(work, ledger) as owner:
        _run(restore, work, ledger, owner, lambda _: None, lambda: False, afresh=True)
        with _kept(work, ledger, owner):
            yield
        ledger.wipe()


@contextmanager
def alone_on(work: Work, ledger: Ledger) -> Iterator[str]:
    """Hold the lease of the bank, under the name given, while the block lasts. Raises Busy."""
    owner = new_owner()
    ledger.take(work.bank, owner, work.clock())
    try:
        yield owner
    finally:
        ledger.release(work.bank, owner)


@contextmanager
def _kept(work: Work, ledger: Ledger, owner: str) -> Iterator[None]:
    """Let others hear of the lease's owner while the block lasts, however long that is."""
    over = Event()

    def beat() -> None:
        while not over.wait(_BEAT_SECONDS):
            with suppress(StoreUnavailable):
                ledger.beat(work.bank, owner, work.clock())

    beating = Thread(target=beat, name="lease", daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


def _run(
    job: Job,
    work: Work,
    ledger: Ledger,
    owner: str,
    told: Progress,
    enough: Callable[[], bool],
    rest: Callable[[float], object] = lambda _: None,
    *,
    afresh: bool = False,
) -> JobRun:
    """Go on with the unfinished run; `afresh`: begin a new one, as a cursor may have passed what was archived since."""
    unfinished = None if afresh else ledger.unfinished(job.name, work.bank, work.mode)
    run = unfinished if unfinished and unfinished.arguments == work.arguments else _new(job, work)
    while run.ended is None and not enough():
        began = time.perf_counter()
        try:
            page = job.step(work, run.cursor)
        except BeliefmeshError as error:
            ledger.save(msgspec.structs.replace(run, failed=str(error)), owner, work.clock())
            raise
        run = _further(run, page, work.clock())
        ledger.save(run, owner, work.clock())
        told(run)
        if run.ended is None:
            rest(time.perf_counter() - began)
    return run


def _new(job: Job, work: Work) -> JobRun:
    return JobRun(
        id=f"j{uuid4().hex[:16]}",
        job=job.name,
        bank=work.bank,
        mode=work.mode,
        started=work.clock(),
        arguments=dict(work.arguments),
    )


def _further(run: JobRun, page: Page, now: Instant) -> JobRun:
    return msgspec.structs.replace(
        run,
        ended=now if page.after is None else None,
        cursor=page.after or "",
        pages=run.pages + 1,
        counts=_sum(run.counts, page.counts),
        reasons=_sum(run.reasons, page.reasons),
        figures=run.figures | page.figures | _sums(run.figures, page.sums),
        examples=(*run.examples, *page.examples)[:_EXAMPLES],
        bytes=run.bytes + page.bytes,
        notes=(*run.notes, *page.notes)[:_EXAMPLES],
        failed="",
    )


def _sums(figures: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    return {name: figures.get(name, 0.0) + amount for name, amount in more.items()}


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return dict(Counter(one) + Counter(other))
