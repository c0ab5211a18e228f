"""Several processes, one set of actors: each sees what the others write, whoever dies; and they end when told."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from following import events_of

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.errors import FolderInUse, InvalidSetting

pytest.importorskip("ray", reason="the cluster extra is not installed")

pytestmark = [pytest.mark.ray, pytest.mark.slow]

SHARDS = 2
CHANGES = "/v1/banks/default/changes"
MOMENT = 1_718_020_800_000_000


class Child:
    """A process that reads and writes JSON, a value a line."""

    def __init__(self, *command: str, address: str = "") -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
        environ = {
            **inherited,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "BELIEFMESH_STORES__EMBEDDER": "none:",
            "BELIEFMESH_MESH__SHARDS": str(SHARDS),
            "BELIEFMESH_MESH__ADDRESS": address,
        }
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, *command], text=True, env=environ, **pipes)

    def hear(self) -> Any:
        """What it says next."""
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()[-2_000:]
        return json.loads(line)

    def ask(self, *words: str) -> Any:
        """Its answer to one line."""
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return self.hear()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait; returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=30)

    def leave(self) -> int:
        """End standard input and wait; returns the exit code."""
        self.process.stdin.close()
        return self.process.wait(timeout=30)


@contextmanager
def child(*command: str, address: str = "") -> Iterator[Child]:
    """A child that does not outlive the block; its settings name the actors at an address."""
    started = Child(*command, address=address)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()
        for pipe in (started.process.stdin, started.process.stdout, started.process.stderr):
            pipe.close()


@contextmanager
def actors(folder: Path, *flags: str) -> Iterator[tuple[Child, dict[str, Any]]]:
    """The command `actors`, with what it has printed."""
    with child("-m", "beliefmesh", "actors", "--json", "--folder", str(folder), *flags) as command:
        yield command, command.hear()


@contextmanager
def joiner(folder: Path, address: str, shards: int = SHARDS) -> Iterator[Child]:
    """A process that has joined the actors, or was refused; `hear` tells."""
    with child(str(Path(__file__).with_name("ray_joiner.py")), str(folder), address, str(shards)) as joined:
        yield joined


@contextmanager
def server(folder: Path, address: str) -> Iterator[httpx.Client]:
    """A client of a process that has joined the actors, and serves the API."""
    with (
        child(
            "-m", "beliefmesh", "serve", "--json", "--port", "0", "--folder", str(folder), address=address
        ) as serving,
        httpx.Client(base_url=serving.hear()["address"], timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder and address of actors that all of these tests share."""
    folder = tmp_path_factory.mktemp("shared")
    with actors(folder) as (command, told):
        assert told["shards"] == SHARDS
        assert len(told["processes"]) == SHARDS + 2
        yield folder, told["address"]
        assert command.end() == 0


def test_two_processes_ask_the_same_actors_and_see_what_the_other_wrote(mesh) -> None:
    folder, address = mesh
    with joiner(folder, address) as ann, joiner(folder, address) as bob:
        assert (ann.hear(), bob.hear()) == ("done", "done")
        processes = ann.ask("processes")
        assert bob.ask("processes") == processes
        assert ann.ask("retain", "door", "red") == "done"
        assert bob.ask("colours", "door") == ["red"]
        assert bob.ask("retain", "gate", "blue") == "done"
        assert ann.ask("colours", "gate") == ["blue"]
        assert (ann.leave(), bob.leave()) == (0, 0)
    assert all(running(process) for process in processes)


def test_what_one_process_tells_the_actors_another_one_and_a_server_tell_as_changes(mesh) -> None:
    folder, address = mesh
    with joiner(folder, address) as ann, joiner(folder, address) as bob, server(folder, address) as client:
        assert (ann.hear(), bob.hear()) == ("done", "done")
        start, *_ = bob.ask("changes", "now")
        cursor = client.get(CHANGES).json()["next"]
        assert ann.ask("retain", "lift", "red") == "done"
        place, *first = bob.ask("changes", start)
        heard = events_of(client, 1, CHANGES, **{"Last-Event-ID": cursor})
        assert ann.ask("retain", "ramp", "blue") == "done"
        _, *then = bob.ask("changes", place)
        resumed = events_of(client, 1, CHANGES, entity="ramp", **{"Last-Event-ID": heard[0]["id"]})

    assert once(first + then) == [["lift", "red"], ["ramp", "blue"]]
    assert heard[0]["entity"]["name"] == "lift"
    assert [belief["value"] for belief in resumed[0]["beliefs"]] == ["blue"]


