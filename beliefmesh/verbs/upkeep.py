"""Verbs for jobs: which there are, running one, what the runs did."""

from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from beliefmesh.keeping import usage_counted
from beliefmesh.verbs.listing import MOST_LISTED, not_a_place
from beliefmesh.verbs.reflecting import Reflecting
from beliefmesh.work import run_on
from jobs.catalogue import JOBS, job_named
from jobs.compare import all_sides, comparable, sides_of, treats_by
from jobs.run import Progress
from schemas.entity import Entity
from schemas.errors import InvalidInput
from schemas.job import JobRun, JobSides, ListedJob, Mode
from schemas.limits import check_bank, check_number, shown

_MODES: tuple[Mode, ...] = ("apply", "shadow", "dry run")
_MOST_RUNS = 10_000
_MOST_DIGITS = 19


class Upkeep(Reflecting):
    """Scheduled work, by hand."""

    def jobs(self, *, bank: str | None = None) -> list[ListedJob]:
        """The jobs that there are, how often each runs by itself, and its last run on the bank."""
        name, settings = self._bank(bank), self.home.settings.jobs
        held = msgspec.structs.asdict(settings)
        return [
            ListedJob(
                name=job.name,
                summary=job.summary,
                hours=held.get(job.interval, 0.0) if settings.enabled else 0.0,
                cpus=job.cpus,
                gpus=job.gpus,
                arguments=job.told({}, held),
                last=next(iter(self.home.ledger.runs(job.name, name, 1)), None),
            )
            for job in JOBS.values()
        ]

    def run_job(
        self,
        name: str,
        *,
        bank: str | None = None,
        mode: Mode = "apply",
        arguments: Mapping[str, object] | None = None,
        far: bool = False,
        told: Progress = lambda _: None,
        enough: Callable[[], bool] = lambda: False,
    ) -> JobRun:
        """Run a job on a bank to its end, or until `enough`; the next call of the same mode then goes on from there.

        `arguments` are by name, as text; those left out are as the settings say, and `far` ones may name no file.
        `told` hears of every page. Raises NotFound for an unknown job, Busy while another one runs on the bank.
        """
        place = self._bank(bank)
        run = run_on(
            self.home,
            name,
            place,
            check_mode(mode),
            arguments=arguments,
            far=far,
            summarise=self.summariser(place),
            told=told,
            enough=enough,
        )
        if run.mode == "apply" and not self.home.streaming:
            self.home.worker.drain()
        return run

    def job_sides(self, *, limit: int | None = None, after: str = "") -> JobSides:
        """The banks that scheduled jobs change (`jobs.banks`, `jobs.share`) held against those in shadow mode.

        All banks; with a `limit`, so many by their names after a place, and the pages add up to the whole.
        """
        if limit is None:
            return all_sides(lambda place: self.job_sides(limit=MOST_LISTED, after=place))
        check_number(limit, "limit", 1, MOST_LISTED)
        self.home.require_open()
        usage_counted(self.home)
        home, settings = self.home, self.home.settings.jobs
        treats = treats_by(settings.banks, settings.share)
        rest = [bank for bank in comparable(home.graph, home.archive) if bank > after]
        sides = sides_of(rest[:limit], home.graph, home.ledger, home.archive, home.usage, treats)
        return JobSides(sides, rest[limit - 1] if len(rest) > limit else "")

    def is_known(self, bank: str) -> bool:
        """Whether a bank holds anything, be it in the archive."""
        return check_bank(bank) in self.banks() or self.home.archive.size(bank) > 0

    def summariser(self, bank: str) -> Callable[[Entity], bool]:
        """Writes the summary of an entity of a bank again if it is out of date, and says whether it was."""
        return partial(self._refreshed, bank)

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
