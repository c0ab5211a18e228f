"""`beliefmesh worker --port`: a process that only streams answers for its health, and ends when it is told to."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from beliefmesh.cli.entry import run
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.observation import Observation, Source, observation_key
from schemas.wire import pack
from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions
from stores.ports import Entry

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(120)]

MAY = 1_714_521_600_000_000


class Running:
    """A worker in a process of its own."""

    def __init__(self, kafka: str, folder: Path) -> None:
        self.prefix = f"{uuid4().hex}-"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")} | {
            "BELIEFMESH_MESH__FOLDER": str(folder / "mesh"),
            "BELIEFMESH_MESH__RUNTIME": "inline",
            "BELIEFMESH_STORES__EMBEDDER": "none:",
            "BELIEFMESH_STREAMS__PREFIX": self.prefix,
            "BELIEFMESH_STREAMS__PARTITIONS": "2",
        }
        command = [sys.executable, "-m", "beliefmesh", "worker", "--log", f"kafka://{kafka}", "--port", str(port)]
        self.said = folder / "worker.err"
        with self.said.open("wb") as errors:
            self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)

    def get(self, path: str) -> httpx.Response | None:
        """An answer, None while nobody listens."""
        try:
            return httpx.get(f"{self.url}{path}", timeout=10)
        except httpx.TransportError:
            return None

    def until_metrics_have(self, line: str) -> str:
        """The metrics once they hold a line; what they hold after a minute if they never do."""
        waited = threading.Event()
        text = ""
        for _ in range(300):
            answer = self.get("/metrics")
            text = answer.text if answer is not None else ""
            if line in text:
                break
            waited.wait(0.2)
        return text


@pytest.fixture
def worker(kafka: str, tmp_path: Path) -> Iterator[Running]:
    running = Running(kafka, tmp_path)
    yield running
    running.process.kill()
    running.process.wait(30)


def test_a_worker_tells_of_itself_at_its_port_and_ends_when_told(worker: Running, kafka: str) -> None:
    assert "beliefmesh_ready 1.0\n" in worker.until_metrics_have("beliefmesh_ready 1.0\n"), worker.said.read_text()
    claim = Claim(entity=Entity("shop"), attribute="opens at", value="9:00")
    told = Observation(id="o1", bank="b", source=Source("desk"), observed_at=MAY, claims=(claim,))
    log = KafkaLog(f"kafka://{kafka}", KafkaOptions())
    log.append(f"{worker.prefix}observations", [Entry(observation_key(told), pack(told, "o1"))], MAY)
    log.close()

    metrics = worker.until_metrics_have("beliefmesh_freshness_seconds_count 1.0\n")
    hydrated = worker.until_metrics_have("beliefmesh_started 1.0\n")
    started = worker.get("/health/started")
    live, ready, other = (worker.get(path) for path in ("/health/live", "/health/ready", "/v1/stats"))
    worker.process.terminate()
    code = worker.process.wait(60)

    assert "beliefmesh_freshness_seconds_count 1.0\n" in metrics, worker.said.read_text()
    assert 'beliefmesh_count{bank="b",kind="evidence"} 1.0\n' in metrics
    assert "beliefmesh_started 1.0\n" in hydrated
    assert started is not None
    assert (started.status_code, started.json()) == (200, {"status": "started"})
    assert live is not None
    assert live.json() == {"status": "live"}
    assert ready is not None
    assert ready.json() == {"status": "ready", "reasons": []}
    assert other is not None
    assert other.status_code == 404
    assert code == 0, worker.said.read_text()
    assert "finishing the batch in hand" in worker.said.read_text()
    assert worker.get("/health/live") is None


def test_a_port_that_is_taken_is_told_by_its_setting_before_anything_starts(
    kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code = run(["worker", "--log", f"kafka://{kafka}", "--folder", str(tmp_path / "mesh"), "--port", port])

    assert code == 2
    assert "streams.worker_port: cannot serve at 127.0.0.1" in capsys.readouterr().err
    assert not (tmp_path / "mesh").exists()
