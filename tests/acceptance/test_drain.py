"""A server that is told to stop: not ready at once, finishes what is in flight, and its exit code says how it ended."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

OBSERVATION = json.dumps({"id": "o1", "text": "Free shipping from 200."}).encode()


class Serving:
    """`beliefmesh serve` as a process, and one request that it is in the middle of."""

    def __init__(self, folder: Path, **http: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
        environment = {
            **inherited,
            "BELIEFMESH_MESH__FOLDER": str(folder / "mesh"),
            "BELIEFMESH_STORES__EMBEDDER": "hashing:256",
            **{f"BELIEFMESH_HTTP__{name.upper()}": value for name, value in http.items()},
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "beliefmesh", "serve", "--port", "0", "--runtime", "inline", "--json"],
            cwd=Path(__file__).parents[2],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["address"]
        self.answers: list[int] = []
        self._rest = threading.Event()
        self._asking = threading.Thread(target=self._ask)

    def begin_request(self) -> None:
        """Send half of a request, and wait until the server is at it."""
        self._asking.start()
        self.until("/metrics", "beliefmesh_http_in_flight 1.0\n")

    def end_request(self) -> None:
        """Send the other half."""
        self._rest.set()
        self._asking.join(60)

    def tell_to_stop(self) -> None:
        """SIGTERM."""
        self.process.send_signal(signal.SIGTERM)

    def until(self, path: str, words: str) -> httpx.Response:
        """The answer that first has these words."""
        waited = threading.Event()
        for _ in range(600):
            answer = httpx.get(f"{self.url}{path}", timeout=30)
            if words in answer.text:
                return answer
            waited.wait(0.05)
        raise AssertionError(f"{path} never had {words!r}")

    def _ask(self) -> None:
        try:
            sent = httpx.post(f"{self.url}/v1/banks/b/observations?wait=true", content=self._halves(), timeout=60)
            self.answers.append(sent.status_code)
        except httpx.TransportError:
            self.answers.append(0)

    def _halves(self) -> Iterator[bytes]:
        yield OBSERVATION[:10]
        self._rest.wait(60)
        yield OBSERVATION[10:]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Serving]]:
    servings: list[Serving] = []
    yield servings
    for serving in servings:
        serving.process.kill()
        serving.process.wait(60)
        serving.end_request()
        assert serving.process.stdout is not None
        serving.process.stdout.close()


def test_readiness_falls_at_once_and_what_is_in_flight_is_finished(started: list[Serving], tmp_path: Path) -> None:
    serving = Serving(tmp_path, stop_delay="3", drain_timeout="30")
    started.append(serving)
    serving.until("/health/started", '"started"')
    serving.begin_request()

    serving.tell_to_stop()
    unready = serving.until("/health/ready", "told to stop")
    live = httpx.get(f"{serving.url}/health/live", timeout=30)
    serving.end_request()

    assert (unready.status_code, live.status_code) == (503, 200)
    assert serving.process.wait(60) == 0
    assert serving.answers == [200]


def test_what_is_not_finished_in_time_is_cut_off_and_the_exit_code_says_so(
    started: list[Serving], tmp_path: Path
) -> None:
    serving = Serving(tmp_path, drain_timeout="1")
    started.append(serving)
    serving.begin_request()

    serving.tell_to_stop()

    assert serving.process.wait(60) == 5


def test_a_second_signal_does_not_wait(started: list[Serving], tmp_path: Path) -> None:
    serving = Serving(tmp_path, stop_delay="60", drain_timeout="60")
    started.append(serving)
    serving.begin_request()
    serving.tell_to_stop()
    serving.until("/health/ready", "told to stop")

    serving.tell_to_stop()

    assert serving.process.wait(60) == 128 + signal.SIGTERM
