"""`beliefmesh health`: a process that is well, one that is not ready, and nobody."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from beliefmesh.cli.entry import run
from beliefmesh.http.serve import health_served, listen
from beliefmesh.memory import Memory
from beliefmesh.settings import HttpSettings, MeshSettings, Settings, StoreSettings


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Memory, int]]:
    """A memory whose health is told, and the port where."""
    http = HttpSettings(port=0)
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(embedder="none:"),
        http=http,
    )
    with listen(http) as listener, Memory(settings=settings) as memory, health_served(memory, listener):
        yield memory, listener.getsockname()[1]


def test_a_process_that_is_well_is_said_to_be(served: tuple[Memory, int], capfd: pytest.CaptureFixture[str]) -> None:
    _, port = served
    assert run(["health", "--port", str(port)]) == 0
    assert capfd.readouterr().out == "live\n"
    assert run(["health", "--port", str(port), "--ready", "--json"]) == 0
    assert capfd.readouterr().out == '{"status":"ready","reasons":[]}\n'


def test_one_that_lives_but_is_not_ready_says_why(
    served: tuple[Memory, int], capfd: pytest.CaptureFixture[str]
) -> None:
    memory, port = served
    memory.home.graph.close()
    assert run(["health", "--port", str(port)]) == 0
    assert run(["health", "--port", str(port), "--ready"]) == 1
    assert "not ready" in capfd.readouterr().err


def test_the_port_is_that_of_the_worker_where_it_has_one(
    served: tuple[Memory, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELIEFMESH_STREAMS__WORKER_PORT", str(served[1]))
    monkeypatch.setenv("BELIEFMESH_HTTP__HOST", "0.0.0.0")
    assert run(["health"]) == 0


def test_where_nobody_answers_it_fails_with_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert run(["health", "--port", str(port)]) == 1
    assert capfd.readouterr().err == (
        f"error: http://127.0.0.1:{port}/health/live: [Errno 111] Connection refused; is a mesh running there?\n"
    )
