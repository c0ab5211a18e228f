"""Verbs for jobs: which there are, running one, what the runs did."""

from collections.abc import Callable

from beliefmesh.verbs.bound import Bound
from beliefmesh.verbs.listing import not_a_place
from beliefmesh.work import run_on
from jobs.catalogue import job_named
from jobs.run import Progress
from schemas.errors import InvalidInput
from schemas.job import JobRun, Mode
from schemas.limits import check_bank, shown

_MODES: tuple[Mode, ...] = ("apply", "shadow", "dry run")
_MOST_RUNS = 10_000
_MOST_DIGITS = 19


class Upkeep(Bound):
    """Scheduled work, by hand."""

    def run_job(
        self,
        name: str,
        *,
        bank: str | None = None,
        mode: Mode = "apply",
        told: Progress = lambda _: None,
        enough: Callable[[], bool] = lambda: False,
    ) -> JobRun:
        """Run a job on a bank to its end, or until `enough`; the next call of the same mode then goes on from there.

        `told` hears of every page. Raises NotFound for an unknown job, Busy while another one runs on the bank.
        """
        run = run_on(self.home, name, self._bank(bank), check_mode(mode), told=told, enough=enough)
        if run.mode == "apply" and not self.home.streaming:
            self.home.worker.drain()
        return run

    def job_runs(
        self, name: str | None = None, *, bank: str | None = None, limit: int = 20, after: str = ""
    ) -> list[JobRun]:
        """What jobs did, newest first; of all jobs and all banks where none is named.

        At most `limit`, from after the place of the last one that is known already (`place_of_run`).
        """
        if name is not None:
            job_named(name)
        if not 1 <= limit <= _MOST_RUNS:
            raise InvalidInput("limit", f"is {limit}; it must lie between 1 and {_MOST_RUNS}")
        self.home.require_open()
        return self.home.ledger.runs(name, None if bank is None else check_bank(bank), limit, _run_at(after))

    def job_run(self, id: str) -> JobRun:
        """One run of a job. Raises NotFound."""
        self.home.require_open()
        return self.home.ledger.run(id)


def place_of_run(run: JobRun) -> str:
    """Where a run stands among those listed."""
    return f"{run.started}/{run.id}"


def _run_at(after: str) -> tuple[int, str] | None:
    started, slash, id = after.partition("/")
    if after and not (slash and started.isdecimal() and len(started) < _MOST_DIGITS):
        raise not_a_place(after)
    return (int(started), id) if after else None


def check_mode(mode: object) -> Mode:
    """Accept the name of a mode. Raises InvalidInput."""
    for known in _MODES:
        if mode == known:
            return known
    raise InvalidInput("mode", f"{shown(mode)} is not a mode; use one of {', '.join(_MODES)}")
