"""Jobs whose shards are Ray actors: the same effect as inline, also when a shard or the job itself is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_compaction_job import sighting, told

from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings, MeshSettings, Settings, StoreSettings
from jobs.catalogue import JOBS

ray = pytest.importorskip("ray", reason="the cluster extra is not installed")
start = pytest.importorskip("actors.cluster.start", reason="the cluster extra is not installed")

pytestmark = [pytest.mark.ray, pytest.mark.slow]

MOMENT = 1_781_092_800_000_000
HOSTS = 12


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    """One Ray for these tests; a Ray that runs already stays."""
    started = start.start_ray()
    yield
    if started:
        ray.shutdown()


def opened(folder: Path, runtime: str) -> Memory:
    settings = Settings(
        mesh=MeshSettings(folder=str(folder), runtime=runtime, shards=2),  # type: ignore[arg-type]
        stores=StoreSettings(embedder="none:"),
        jobs=JobSettings(archive_after_days=1.0),
    )
    return Memory(settings=settings, clock=lambda: MOMENT)


def filled(folder: Path, runtime: str) -> Memory:
    memory = opened(folder, runtime)
    rule = {"attribute": "limit", "value": 3, "kind": "instruction"}
    memory.retain([*told(HOSTS), {"id": "rule", "entity": "host 0", "observed_at": "2024-05-01", "claims": [rule]}])
    said = sighting(HOSTS, 1) | {"claims": [{"attribute": "state", "value": "up", "statement": "It is up."}]}
    memory.retain([said | {"id": f"d{site}", "source": {"id": f"site {site}"}} for site in range(6)])
    return memory


def states(memory: Memory, *jobs: str) -> list[object]:
    """What each job counts, and the state after it."""
    return [(memory.run_job(job).counts, memory.state_hash(now=MOMENT)) for job in jobs]


def test_jobs_have_the_same_effect_over_actors_as_inline(tmp_path: Path) -> None:
    with filled(tmp_path / "ray", "ray") as memory, filled(tmp_path / "inline", "inline") as plain:
        assert memory.home.runtime == "ray"
        order = ("decay", "compaction", "archive", "restore", "reindex", "merge-proposals", "calibrate", "summaries")
        assert set(order) <= JOBS.keys()

        assert states(memory, *order) == states(plain, *order)

        assert memory.home.archive.size("default") == 0
    with opened(tmp_path / "ray", "inline") as again:
        assert again.doctor().differences == ()


def test_a_job_goes_on_when_its_shards_are_killed_between_and_amid_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.moving.PAGE", 5)
    with filled(tmp_path / "ray", "ray") as memory, filled(tmp_path / "inline", "inline") as plain:
        killed: list[int] = []

        def kill(_: object) -> None:
            shards = memory.home.mesh.shard_processes()  # type: ignore[attr-defined]
            killed.append(shards[len(killed) % 2])
            os.kill(killed[-1], signal.SIGKILL)

        run = memory.run_job("compaction", told=kill)

        assert (run.pages, len(set(killed))) == (3, 3)
        assert run.counts == plain.run_job("compaction").counts
        memory.retain(sighting(1, 20, "down") | {"id": "after"})
        plain.retain(sighting(1, 20, "down") | {"id": "after"})
        assert states(memory, "archive", "restore") == states(plain, "archive", "restore")


def test_a_job_that_was_killed_is_completed_by_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = "compaction"
    filled(tmp_path / "mesh", "inline").close()
    script = Path(__file__).with_name("ray_jobber.py")
    died = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "mesh"), job, str(MOMENT)],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert died.returncode == -signal.SIGKILL, died.stderr[-2_000:]
    monkeypatch.setattr("jobs.moving.PAGE", 5)
    with opened(tmp_path / "mesh", "ray") as memory, filled(tmp_path / "inline", "inline") as plain:
        run = memory.run_job(job)

        assert run.pages == 3
        assert run.counts == plain.run_job(job).counts
        assert states(memory, "restore") == states(plain, "restore")
