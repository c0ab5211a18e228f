"""A mesh of several processes over Kafka, as operators run it, in which tests may kill whatever they like."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions
from stores.sqlite.graph import SqliteGraph
from streams.freshness import lag
from streams.topics import Topics

PARTITIONS = 8
SESSION_SECONDS = "4"


@dataclass(frozen=True)
class Server:
    """A process that serves the API, and where."""

    process: subprocess.Popen[bytes]
    at: tuple[str, int]


class Fleet:
    """Actors in one process, workers in others, all over one broker, folder and prefix."""

    def __init__(self, broker: str, folder: Path, prefix: str) -> None:
        self.folder = folder
        self.topics = Topics(prefix, PARTITIONS)
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")
        } | {
            "BELIEFMESH_MESH__FOLDER": str(folder),
            "BELIEFMESH_STORES__LOG": f"kafka://{broker}",
            "BELIEFMESH_STORES__EMBEDDER": "none:",
            "BELIEFMESH_STREAMS__PREFIX": prefix,
            "BELIEFMESH_STREAMS__BATCH": "500",
            "BELIEFMESH_KAFKA__SESSION_TIMEOUT": SESSION_SECONDS,
        }
        self.log = KafkaLog(f"kafka://{broker}", KafkaOptions())
        self.topics.create(self.log)
        self._running: list[subprocess.Popen[bytes]] = []
        self._outputs = folder.parent
        self._said: dict[int, Path] = {}
        self.shards: list[int] = []

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._running):
            end(process)
        self.log.close()

    def start_actors(self, shards: int = 2) -> None:
        """Start the actors that all workers share."""
        self._environment["BELIEFMESH_MESH__SHARDS"] = str(shards)
        process = self._start("actors", "--json", stdout=subprocess.PIPE)
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        self._environment["BELIEFMESH_MESH__ADDRESS"] = told["address"]
        self.shards = told["processes"][:shards]

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        return self._start("worker")

    def start_server(self) -> Server:
        """Start one more server of the API, in front of the same actors; it streams nothing."""
        self._environment["BELIEFMESH_STREAMS__WORKER"] = "elsewhere"
        try:
            process = self._start("serve", "--port", "0", "--json", stdout=subprocess.PIPE)
        finally:
            del self._environment["BELIEFMESH_STREAMS__WORKER"]
        assert process.stdout is not None
        address = urlsplit(json.loads(process.stdout.readline())["address"])
        assert address.hostname is not None
        assert address.port is not None
        return Server(process, (address.hostname, address.port))

    def works(self, worker: subprocess.Popen[bytes]) -> bool:
        """Whether a worker has started, and has said so."""
        return b"worker of group" in self._said[worker.pid].read_bytes()

    def start_import(self, file: Path, bank: str) -> subprocess.Popen[bytes]:
        """Publish a file's observations; others stream."""
        self._environment["BELIEFMESH_STREAMS__WORKER"] = "elsewhere"
        try:
            return self._start("import", "--bank", bank, str(file))
        finally:
            del self._environment["BELIEFMESH_STREAMS__WORKER"]

    def waiting(self) -> int:
        """How many records wait for a stage, over all of them."""
        return sum(sum(partitions.values()) for partitions in lag(self.log, self.topics).values())

    def applied(self, bank: str) -> int:
        """How many pieces of evidence a bank holds."""
        graph = SqliteGraph(self.folder / "graph.db")
        count = graph.counts(bank).get("evidence", 0)
        graph.close()
        return count

    def rewind(self) -> None:
        """Let the group, which must have no worker, read everything again."""
        for topic in ("observations", "claims", "changes"):
            name = self.topics.name(topic)
            self.log.commit(self.topics.group, name, dict.fromkeys(self.log.ends(name), 0))

    def _start(self, *arguments: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "beliefmesh", *arguments]
        said = self._outputs / f"{arguments[0]}-{len(self._running)}.err"
        with said.open("wb") as errors:
            process = subprocess.Popen(command, env=self._environment, stdout=stdout, stderr=errors)
        self._running.append(process)
        self._said[process.pid] = said
        return process


def kill(process: int | subprocess.Popen[bytes]) -> None:
    """End a process with no chance to say goodbye."""
    if isinstance(process, int):
        os.kill(process, signal.SIGKILL)
    else:
        process.kill()
        process.wait()


def end(process: subprocess.Popen[bytes]) -> int:
    """End a process as an operator would; returns its exit code."""
    process.terminate()
    try:
        code = process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    if process.stdout is not None:
        process.stdout.close()
    return code


def until(condition: Callable[[], bool], seconds: float = 240) -> bool:
    """Wait for what other processes bring about."""
    waited = threading.Event()
    for _ in range(int(seconds / 0.1)):
        if condition():
            return True
        waited.wait(0.1)
    return False
