"""The verbs for jobs of a mesh elsewhere."""

from collections.abc import Mapping

from beliefmesh.remote_verbs.connected import Connected
from beliefmesh.remote_verbs.sending import segment
from beliefmesh.verbs.listing import MOST_LISTED
from jobs.compare import all_sides
from jobs.run import Progress
from schemas.job import JobRun, JobRuns, JobSides, ListedJob, ListedJobs, Mode

_SECONDS_AT_ONCE = 5


class RemoteUpkeep(Connected):
    """Jobs of another process, run a few seconds at a time, so that no request takes long."""

    def jobs(self, *, bank: str | None = None) -> list[ListedJob]:
        """The jobs that there are, with each one's last run on the bank."""
        return list(self._get(f"{self._in(bank)}/jobs", ListedJobs).jobs)

    def run_job(
        self,
        name: str,
        *,
        bank: str | None = None,
        mode: Mode = "apply",
        arguments: Mapping[str, object] | None = None,
        told: Progress = lambda _: None,
    ) -> JobRun:
        """Run a job on a bank to its end, as `Memory.run_job` does; `told` hears of it every few seconds."""
        path = f"{self._in(bank)}/jobs/{segment(name, 'job')}"
        body = {"arguments": dict(arguments or {})}
        while True:
            run = self._post(path, body, JobRun, asked={"mode": mode, "seconds": _SECONDS_AT_ONCE})
            told(run)
            if run.ended is not None:
                return run

    def job_runs(self, name: str | None = None, *, bank: str | None = None, limit: int = 20) -> list[JobRun]:
        """What jobs did, newest first."""
        return list(self._get("/v1/job-runs", JobRuns, asked={"job": name, "bank": bank, "limit": limit}).runs)

    def job_sides(self, *, limit: int | None = None, after: str = "") -> JobSides:
        """The banks that scheduled jobs change held against those in shadow mode, as `Memory.job_sides` does."""
        if limit is None:
            return all_sides(lambda place: self.job_sides(limit=MOST_LISTED, after=place))
        return self._get("/v1/job-sides", JobSides, asked={"limit": limit, "cursor": after or None})

    def job_run(self, id: str) -> JobRun:
        """One run of a job."""
        return self._get(f"/v1/job-runs/{segment(id, 'id')}", JobRun)
