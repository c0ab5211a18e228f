"""One trace leads from who told or asked to the calls of the stores; unless asked for, nothing is traced or sent."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from kept_spans import HEADERS, TRACE, Traced, collector, told

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.trace import trace_id
from stores.tracing.options import TracingOptions
from stores.tracing.spans import carried, continued, spanned, switched_on

ROOT = Path(__file__).parents[2]
OTHER = "11111111111111111111111111111111"


@pytest.fixture
def traced() -> Iterator[Traced]:
    traced = Traced()
    with switched_on(traced.tracer):
        yield traced
    traced.tracer.close()


def test_a_producers_header_leads_to_the_calls_of_graph_and_index(traced: Traced, open_memory) -> None:
    memory: Memory = open_memory()
    memory.home.log.append("observations", [told("boat", HEADERS)], memory.home.clock())

    memory.home.worker.drain()

    names = traced.names(TRACE)
    assert {"stream.extract", "stream.decide", "stream.index"} <= set(names)
    assert {"graph.apply", "index.upsert", "embedder.passages", "log.append"} <= set(names)


def test_a_batch_of_several_traces_is_in_the_first_and_shows_in_each(traced: Traced, open_memory) -> None:
    memory: Memory = open_memory()
    other = {"traceparent": f"00-{OTHER}-b7ad6b7169203331-01"}
    memory.home.log.append("observations", [told("boat", HEADERS), told("car", other)], memory.home.clock())

    memory.home.worker.drain()

    for trace in (TRACE, OTHER):
        assert {"stream.extract", "stream.decide", "stream.index"} <= set(traced.names(trace))


def test_a_request_leads_through_the_log_to_the_stores(traced: Traced, memory: Memory, url: str) -> None:
    told = httpx.post(f"{url}/v1/banks/b/observations?wait=true", json={"text": "Free from 200."}, headers=HEADERS)
    asked = httpx.post(f"{url}/v1/banks/b/recall", json={"text": "From what?"}, headers=HEADERS)

    assert (told.status_code, asked.status_code) == (200, 200)
    names = traced.until("POST", 2)
    assert {"append", "stream.decide", "graph.apply", "recall"} <= set(names)
    assert {"retriever.semantic", "retriever.keyword", "retriever.spread", "index.keyword"} <= set(names)
    assert traced.values("recall") == {"beliefmesh.bank": "b", "beliefmesh.found": 1}


def test_a_trace_that_is_not_sampled_where_it_began_is_not_kept_here(traced: Traced, open_memory) -> None:
    memory: Memory = open_memory()
    quiet = {"traceparent": HEADERS["traceparent"][:-2] + "00"}
    memory.home.log.append("observations", [told("boat", quiet)], memory.home.clock())

    memory.home.worker.drain()

    assert traced.names(TRACE) == []


def test_of_new_traces_the_share_of_the_settings_is_kept(open_memory) -> None:
    none = Traced(ratio=0.0)
    with switched_on(none.tracer):
        open_memory().retain("Free shipping from 200.")

    assert none.names() == []


def test_an_error_is_told_by_its_name_and_not_by_its_words(traced: Traced) -> None:
    class Broken:
        def apply(self) -> None:
            raise ValueError("secret words")

    store = spanned(Broken(), "graph")
    with pytest.raises(ValueError, match="secret"), continued("request", HEADERS):
        store.apply()

    (span, _) = traced.spans()
    assert (span.name, span.status.description, span.events) == ("graph.apply", "ValueError", ())


def test_without_a_tracer_the_trace_goes_on_in_the_headers_of_the_log(memory: Memory, url: str) -> None:
    httpx.post(f"{url}/v1/banks/b/observations", json={"text": "Free from 200."}, headers=HEADERS, timeout=30)
    memory.home.worker.drain()

    for topic in ("observations", "claims", "changes"):
        (record,) = [record for partition in range(8) for record in memory.home.log.read(topic, partition, 0, 10)]
        assert record.headers == HEADERS


def test_what_is_no_trace_context_goes_nowhere() -> None:
    with continued("request", {"traceparent": "00-1-2-01", "tracestate": "a=b"}):
        assert carried() == {}
    with continued("request", {**HEADERS, "tracestate": "a=b"}):
        assert carried() == {**HEADERS, "tracestate": "a=b"}
    assert carried() == {}
    assert trace_id(HEADERS) == TRACE
    assert trace_id({"traceparent": f"00-{'0' * 32}-b7ad6b7169203331-01"}) == ""


def test_a_collector_gets_what_waits_when_the_memory_is_closed_and_no_text(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the tracing extra is not installed")
    with collector() as (address, took):
        settings = Settings(
            mesh=MeshSettings(folder=str(tmp_path), runtime="inline"),
            stores=StoreSettings(embedder="hashing:64"),
            tracing=TracingOptions(f"{address}/v1/traces", token="t0ken"),
        )
        with Memory(settings=settings) as memory:
            memory.retain("The canary sings at dawn.")

    assert {(path, sender) for path, sender, _ in took} == {("/v1/traces", "Bearer t0ken")}
    sent = b"".join(body for _, _, body in took)
    assert b"graph.apply" in sent
    assert b"canary" not in sent


def test_a_collector_that_is_away_costs_the_spans_and_is_one_log_event(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the tracing extra is not installed")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    done = run(
        TOLD_BY_COMMAND,
        tmp_path,
        BELIEFMESH_STORES__EMBEDDER="none:",
        BELIEFMESH_LOGGING__FORMAT="json",
        BELIEFMESH_TRACING__ENDPOINT=f"http://127.0.0.1:{port}/v1/traces",
    )

    assert done.returncode == 0, done.stderr
    (event,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert (event["event"], event["level"]) == ("traces.unsent", "warning")


TOLD_BY_COMMAND = """
import sys
from beliefmesh.cli.entry import main
main(["retain", "Free shipping from 200.", "--folder", sys.argv[1], "--json"])
"""

WITHOUT_THE_EXTRA = """
import sys
sys.modules["opentelemetry"] = None
from beliefmesh.cli.entry import main
main(["stats", "--folder", sys.argv[1]])
"""


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
    return subprocess.run(
        [sys.executable, "-c", script, str(folder / "mesh")],
        cwd=ROOT,
        env={**inherited, "BELIEFMESH_MESH__RUNTIME": "inline", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_collector_without_the_extra_is_refused_by_what_to_install(tmp_path: Path) -> None:
    done = run(WITHOUT_THE_EXTRA, tmp_path, BELIEFMESH_TRACING__ENDPOINT="http://127.0.0.1:9/v1/traces")

    assert done.stderr == "error: OpenTelemetry is not installed; install beliefmesh[tracing]\n"
    assert done.returncode == 2


BY_DEFAULT = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(event) if event.startswith(("socket.", "urllib.")) else None)
from beliefmesh.memory import Memory
with Memory(sys.argv[1]) as memory:
    memory.retain("Free shipping from 200.")
    memory.recall("From what amount is shipping free?")
    memory.stats()
print(sorted({event for event in opened if event not in ("socket.__new__", "socket.gethostname")}))
print(sorted({name.split(".")[0] for name in sys.modules} & {"opentelemetry", "ray", "requests"}))
"""


def test_one_file_names_the_library() -> None:
    rooms = ("beliefmesh", "streams", "jobs", "actors", "recall", "beliefs", "stores", "schemas")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]

    naming = [
        path.name for path in files if re.search(r"^\s*(from|import) opentelemetry", path.read_text(), re.MULTILINE)
    ]

    assert naming == ["otlp.py"]


def test_by_default_nothing_is_traced_and_no_connection_is_opened(tmp_path: Path) -> None:
    done = run(BY_DEFAULT, tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[]", "[]"]
