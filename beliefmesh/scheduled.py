"""Jobs run by their schedule while a mesh is up, and banks kept within their budgets meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings
from beliefmesh.work import run_on
from jobs.budget import is_bounded
from jobs.catalogue import JOBS
from jobs.schedule import Scheduler, due_jobs, is_treated
from jobs.within import Keeper
from schemas.budget import Use
from schemas.errors import Busy
from schemas.instant import HOUR, Instant
from schemas.job import JobRun

log_events = structlog.get_logger("jobs")


@contextmanager
def scheduled(memory: Memory) -> Iterator[None]:
    """Run jobs by the memory's settings while the block lasts; on leaving, the page in hand is finished."""
    settings, home = memory.home.settings.jobs, memory.home
    if not settings.enabled or not any(intervals_of(settings).values()):
        yield
        return
    keeper = keeper_of(memory)

    def run(job: str, bank: str, enough: Callable[[], bool]) -> JobRun:
        treated = is_treated(bank, settings.banks, settings.share)
        with keeper.turn:
            done = run_on(
                home,
                job,
                bank,
                "apply" if treated else "shadow",
                enough=enough,
                waits=keeper.waits,
                summarise=memory.summariser(bank),
            )
            if job == "budget" and treated:
                keeper.settled(bank)
        if treated and not home.streaming:
            home.worker.drain()
        return done

    scheduler = Scheduler(lambda: _due(memory, keeper), run)
    scheduler.start()
    if settings.budget_hours:
        home.mesh.watch = keeper.admit
    try:
        yield
    finally:
        home.mesh.watch = None
        scheduler.stop()


def _due(memory: Memory, keeper: Keeper) -> list[tuple[str, str]]:
    """(job, bank) of what is to run now: first the budgets that press, then what its interval makes due."""
    home = memory.home
    banks = home.graph.banks()
    found = due_jobs(intervals_of(home.settings.jobs), banks, home.ledger.last_end, home.clock())
    regular = [(job, bank) for job, bank in found if job != "budget" or is_bounded(home.graph.policy(bank).budget)]
    pressed = [("budget", bank) for bank in keeper.pressed(banks)]
    return [*pressed, *(one for one in regular if one not in pressed)]


def keeper_of(memory: Memory) -> Keeper:
    """A keeper of the memory's banks."""
    settings, home = memory.home.settings.jobs, memory.home

    def measure(bank: str) -> Use | None:
        last = home.usage.last_use(bank)
        return last[0] if last else None

    def relieve(bank: str) -> None:
        try:
            run_on(home, "budget", bank, "apply", waits=lambda: True)
        except Busy as error:
            log_events.info("budget.waits", bank=bank, reason=str(error))
        except Exception as error:
            # The stream of every bank waits here: an archive that is away must not stop it.
            log_events.error("job.failed", job="budget", bank=bank, error=type(error).__name__, reason=str(error))

    return Keeper(home.graph, measure, relieve, lambda bank: is_treated(bank, settings.banks, settings.share))


def intervals_of(settings: JobSettings) -> dict[str, Instant]:
    """Microseconds from the end of a run of each job to the next; 0: never by itself."""
    return {name: round(getattr(settings, job.interval, 0.0) * HOUR) for name, job in JOBS.items()}
