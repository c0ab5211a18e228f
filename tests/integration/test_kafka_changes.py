"""Following a bank over Kafka: what a worker elsewhere decides is told by a server that streams nothing itself."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import httpx
import pytest
from following import events_of, told_alike
from http_served import opened, settings_in

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(180)]

PATH = "/v1/banks/shop/changes"
FROM_START = f"{PATH}?since=start"
LENA = {"X-Beliefmesh-Principal": "lena"}
AT = 1_718_020_800_000_000


def note(name: str, value: str, day: int, **more: Any) -> dict[str, Any]:
    claims = [{"entity": name, "attribute": "state", "value": value}]
    return {"id": f"o-{name}-{day}", "agent": "ann", "observed_at": f"2024-06-0{day}", "claims": claims, **more}


FIRST = [note("desk", "open", 1), note("door", "open", 1), note("cart", "full", 1)]
THEN = [note("desk", "haunted", 3, agent="lena", visibility="private"), note("gate", "open", 1)]
LAST = [note("door", "shut", 2)]


@contextmanager
def worker(settings: Settings, folder: Path) -> Iterator[None]:
    """A worker in a process of its own, over the same log and graph."""
    stores, streams = settings.stores, settings.streams
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")} | {
        "BELIEFMESH_MESH__FOLDER": str(folder / "worker"),
        "BELIEFMESH_MESH__RUNTIME": "inline",
        "BELIEFMESH_STORES__EMBEDDER": stores.embedder,
        "BELIEFMESH_STORES__LOG": stores.log,
        "BELIEFMESH_STORES__GRAPH": stores.graph,
        "BELIEFMESH_STREAMS__PREFIX": streams.prefix,
        "BELIEFMESH_STREAMS__PARTITIONS": str(streams.partitions),
    }
    with (folder / "worker.err").open("wb") as errors:
        process = subprocess.Popen([sys.executable, "-m", "beliefmesh", "worker"], env=environment, stderr=errors)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture(scope="module")
def served(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, httpx.Client]]:
    """A server of the API over Kafka, whose worker is another process; each test takes a bank of its own."""
    tmp_path = tmp_path_factory.mktemp("changes")
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "server"), runtime="inline"),
        stores=StoreSettings(log=f"kafka://{kafka}", graph=f"sqlite:///{tmp_path / 'graph.db'}", embedder="none:"),
        streams=StreamSettings(prefix=f"{uuid4().hex}-", partitions=3, worker="elsewhere"),
    )
    with opened(settings, clock=lambda: AT) as (memory, client), worker(settings, tmp_path):
        yield memory, client


def test_changes_that_a_worker_elsewhere_makes_are_told_as_an_embedded_mesh_tells_them(
    served: tuple[Memory, httpx.Client], tmp_path: Path
) -> None:
    _, client = served
    heard: list[dict[str, Any]] = []
    following = Thread(target=lambda: heard.extend(events_of(client, 5, FROM_START)))
    following.start()

    for told in (FIRST, THEN, LAST):
        assert client.post("/v1/banks/shop/observations?wait=true", json=told).status_code == 200
    following.join(60)
    everything = events_of(client, 5, FROM_START)

    with opened(settings_in(tmp_path / "embedded"), clock=lambda: AT) as (embedded, alone):
        for told in (FIRST, THEN, LAST):
            embedded.retain(told, bank="shop")
        wanted = events_of(alone, 5, FROM_START)
        wanted_of_lena = events_of(alone, 6, FROM_START, **LENA)
    assert told_alike(everything) == told_alike(wanted)
    assert told_alike(events_of(client, 6, FROM_START, **LENA)) == told_alike(wanted_of_lena)
    assert sorted(event["entity"]["name"] for event in heard) == ["cart", "desk", "door", "door", "gate"]
    assert "haunted" not in str(everything + heard)


def test_a_reader_goes_on_after_the_last_event_that_it_read(served: tuple[Memory, httpx.Client]) -> None:
    memory, client = served
    assert client.post("/v1/banks/store/observations?wait=true", json=FIRST).status_code == 200

    heard = events_of(client, 2, "/v1/banks/store/changes?since=start")
    client.post("/v1/banks/store/observations?wait=true", json=[*THEN, *LAST])
    rest = events_of(client, 3, "/v1/banks/store/changes", **{"Last-Event-ID": heard[-1]["id"]})
    page = memory.changes(bank="store")

    names = sorted(event["entity"]["name"] for event in heard + rest)
    assert names == sorted(moved.entity.name for moved in page.changes) == ["cart", "desk", "door", "door", "gate"]
    assert memory.changes(bank="store", after=page.next).changes == ()
