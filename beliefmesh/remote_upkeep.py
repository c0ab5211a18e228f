"""The verbs for jobs of a memory that another process holds."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import quote

import msgspec

from jobs.run import Progress
from schemas.job import JobRun, JobRuns, Mode
from schemas.limits import check_name

_SECONDS_AT_ONCE = 5

Result = TypeVar("Result", bound=msgspec.Struct)


class RemoteUpkeep:
    """Jobs of another process, run a few seconds at a time, so that no request takes long."""

    def run_job(
        self, name: str, *, bank: str | None = None, mode: Mode = "apply", told: Progress = lambda _: None
    ) -> JobRun:
        """Run a job on a bank to its end, as `Memory.run_job` does; `told` hears of it every few seconds."""
        path = f"{self._in(bank)}/jobs/{_segment(name, 'job')}"
        while True:
            run = self._post(path, {}, JobRun, asked={"mode": mode, "seconds": _SECONDS_AT_ONCE})
            told(run)
            if run.ended is not None:
                return run

    def job_runs(self, name: str | None = None, *, bank: str | None = None, limit: int = 20) -> list[JobRun]:
        """What jobs did, newest first."""
        return list(self._get("/v1/job-runs", JobRuns, asked={"job": name, "bank": bank, "limit": limit}).runs)

    def job_run(self, id: str) -> JobRun:
        """One run of a job."""
        return self._get(f"/v1/job-runs/{_segment(id, 'id')}", JobRun)

    @abstractmethod
    def _in(self, bank: str | None) -> str:
        """The path of a bank."""

    @abstractmethod
    def _get(
        self, path: str, kind: type[Result], principal: None = None, asked: Mapping[str, object] | None = None
    ) -> Result:
        """Ask for a struct."""

    @abstractmethod
    def _post(
        self,
        path: str,
        body: object,
        kind: type[Result],
        principal: None = None,
        asked: Mapping[str, object] | None = None,
    ) -> Result:
        """Send a body and get a struct."""


def _segment(text: str, field: str) -> str:
    return quote(check_name(text, field), safe="")
