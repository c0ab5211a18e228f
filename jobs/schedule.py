"""When jobs run: what is due by their intervals, which banks are treated, and the thread that runs them in time."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

import structlog

from schemas.errors import BeliefmeshError, Busy
from schemas.identity import digest
from schemas.instant import Instant

LOOK_SECONDS = 15.0

LastEnd = Callable[[str, str], Instant | None]
Run = Callable[[str, str, Callable[[], bool]], object]

log_events = structlog.get_logger("jobs")


def due_jobs(
    intervals: Mapping[str, Instant], banks: Iterable[str], last_end: LastEnd, now: Instant
) -> Iterator[tuple[str, str]]:
    """(job, bank) of what is to run now; an interval of 0 means never, and what never ran is due at once."""
    wanted = {job: every for job, every in intervals.items() if every > 0}
    for bank in banks:
        for job, every in wanted.items():
            ended = last_end(job, bank)
            if ended is None or now - ended >= every:
                yield job, bank


def is_treated(bank: str, patterns: str, share: float) -> bool:
    """Whether jobs change this bank: it matches one of the patterns (separated by commas; none: all) and the share.

    The share is taken by a stable hash of the name, so that a bank stays on its side.
    """
    named = [pattern.strip() for pattern in patterns.split(",") if pattern.strip()]
    if named and not any(fnmatchcase(bank, pattern) for pattern in named):
        return False
    return int(digest("treatment", bank)[:8], 16) < share * 16**8


class Scheduler:
    """A thread that runs what is due, one job after another, until `stop`."""

    def __init__(self, due: Callable[[], Iterable[tuple[str, str]]], run: Run, look: float = LOOK_SECONDS) -> None:
        self._due = due
        self._run = run
        self._look = look
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the page in hand; the run goes on when a scheduler starts again."""
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                for job, bank in list(self._due()):
                    if self._stop.is_set():
                        return
                    self._run_one(job, bank)
            except BeliefmeshError as error:
                log_events.error("jobs.paused", reason=str(error))
            self._stop.wait(self._look)

    def _run_one(self, job: str, bank: str) -> None:
        """Run one job; a failure is noted, and the others still have their turn."""
        try:
            self._run(job, bank, self._stop.is_set)
        except Busy:
            log_events.info("job.waits", job=job, bank=bank)
        except Exception as error:
            # A thread that ended here would leave a mesh that says it is up and does no upkeep.
            log_events.error("job.failed", job=job, bank=bank, error=type(error).__name__, reason=str(error))
