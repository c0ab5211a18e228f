"""Jobs run by their schedule while a mesh is up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings
from jobs.budget import is_bounded
from jobs.schedule import Scheduler, due_jobs, is_treated
from schemas.instant import HOUR, Instant
from schemas.job import JobRun


@contextmanager
def scheduled(memory: Memory) -> Iterator[None]:
    """Run jobs by the memory's settings while the block lasts; on leaving, the page in hand is finished."""
    settings, home = memory.home.settings.jobs, memory.home

    def due() -> list[tuple[str, str]]:
        found = due_jobs(intervals_of(settings), home.graph.banks(), home.ledger.last_end, home.clock())
        return [(job, bank) for job, bank in found if job != "budget" or is_bounded(home.graph.policy(bank).budget)]

    def run(job: str, bank: str, enough: Callable[[], bool]) -> JobRun:
        treated = is_treated(bank, settings.banks, settings.share)
        return memory.run_job(job, bank=bank, mode="apply" if treated else "shadow", enough=enough)

    if not settings.enabled or not any(intervals_of(settings).values()):
        yield
        return
    scheduler = Scheduler(due, run)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.stop()


def intervals_of(settings: JobSettings) -> dict[str, Instant]:
    """Microseconds from the end of a run of each job to the next; 0: never by itself."""
    return {
        "decay": round(settings.decay_hours * HOUR),
        "budget": round(settings.budget_hours * HOUR),
        "compaction": round(settings.compaction_hours * HOUR),
        "archive": round(settings.archive_hours * HOUR),
        "reindex": round(settings.reindex_hours * HOUR),
    }
