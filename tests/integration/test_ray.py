"""The same actors on Ray: the same state and answers as inline, also when a shard's process is killed."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import chat_server, says
from kept_spans import HEADERS, TRACE, collector
from kept_spans import told as traced_message

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import InvalidInput, NotFound, UnknownBank
from schemas.instant import parse_instant
from schemas.observation import Observation, Source, observation_key
from schemas.wire import pack
from stores.language.options import LanguageOptions
from stores.ports import Entry
from stores.tracing.options import TracingOptions

ray = pytest.importorskip("ray", reason="the cluster extra is not installed")
start = pytest.importorskip("actors.cluster.start", reason="the cluster extra is not installed")

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
]

ASKED = parse_instant("2024-06-10T12:00:00Z", "asked")


@pytest.fixture(scope="session", autouse=True)
def one_ray() -> Iterator[None]:
    """One Ray for all of these tests; every memory finds it running and leaves it so."""
    started = start.start_ray()
    yield
    if started:
        ray.shutdown()


@pytest.fixture(scope="session")
def inline_state(tmp_path_factory: pytest.TempPathFactory, sample_lines: list[bytes]) -> str:
    """The hash of the sample as the actors in this process make it."""
    folder = str(tmp_path_factory.mktemp("inline"))
    settings = Settings(mesh=MeshSettings(folder=folder, runtime="inline"), stores=StoreSettings(embedder="none:"))
    with Memory(settings=settings, clock=lambda: ASKED) as memory:
        memory.import_lines(sample_lines)
        return memory.state_hash(now=ASKED)


def door(value: str, agent: str, **more: Any) -> dict[str, Any]:
    return {"entity": "door", "agent": agent, "claims": [{"attribute": "colour", "value": value}], **more}


def test_the_sample_gives_the_same_state_and_answers_as_inline(open_memory, sample_lines, inline_state: str) -> None:
    memory = open_memory(runtime="ray", shards=2)
    imported = memory.import_lines(sample_lines)
    assert memory.home.runtime == "ray"
    assert memory.state_hash(now=ASKED) == inline_state
    assert imported.dead == 1
    (found, *_) = memory.recall("From what amount is shipping free?").found
    assert "200" in found.belief.statement
    assert memory.explain(found.belief.id).belief.id == found.belief.id
    assert memory.belief(found.belief.id).id == found.belief.id
    assert memory.history(found.belief.id).turns
    counted = memory.stats()["actors"]
    assert (counted["cache.slots.miss"] > 0, counted["cache.vectors.miss"] > 0) == (True, True)
    memory.close()
    assert open_memory(runtime="inline").doctor().differences == ()


def test_a_trace_goes_on_in_the_actors_and_their_stores(tmp_path: Path) -> None:
    requests = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    with collector() as (address, took):
        settings = Settings(
            mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="ray", shards=1),
            stores=StoreSettings(embedder="none:"),
            tracing=TracingOptions(f"{address}/v1/traces"),
        )

        def kept() -> set[str]:
            sent = [requests.ExportTraceServiceRequest.FromString(body) for _, _, body in list(took)]
            spans = [
                span
                for one in sent
                for resource in one.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]
            return {span.name for span in spans if span.trace_id.hex() == TRACE}

        with Memory(settings=settings) as memory:
            memory.home.log.append("observations", [traced_message("boat", HEADERS)], memory.home.clock())
            memory.home.worker.drain()
            wanted = {
                "stream.decide",
                "extractor.extract",
                "shard.apply",
                "graph.apply",
                "indexer.index",
                "index.upsert",
            }
            waited = threading.Event()
            for _ in range(300):
                if wanted <= kept():
                    break
                waited.wait(0.1)

            assert wanted <= kept()


def test_a_shard_killed_amid_the_stream_loses_nothing(open_memory, sample_lines, inline_state: str) -> None:
    memory = open_memory(runtime="ray", shards=2, batch=20, embedder="none:")
    memory.home.start()
    token = memory.import_lines(sample_lines).token
    for _ in range(3):
        for process in memory.home.mesh.shard_processes():
            os.kill(process, signal.SIGKILL)
            break
    memory.wait(token, timeout=120)
    assert memory.state_hash(now=ASKED) == inline_state
    assert memory.stats()["dead_letters"] == 1
    assert len(set(memory.home.mesh.shard_processes())) == 2
    memory.close()
    assert open_memory(runtime="inline", embedder="none:").doctor().differences == ()


def test_errors_come_through_as_they_were_raised(open_memory) -> None:
    memory, plain = open_memory(runtime="ray", shards=1), open_memory("plain")
    for each in (memory, plain):
        each.retain(door("red", "ann"))
    calls = (
        (UnknownBank, lambda each: each.recall("colour", bank="nowhere")),
        (NotFound, lambda each: each.belief("b0")),
        (NotFound, lambda each: each.explain("b0")),
        (NotFound, lambda each: each.history(entity="door", attribute="size")),
        (InvalidInput, lambda each: each.recall("colour", limit=0)),
    )
    for kind, call in calls:
        with pytest.raises(kind) as far:
            call(memory)
        with pytest.raises(kind) as near:
            call(plain)
        assert type(far.value) is kind
        assert str(far.value) == str(near.value)
        assert far.value.code == near.value.code


def test_a_poison_record_is_set_aside_with_the_same_words_as_inline(open_memory) -> None:
    reasons = []
    for runtime in ("ray", "inline"):
        memory = open_memory(runtime, runtime=runtime, shards=2)
        told = [
            Observation(
                id=f"o{n}",
                bank="default",
                source=Source("cam"),
                observed_at=ASKED,
                turn=2**63 if n == 5 else n,
                claims=(Claim(entity=Entity(f"car {n}"), attribute="colour", value="red"),),
            )
            for n in range(12)
        ]
        entries = [Entry(observation_key(one), pack(one, one.id)) for one in told]
        memory.home.log.append("observations", entries, ASKED)
        memory.home.worker.drain()
        (letter,) = memory.dead_letters()
        reasons.append((letter.stage, letter.error, letter.reason))
        assert memory.stats("default")["banks"]["default"]["evidence"] == 11
    assert reasons[0] == reasons[1]


def test_private_notes_stay_private_over_actors(open_memory) -> None:
    memory = open_memory(runtime="ray", shards=2)
    memory.retain([door("red", "ann"), door("blue", "bob", visibility="private")])
    assert [one.belief.value for one in memory.recall("colour", principal="ann").found] == ["red"]
    assert "blue" in [one.belief.value for one in memory.recall("colour", principal="bob").found]


def test_slots_that_were_dropped_are_read_again(open_memory) -> None:
    memory = open_memory(runtime="ray", shards=1, embedder="none:")
    memory.retain(door("red", "ann"))

    memory.home.mesh.drop_kept()
    memory.retain(door("blue", "ann"))

    counted = memory.stats()["actors"]
    assert (counted.get("cache.slots.hit", 0), counted["cache.slots.miss"]) == (0, 2)


def test_closing_ends_the_actors_and_leaves_a_ray_that_ran_before(open_memory) -> None:
    memory = open_memory(runtime="ray", shards=2)
    memory.retain(door("red", "ann"))
    processes = memory.home.mesh.shard_processes()
    memory.close()
    assert ray.is_initialized()
    for process in processes:
        assert gone(process)
    again = open_memory(runtime="ray", shards=3)
    assert [one.belief.value for one in again.recall("colour of the door").found] == ["red"]


def gone(process: int) -> bool:
    """Whether the process ends within half a minute; a zombie that nobody has reaped yet has ended."""
    never = threading.Event()
    for _ in range(3_000):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state in "ZX":
            return True
        never.wait(0.01)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_ray_that_the_mesh_starts_is_this_machines_alone_and_ends_with_it(tmp_path: Path) -> None:
    script = Path(__file__).with_name("ray_owner.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "mesh")],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert done.stdout.split() == ["red"]


def test_actors_of_a_ray_of_ours_have_the_priority_of_this_process() -> None:
    niceness = ray.get(ray.remote(lambda: os.nice(0)).remote())

    assert niceness == os.nice(0)


def test_a_language_model_reads_texts_in_the_actors_too(tmp_path: Path) -> None:
    said = {"sentence": 0, "subject": "office cat", "attribute": "name", "value": "Miso"}
    with chat_server() as server:
        server.answer = lambda _: says({"claims": [said]})
        settings = Settings(
            mesh=MeshSettings(folder=str(tmp_path), runtime="ray", shards=1),
            stores=StoreSettings(embedder="none:"),
            llm=LanguageOptions(url=server.url, key="k1"),
        )
        with Memory(settings=settings, clock=lambda: ASKED) as memory:
            receipt = memory.retain("The office cat is called Miso.")
            pieces = memory.home.graph.evidence_of_observations("default", receipt.ids)
    assert {(piece.value, piece.extractor) for piece in pieces} == {("Miso", "llm:1:stub")}
    assert server.keys == ["Bearer k1"]
