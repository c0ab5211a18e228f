"""Runs a job in a process that kills itself before its n-th step, then to its end, for every n; prints the last n."""

import os
import signal
import sys
import traceback
from typing import Any

import msgspec

from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings, MeshSettings, Settings, StoreSettings
from beliefmesh.work import work_on
from jobs.catalogue import JOBS
from jobs.run import run_job
from schemas.budget import Budget
from schemas.policy import Policy

MOMENT = 1_781_092_800_000_000
HOSTS = 4


class Killing:
    """Stands before another object and counts the calls of all that share its counter."""

    def __init__(self, behind: Any, left: list[int]) -> None:
        self._behind, self._left = behind, left

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._behind, name)
        if not callable(found):
            return found

        def called(*args: Any, **kwargs: Any) -> Any:
            self._left[0] -= 1
            if self._left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return found(*args, **kwargs)

        return called


def main(root: str, job: str) -> None:
    """Each n in a folder of its own, `killed-n`; beside them `whole`, where nothing was killed."""
    assert died(f"{root}/whole", job, 0) is False
    kill_at = 1
    while died(f"{root}/killed-{kill_at}", job, kill_at):
        assert died(f"{root}/killed-{kill_at}", job, 0) is False
        kill_at += 1
    print(kill_at - 1)


def died(folder: str, job: str, kill_at: int) -> bool:
    """Run the job in a process of its own; whether that killed itself."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run(folder, job, kill_at)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGKILL
    assert os.WEXITSTATUS(status) == 0
    return False


def run(folder: str, job: str, kill_at: int) -> None:
    """Fill the folder, if it is empty, and run the job to its end, or die before its n-th step (0: never)."""
    settings = Settings(
        mesh=MeshSettings(folder=folder, runtime="inline"),
        stores=StoreSettings(embedder="hashing:256" if job == "budget-demote" else "none:"),
        jobs=JobSettings(archive_after_days=1.0, archive_megabytes=0.0 if job == "budget-erase" else 1.0),
    )
    with Memory(settings=settings, clock=lambda: MOMENT) as memory:
        if not memory.banks():
            sites = job == "compaction-digests"
            memory.retain([_told(host, day, sites=sites) for host in range(HOSTS) for day in range(1, 6)])
            if job == "restore":
                memory.run_job("compaction")
            if job == "calibrate":
                for host in range(HOSTS):
                    told = memory.history(entity=f"host {host}", attribute="state").beliefs[0]
                    memory.feedback(told.id, "wrong" if host == 1 else "right", agent="ann")
            if job.startswith("budget"):
                _over_budget(memory, vectors=job == "budget-demote")
        home, left = memory.home, [kill_at]
        work = work_on(home, "default", JOBS[job.partition("-")[0]])
        work = msgspec.structs.replace(
            work,
            mesh=Killing(home.mesh, left),
            graph=Killing(home.graph, left),
            announce=Killing(home.worker, left).announce,
            archive=Killing(home.archive, left),
            budgeting=msgspec.structs.replace(work.budgeting, plans=Killing(home.plans, left)),
        )
        run_job(JOBS[job.partition("-")[0]], work, Killing(home.ledger, left))
        home.worker.drain()


def _over_budget(memory: Memory, *, vectors: bool) -> None:
    """Beside the hosts, which hold their slots, six statements of which the budget leaves room for none; or for all
    without their vectors."""
    memory.retain([{"id": f"n{n}", "claims": [{"entity": "hall", "statement": f"Bell {n} rang."}]} for n in range(6)])
    use = memory.budget(measure=True).use
    if vectors:
        memory.set_policy(Policy(budget=Budget(bytes=use.bytes)))
        return
    memory.set_policy(Policy(budget=Budget(beliefs=4, bytes=use.bytes // 4, erase=True)))


def _told(host: int, day: int, *, sites: bool) -> dict[str, object]:
    return {
        "id": f"o{host}-{day}",
        "entity": f"host {host}",
        "observed_at": f"2024-05-{day:02}",
        "source": {"id": f"site {day}" if sites else "monitor", "type": "tool"},
        "claims": [{"attribute": "state", "value": "up", "statement": f"Host {host} is up."}],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
