"""Runs a job over shards as Ray actors in a process that kills itself after the job's first page."""

import os
import signal
import sys

import jobs.moving
from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings, MeshSettings, Settings, StoreSettings
from schemas.job import JobRun


def main(folder: str, job: str, moment: str) -> None:
    """Never returns where the job has more than one page."""
    jobs.moving.PAGE = 5
    settings = Settings(
        mesh=MeshSettings(folder=folder, runtime="ray", shards=2),
        stores=StoreSettings(embedder="none:"),
        jobs=JobSettings(archive_after_days=1.0),
    )
    with Memory(settings=settings, clock=lambda: int(moment)) as memory:
        memory.run_job(job, told=_die)


def _die(_: JobRun) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
