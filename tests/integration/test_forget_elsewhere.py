"""Forgetting over the other stores and actors: NebulaGraph and Milvus, Kafka, Ray."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings

CANARY = "zebrafinch"


def told(id: str, value: str, entity: str, turn: int) -> dict[str, object]:
    claim = {"entity": entity, "attribute": "color", "value": value}
    return {"id": id, "claims": [claim], "observed_at": "2024-05-01", "session": "talk", "turn": turn}


KEPT = [told(f"o{n}", "red", f"thing {n % 5}", n) for n in range(20)]
CANARIES = [told(f"c{n}", f"{CANARY} {n}", f"{CANARY} {n}" if n % 2 else f"thing {n % 5}", n) for n in range(10)]


def bytes_in(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]


@pytest.mark.nebula
@pytest.mark.milvus
def test_a_canary_leaves_no_trace_in_the_rows_of_the_graph_nor_in_the_files_of_milvus(
    start_graphd: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip("milvus_lite", reason="the milvus-lite extra is not installed")
    graphd = start_graphd()

    def rows() -> str:
        return "\n".join(graphd.cluster._rows._db.iterdump())

    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(
            graph=f"nebula://{graphd.address}/mesh?heartbeat=0",
            index=f"milvus:///{tmp_path}/index.db",
            embedder="hashing:64",
        ),
    )
    with Memory(settings=settings) as memory:
        memory.retain(KEPT)
        memory.retain(CANARIES)
        assert CANARY in rows() or CANARY.encode().hex().upper() in rows().upper()

        report = memory.forget(ids=[str(each["id"]) for each in CANARIES])
        memory.retain(CANARIES)

        assert (report.observations, report.evidence) == (10, 10)
        assert memory.home.graph.evidence_of_observations("default", [f"c{n}" for n in range(10)]) == []
        assert memory.home.graph.counts("default")["evidence"] == 20
        assert CANARY not in rows()
        assert CANARY.encode().hex().upper() not in rows().upper()
        assert memory.doctor().differences == ()
        assert bytes_in(tmp_path) == []


@pytest.fixture
def kafka_settings(kafka: str, tmp_path: Path) -> Settings:
    return Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(log=f"kafka://{kafka}", embedder="none:"),
        streams=StreamSettings(prefix=f"f{secrets.token_hex(6)}-", partitions=3),
    )


@pytest.mark.kafka
def test_over_kafka_no_reader_meets_it_again(kafka_settings: Settings) -> None:
    with Memory(settings=kafka_settings) as memory:
        memory.retain([*KEPT, *CANARIES])
        memory.forget(ids=[str(each["id"]) for each in CANARIES])

        log, topics = memory.home.log, memory.home.topics
        for topic in ("observations", "claims", "changes"):
            name = topics.name(topic)
            records = [r for partition in range(3) for r in log.read(name, partition, 0, 1_000)]
            assert not any(CANARY.encode() in record.value or CANARY in record.key for record in records)
        assert memory.home.tombstones.unfinished() == []
        memory.retain(KEPT)
        assert memory.home.graph.counts("default")["evidence"] == 20


@pytest.fixture
def ray_memory(tmp_path: Path) -> Iterator[Memory]:
    start = pytest.importorskip("actors.cluster.start", reason="the cluster extra is not installed")
    ray = pytest.importorskip("ray", reason="the cluster extra is not installed")
    started = start.start_ray()
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="ray", shards=2),
        stores=StoreSettings(embedder="none:"),
    )
    with Memory(settings=settings) as memory:
        yield memory
    if started:
        ray.shutdown()


@pytest.mark.ray
@pytest.mark.slow
def test_on_ray_every_shard_lets_go_of_it(ray_memory: Memory, tmp_path: Path) -> None:
    ray_memory.retain([*KEPT, *CANARIES])

    report = ray_memory.forget(ids=[str(each["id"]) for each in CANARIES])
    ray_memory.retain([*KEPT, *CANARIES])

    assert report.observations == 10
    assert ray_memory.home.graph.counts("default")["evidence"] == 20
    assert bytes_in(tmp_path) == []
    assert not any(CANARY in found.belief.statement for found in ray_memory.recall("color").found)
