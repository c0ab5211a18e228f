"""Hands commands to a Ray cluster through its job server, and follows them."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ray.job_submission import JobDetails, JobStatus, JobSubmissionClient
from ray.util.state import list_nodes
from ray.util.state.exception import RayStateApiException

from actors.placing import Resources
from actors.shared import Pulse
from actors.submitted import Heard, Submission, as_line, place_of
from schemas.errors import StoreUnavailable

_ASK_SECONDS = 20
_LOOK_SECONDS = 0.5
_MOST_NODES = 10_000
_ENDED = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.STOPPED)


class RaySubmission(Submission):
    """The job server of a Ray cluster, as `http://host:8265`."""

    def __init__(self, address: str) -> None:
        host, port = place_of(address)
        self._address = address.rstrip("/")
        if not Pulse(f"{host}:{port}").beats():
            raise StoreUnavailable(
                f"no job server of a Ray cluster answers at {address}; `ray start --head` opens one with ray[default]"
            )
        with self._errors():
            self._client = JobSubmissionClient(self._address)

    def nodes(self) -> list[Resources]:
        """See `Submission.nodes`."""
        with self._errors():
            found = list_nodes(self._address, limit=_MOST_NODES, timeout=_ASK_SECONDS, detail=True)
        return [
            Resources(float(node.resources_total.get("CPU", 0.0)), float(node.resources_total.get("GPU", 0.0)))
            for node in found
            if node.state == "ALIVE"
        ]

    def submit(self, command: Sequence[str], resources: Resources) -> str:
        """See `Submission.submit`."""
        with self._errors():
            name: str = self._client.submit_job(
                entrypoint=as_line(command),
                entrypoint_num_cpus=resources.cpus,
                entrypoint_num_gpus=resources.gpus,
            )
        return name

    def follow(self, name: str, heard: Heard) -> int:
        """See `Submission.follow`."""
        told = 0
        while True:
            with self._errors():
                job: JobDetails = self._client.get_job_info(name)
                log: str = self._client.get_job_logs(name)
            if log[told:]:
                heard(log[told:])
                told = len(log)
            if job.status in _ENDED:
                return _code(job, heard)
            time.sleep(_LOOK_SECONDS)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError, RayStateApiException) as error:
            raise StoreUnavailable(f"the job server at {self._address} failed: {error}") from error


def _code(job: JobDetails, heard: Heard) -> int:
    if job.driver_exit_code is not None:
        return int(job.driver_exit_code)
    if job.status == JobStatus.SUCCEEDED:
        return 0
    heard(f"{job.status.value.lower()}: {job.message or 'no reason was given'}\n")
    return 1
