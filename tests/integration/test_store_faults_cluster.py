"""The same faults over the cluster's stores: the stand-in of graphd and Milvus Lite, behind the door of faults."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_faults import Door, Fault, Moment, mended
from test_store_faults import NOON, assert_whole, damage, job, settings_in

from beliefmesh.memory import Memory

pytest.importorskip("milvus_stand_in", reason="the milvus-lite extra is not installed")

pytestmark = [pytest.mark.nebula, pytest.mark.milvus, pytest.mark.slow]

WRITES = (
    ("graph", "apply"),
    ("graph", "erase"),
    ("graph", "set_policy"),
    ("graph", "mark_indexed"),
    ("graph", "mark_unindexed"),
    ("index", "upsert"),
    ("index", "delete"),
    ("index", "drop"),
    ("log", "append"),
    ("log", "commit"),
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The state's hash on the embedded default where nothing fails."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return job(tmp_path_factory.mktemp("undisturbed") / "mesh", Door(), ("", ""), monkeypatch)


@pytest.mark.parametrize("moment", list(Moment), ids=lambda moment: moment.name.lower())
@pytest.mark.parametrize(("port", "method"), WRITES, ids=str)
def test_a_write_to_cluster_stores_that_fails_leaves_nothing_that_the_doctor_cannot_mend(
    start_graphd: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected: str,
    port: str,
    method: str,
    moment: Moment,
) -> None:
    urls = (f"nebula://{start_graphd().address}/mesh?heartbeat=0", f"milvus:///{tmp_path}/index.db")
    door = Door(Fault(port, method, moment))
    state = job(tmp_path / "mesh", door, urls, monkeypatch)
    assert door.struck
    assert state == expected


@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_a_doctor_over_cluster_stores_that_is_killed_leaves_what_the_next_one_mends(
    start_graphd: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: str, quarter: int
) -> None:
    urls = (f"nebula://{start_graphd().address}/mesh?heartbeat=0&claim_timeout=0.2", f"milvus:///{tmp_path}/index.db")
    with pytest.MonkeyPatch.context() as passing:
        job(tmp_path / "mesh", Door(), urls, passing)
    settings = settings_in(tmp_path / "mesh", urls)
    with Memory(settings=settings, clock=lambda: NOON) as memory:
        damage(memory)
    calm = mended(tmp_path / "mesh", urls)
    assert calm.returncode == 0, calm.stderr
    with Memory(settings=settings, clock=lambda: NOON) as memory:
        damage(memory)

    killed = mended(tmp_path / "mesh", urls, int(calm.stdout) * quarter // 4)

    assert killed.returncode == -signal.SIGKILL, killed.stderr

    with Memory(settings=settings, clock=lambda: NOON) as again:
        assert again.doctor(fix=True).healthy
        assert_whole(again)
        assert again.state_hash() == expected
