"""A memory whose graph is on NebulaGraph: how often a recall asks it, what hubs pass on, what the doctor repairs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from restored import EARLY, LATE, evidence, lose

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from recall.question import DEPTH
from stores.nebula.graph import NebulaGraph

pytestmark = pytest.mark.nebula

NOON = 1_718_020_800_000_000


@pytest.fixture
def memory(start_graphd: Callable[..., Any], tmp_path: Path) -> Any:
    """A memory over a stand-in of its own, and over Milvus Lite where that is installed."""
    pytest.importorskip("milvus_stand_in", reason="the milvus-lite extra is not installed")
    stores = StoreSettings(
        graph=f"nebula://{start_graphd().address}/mesh?heartbeat=0",
        index=f"milvus:///{tmp_path}/index.db",
        embedder="hashing:64",
    )
    settings = Settings(mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"), stores=stores)
    with Memory(settings=settings, clock=lambda: NOON) as opened:
        yield opened


def requests(memory: Memory, question: str) -> int:
    graph = memory.home.graph
    assert isinstance(graph, NebulaGraph)
    before = graph.sessions.requests
    memory.recall(question)
    return graph.sessions.requests - before


def test_a_recall_asks_nebula_a_few_times_however_alike_the_candidates_are(memory: Memory) -> None:
    memory.retain([{"text": f"Parcel {number} came to Lyon", "agent": "ann"} for number in range(2 * DEPTH)])
    memory.recall("?!")

    assert requests(memory, "?!") <= 24
    assert requests(memory, "which parcel came to Lyon?") <= 21
    assert requests(memory, "Parcel 17") <= 21


def test_evidence_that_cluster_stores_lost_is_read_again_from_the_log(memory: Memory) -> None:
    memory.retain([*EARLY, *LATE])
    whole, pieces = memory.state_hash(), evidence(memory)
    lose(memory, "o7", ("colour",))
    lose(memory, "o8", ("colour",))

    report = memory.doctor()
    assert sorted(one for one in report.differences if one.startswith("observation")) == [
        "observation o7 of bank default lacks 1 of its pieces of evidence",
        "observation o8 of bank default has no evidence",
    ]
    assert memory.doctor(fix=True).healthy

    assert memory.doctor().differences == ()
    assert memory.state_hash() == whole
    assert evidence(memory) == pieces
    assert {one.belief.entity.name for one in memory.recall("what is green?").found} >= {"barn"}


def test_evidence_that_only_the_cluster_has_is_told_and_kept(memory: Memory) -> None:
    memory.retain([*EARLY, *LATE])
    whole = memory.state_hash()
    topic = memory.home.topics.name("observations")
    for partition, end in memory.home.log.ends(topic).items():
        memory.home.log.forget(topic, partition, range(end))

    report = memory.doctor(fix=True)

    assert report.healthy
    (note,) = report.notes
    assert note.startswith("bank default holds 6 pieces of evidence of 5 observations that the log does not have")
    assert memory.state_hash() == whole


def test_what_hangs_on_a_hub_gets_less_than_what_hangs_on_little(memory: Memory) -> None:
    memory.retain([{"entity": "Lyon", "agent": "ann", "text": f"Parcel {number} is there"} for number in range(60)])
    memory.retain([{"entity": "Oslo", "agent": "ann", "text": f"Crate {number} is there"} for number in range(2)])

    found = memory.recall("Lyon and Oslo", retrievers=("spread",), limit=20).found

    assert [one.belief.entity.name for one in found[:2]] == ["Oslo", "Oslo"]
    assert "Lyon" in {one.belief.entity.name for one in found[2:]}