def once(told: list[list[str]]) -> list[list[str]]:
    """What was told, each once: several processes that stream one log may each have told it."""
    return [list(one) for one in dict.fromkeys(map(tuple, told))]


def test_actors_that_are_killed_come_back_with_all_that_was_written(mesh) -> None:
    folder, address = mesh
    with joiner(folder, address) as ann:
        assert ann.hear() == "done"
        before = ann.ask("processes")
        for number, process in enumerate(before):
            assert ann.ask("retain", f"car {number}", "red") == "done"
            os.kill(process, signal.SIGKILL)
            assert ann.ask("retain", f"van {number}", "blue") == "done"
        after = ann.ask("processes")
        assert set(before).isdisjoint(after)
        for number in range(len(before)):
            assert ann.ask("colours", f"car {number}") == ["red"]
            assert ann.ask("colours", f"van {number}") == ["blue"]


def test_another_number_of_shards_is_refused_with_the_right_one(mesh) -> None:
    folder, address = mesh
    with joiner(folder, address, shards=3) as ann:
        told = ann.hear()["error"]
        assert told["code"] == "invalid_setting"
        assert "mesh.shards: is 3, but the actors at" in told["message"]
        assert "have 2" in told["message"]


def test_shared_actors_and_an_owner_keep_each_other_from_the_folder(mesh, tmp_path: Path) -> None:
    folder, address = mesh
    with pytest.raises(FolderInUse, match=r"set mesh\.address to theirs"):
        Memory(settings=settings_of(folder))
    with Memory(settings=settings_of(tmp_path)), joiner(tmp_path, address) as ann:
        told = ann.hear()["error"]
        assert told["code"] == "folder_in_use"
        assert f"process {os.getpid()}" in told["message"]


def test_meshes_on_one_cluster_share_no_actor_and_who_goes_on_starts_those_that_were_ended(
    mesh, tmp_path: Path
) -> None:
    folder, address = mesh
    with joiner(folder, address) as bob:
        assert bob.hear() == "done"
        others = bob.ask("processes")
    with actors(tmp_path, "--address", address) as (command, told), joiner(tmp_path, address) as ann:
        assert told["address"] == address
        assert set(told["processes"]).isdisjoint(others)
        assert ann.hear() == "done"
        assert command.end() == 0
        assert all(gone(process) for process in told["processes"])
        assert ann.ask("retain", "door", "red")["error"]["code"] == "store_unavailable"
        assert ann.ask("retain", "door", "red") == "done"
        assert ann.ask("colours", "door") == ["red"]
    assert all(running(process) for process in others)


def test_inline_actors_cannot_be_joined(tmp_path: Path) -> None:
    settings = Settings(mesh=MeshSettings(folder=str(tmp_path), runtime="inline", address="127.0.0.1:1"))
    with pytest.raises(InvalidSetting, match=r"mesh\.runtime: is inline, but mesh\.address names"):
        Memory(settings=settings)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_command_leaves_nothing_behind_and_who_had_joined_is_told(tmp_path: Path) -> None:
    with actors(tmp_path) as (command, told), joiner(tmp_path, told["address"]) as ann:
        assert ann.hear() == "done"
        assert ann.ask("retain", "door", "red") == "done"
        family = [*descendants(command.process.pid)]
        assert set(told["processes"]) <= set(family)
        assert command.end() == 0
        assert all(gone(process) for process in family)
        answer = ann.ask("retain", "gate", "blue")["error"]
        assert answer["code"] == "store_unavailable"
        assert "restart this process" in answer["message"]
        assert ann.leave() == 0
    with Memory(settings=settings_of(tmp_path), clock=lambda: MOMENT) as memory:
        assert [found.belief.value for found in memory.recall("colour", entity="door").found] == ["red"]
        assert [found.belief.value for found in memory.recall("colour", entity="gate").found] == ["blue"]


def settings_of(folder: Path) -> Settings:
    """Settings of a process that owns a folder alone."""
    return Settings(mesh=MeshSettings(folder=str(folder), runtime="inline"), stores=StoreSettings(embedder="none:"))


def descendants(process: int) -> Iterator[int]:
    """Every living process that this one started, and those that they started."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for started in task.read_text().split():
            yield int(started)
            yield from descendants(int(started))


def running(process: int) -> bool:
    """Whether a process lives; a zombie that nobody has reaped yet has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(process: int) -> bool:
    """Whether a process ends within half a minute."""
    never = threading.Event()
    for _ in range(3_000):
        if not running(process):
            return True
        never.wait(0.01)
    return False
