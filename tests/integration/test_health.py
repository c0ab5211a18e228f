"""Alive while the stores hang, started once hydrated, ready with how far it is, not ready once told to stop."""

import threading
from typing import Any

import httpx
import pytest

from beliefmesh.http.serve import address_of, health_served, listen
from beliefmesh.memory import Memory
from beliefmesh.settings import HttpSettings
from streams.elsewhere import Elsewhere

TOLD = ["Free shipping from 200.", "The shop opens at 9:00.", "The shop closes at 18:00."]


class Hanging:
    """A real store whose every call waits until it is let go."""

    def __init__(self, store: Any) -> None:
        self.asked = threading.Event()
        self.gate = threading.Event()
        self._store = store

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.asked.set()
            assert self.gate.wait(60)
            return method(*args, **kwargs)

        return call


def test_a_process_is_alive_while_a_store_hangs(memory: Memory, url: str) -> None:
    real = memory.home.graph
    memory.home.graph = hanging = Hanging(real)  # type: ignore[assignment]
    answers: list[int] = []
    asking = [
        threading.Thread(target=lambda: answers.append(httpx.get(f"{url}/health/ready", timeout=90).status_code))
        for _ in range(3)
    ]
    for thread in asking:
        thread.start()
    assert hanging.asked.wait(60)

    live = httpx.get(f"{url}/health/live", timeout=10)

    assert (live.status_code, answers) == (200, [])
    hanging.gate.set()
    for thread in asking:
        thread.join()
    memory.home.graph = real
    assert answers == [200, 200, 200]


def test_a_process_has_started_once_what_lay_in_the_log_is_recallable_and_stays_so(memory: Memory, url: str) -> None:
    memory.retain(TOLD, wait=False)
    waiting = httpx.get(f"{url}/health/started", timeout=30)
    unready = httpx.get(f"{url}/metrics", timeout=30).text

    memory.home.worker.drain()
    started = httpx.get(f"{url}/health/started", timeout=30)
    memory.retain("Free shipping from 300.", wait=False)

    assert (waiting.status_code, waiting.json()["status"]) == (503, "starting")
    assert waiting.json()["progress"]["percent"] == 0.0
    assert waiting.json()["progress"]["waiting"] >= 1
    assert "beliefmesh_started 0.0\n" in unready
    assert (started.status_code, started.json()) == (200, {"status": "started"})
    assert httpx.get(f"{url}/health/started", timeout=30).status_code == 200
    assert "beliefmesh_started 1.0\n" in httpx.get(f"{url}/metrics", timeout=30).text


def test_a_process_that_leaves_the_stream_to_others_has_started_once_its_stores_answer(
    memory: Memory, url: str
) -> None:
    memory.retain(TOLD, wait=False)
    home = memory.home
    home.worker = Elsewhere(home.log, home.mesh, home.topics, home.clock, home.graph.due, 100)

    assert httpx.get(f"{url}/health/started", timeout=30).status_code == 200


def test_a_process_has_not_started_before_the_index_has_what_the_graph_holds(open_memory, url: str) -> None:
    assert httpx.get(f"{url}/health/started", timeout=30).json()["progress"]["waiting"] == 1


def test_hydration_that_a_store_hinders_says_so(memory: Memory, url: str) -> None:
    memory.close()

    answer = httpx.get(f"{url}/health/started", timeout=30)

    assert answer.status_code == 503
    assert "closed" in answer.json()["reasons"][0]


def test_readiness_says_how_far_it_is_while_records_wait(memory: Memory, url: str) -> None:
    memory.retain(TOLD, wait=False)
    behind = httpx.get(f"{url}/health/ready", timeout=30)

    memory.home.worker.drain()

    assert behind.status_code == 200
    assert behind.json()["progress"]["percent"] == 0.0
    assert httpx.get(f"{url}/health/ready", timeout=30).json() == {"status": "ready", "reasons": []}


@pytest.mark.parametrize("closed", [False, True])
def test_a_worker_that_was_told_to_stop_is_alive_and_not_ready(memory: Memory, closed: bool) -> None:
    listener = listen(HttpSettings(), 0)
    with health_served(memory, listener) as ending, httpx.Client(base_url=address_of(listener), timeout=30) as client:
        before = client.get("/health/ready").status_code
        ending.ask()
        if closed:
            memory.close()
        after, live, metrics = (client.get(path) for path in ("/health/ready", "/health/live", "/metrics"))

    assert before == 200
    assert (after.status_code, live.status_code) == (503, 200)
    assert after.json()["reasons"] == ["the process was told to stop and finishes what is in hand"]
    assert "beliefmesh_ready 0.0\n" in metrics.text
