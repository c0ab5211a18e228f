"""Following a bank over HTTP: what moves is told once to whom it concerns, resumed with nothing lost, and ends well."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from following import STREAM, events_of
from http_served import opened, served, settings_in

from beliefmesh.grant import Grant
from beliefmesh.http.app import create_app
from beliefmesh.http.drain import Drain
from beliefmesh.http.events import Event, EventBatch, EventStream
from beliefmesh.keyring import KeyRing
from beliefmesh.memory import Memory
from beliefmesh.settings import HttpSettings
from schemas.errors import StoreUnavailable

NOW = 1_718_020_800_000_000
PATH = "/v1/banks/shop/changes"


@pytest.fixture
def mesh(tmp_path: Path) -> Iterator[tuple[Memory, httpx.Client]]:
    with opened(settings_in(tmp_path / "mesh")) as both:
        yield both


@pytest.fixture
def memory(mesh: tuple[Memory, httpx.Client]) -> Memory:
    return mesh[0]


@pytest.fixture
def client(mesh: tuple[Memory, httpx.Client]) -> httpx.Client:
    return mesh[1]


def note(name: str, value: str, **more: Any) -> dict[str, Any]:
    claims = [{"entity": name, "attribute": "state", "value": value}]
    return {"id": f"o-{name}-{value}", "text": f"{name} is {value}.", "agent": "ann", "claims": claims, **more}


def values(events: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return [(event["entity"]["name"], [belief["value"] for belief in event["beliefs"]]) for event in events]


def test_a_stream_tells_what_moved_and_goes_on_from_the_last_id_with_nothing_lost(
    memory: Memory, client: httpx.Client
) -> None:
    for name in ("desk", "door", "gate"):
        memory.retain(note(name, "open"), bank="shop")

    first = events_of(client, 2, f"{PATH}?since=start")
    memory.retain(note("wall", "white"), bank="shop")
    rest = events_of(client, 2, f"{PATH}?since=start", **{"Last-Event-ID": first[-1]["id"]})

    assert sorted(values(first + rest)) == [
        ("desk", ["open"]),
        ("door", ["open"]),
        ("gate", ["open"]),
        ("wall", ["white"]),
    ]
    assert {event["kind"] for event in first + rest} == {"change"}
    assert all(
        event["observations"] == [f"o-{event['entity']['name']}-{event['beliefs'][0]['value']}"] for event in rest
    )
    assert all(event["changed"] == [event["beliefs"][0]["id"]] for event in first)


def test_a_client_that_takes_pages_follows_by_cursor(memory: Memory, client: httpx.Client) -> None:
    start = client.get(PATH).json()
    memory.retain([note(f"n{i}", "x") for i in range(7)], bank="shop")

    found, cursor = [], start["next"]
    for _ in range(20):
        page = client.get(PATH, params={"cursor": cursor, "limit": 2}).json()
        found += page["changes"]
        cursor = page["next"]
        if not page["more"]:
            break

    assert start["changes"] == []
    assert sorted(name for name, _ in values(found)) == [f"n{i}" for i in range(7)]
    assert client.get(PATH, params={"cursor": cursor}).json()["changes"] == []


def test_nobody_hears_what_they_may_not_see(memory: Memory, client: httpx.Client) -> None:
    memory.retain(note("desk", "open"), bank="shop")
    start = client.get(PATH).json()["next"]
    memory.retain(note("desk", "haunted", agent="lena", visibility="private"), bank="shop")
    memory.retain(note("Wei", "leaving", agent="lena", visibility="private"), bank="shop")
    memory.retain(note("pay", "low", agent="omar", visibility="group", readers=["group:hr"]), bank="shop")
    memory.retain(note("till", "empty"), bank="other")

    def heard(principal: str = "", groups: str = "", bank: str = "shop") -> str:
        headers = {"X-Beliefmesh-Principal": principal, "X-Beliefmesh-Groups": groups}
        given = {name: value for name, value in headers.items() if value}
        asked = {"cursor": start} if bank == "shop" else {"since": "start"}
        return client.get(f"/v1/banks/{bank}/changes", params=asked, headers=given).text

    assert json.loads(heard())["changes"] == []
    assert "haunted" in heard("lena")
    assert "leaving" in heard("lena")
    assert "pay" not in heard("lena")
    assert "pay" in heard("ann", "hr")
    assert "haunted" not in heard("ann", "hr")
    assert "till" in heard(bank="other")
    assert "desk" not in heard(bank="other")
    assert json.loads(heard(bank="third"))["changes"] == []


def test_a_cursor_of_another_bank_is_refused_and_so_is_one_of_another_log(memory: Memory, client: httpx.Client) -> None:
    memory.retain(note("desk", "open"), bank="shop")
    other = client.get("/v1/banks/other/changes").json()["next"]

    assert client.get(PATH, params={"cursor": other}).status_code == 400
    assert client.get(PATH, headers={**STREAM, "Last-Event-ID": other}).status_code == 400
    assert client.get(PATH, headers={**STREAM, "Last-Event-ID": "x"}).status_code == 400


def test_a_stream_ends_when_its_key_is_taken_away(tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "mesh")
    ring = KeyRing(tmp_path / "mesh" / "keys.json")
    ring.create(Grant(name="root", role="admin"), NOW)
    token = ring.create(Grant(name="mine", role="reader", banks=("shop",)), NOW)
    with opened(settings) as (memory, client):
        memory.retain(note("desk", "open"), bank="shop")
        path = f"{PATH}?since=start"
        with client.stream("GET", path, headers={**STREAM, "Authorization": f"Bearer {token}"}) as response:
            lines = response.iter_lines()
            while not next(lines).startswith("data"):
                pass
            ring.revoke("mine")
            rest = "\n".join(lines)

    assert "event: end" in rest
    assert "not_authenticated" in rest


def test_so_many_streams_last_as_the_settings_allow_and_they_keep_no_request_out(tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "mesh", http=HttpSettings(max_streams=1, max_in_flight=1))
    with opened(settings) as (_, client), client.stream("GET", PATH, headers=STREAM) as response:
        lines = response.iter_lines()
        assert next(lines) == ": welcome"

        refused = client.get(PATH, headers=STREAM)
        page = client.get(PATH)

    assert (refused.status_code, refused.headers["Retry-After"], page.status_code) == (429, "1", 200)


def test_when_the_process_drains_streams_end_and_what_is_new_goes_elsewhere(tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "mesh")
    with Memory(settings=settings) as memory:
        app = create_app(memory, settings)
        with served(app) as client, client.stream("GET", PATH, headers=STREAM) as response:
            lines = response.iter_lines()
            assert next(lines) == ": welcome"
            app.state.drain.begin()
            rest = "\n".join(lines)
            refused = client.get("/v1/banks")

    assert '"code":"draining"' in rest
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert refused.json()["error"]["code"] == "draining"


# The stream itself, with a reader of our own.


class Reader:
    """Takes what a stream sends; `stalls` after so many parts, for `seconds`."""

    def __init__(self, stalls: int = 1_000, seconds: float = 0.0) -> None:
        self.parts: list[bytes] = []
        self.ended = False
        self._stalls = stalls
        self._seconds = seconds

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            if len(self.parts) >= self._stalls:
                await asyncio.sleep(self._seconds)
            self.parts.append(message["body"])
            self.ended = not message["more_body"]

    async def receive(self) -> Any:
        await asyncio.sleep(3_600)


def streamed(reader: Reader, batches: list[EventBatch | Exception], drain_after: bool = True, **timing: float) -> str:
    """Run a stream of these batches to its end; returns all that was sent."""

    async def run() -> None:
        drain = Drain()
        rest = iter(batches)

        async def following() -> EventBatch:
            batch = next(rest, None)
            if batch is None:
                if drain_after:
                    drain.begin()
                return EventBatch((), "9", more=False)
            if isinstance(batch, Exception):
                raise batch
            return batch

        stream = EventStream(following, drain, **{"pause": 0.0, **timing})
        await asyncio.wait_for(stream({}, reader.receive, reader.send), 20)

    asyncio.run(run())
    return b"".join(reader.parts).decode()


ONE = EventBatch((Event("change", b'{"n":1}', "7"),), "7", more=True)


def test_a_quiet_stream_has_heartbeats_that_carry_the_id_to_resume_from() -> None:
    told = streamed(Reader(), [EventBatch((), "8", more=False)] * 3, heartbeat=0.0)

    assert ": alive\nid: 8\n\n" in told


def test_a_store_that_fails_ends_the_stream_with_its_error() -> None:
    reader = Reader()

    told = streamed(reader, [ONE, StoreUnavailable("the log cannot be read")])

    assert "id: 7" in told
    assert json.loads(told.partition("event: end\ndata: ")[2])["error"]["code"] == "store_unavailable"
    assert reader.ended


def test_a_slow_reader_is_told_so_and_let_go() -> None:
    reader = Reader(stalls=1, seconds=0.2)

    told = streamed(reader, [ONE] * 50, patience=0.1)

    assert told.count("event: change") == 1
    assert '"code":"slow"' in told
    assert reader.ended


def test_a_reader_that_takes_nothing_more_is_dropped() -> None:
    reader = Reader(stalls=1, seconds=3_600)

    told = streamed(reader, [ONE] * 50, patience=0.05)

    assert told == ": welcome\n\n"


def test_the_client_follows_as_the_memory_does(memory: Memory, client: httpx.Client) -> None:
    memory.retain(note("desk", "open"), bank="shop")
    remote = Memory.connect(str(client.base_url).rstrip("/"), bank="shop")

    page = remote.changes()

    assert page.changes == memory.changes(bank="shop").changes
    assert remote.changes(after=page.next).changes == remote.changes(after="now").changes == ()


def test_what_moved_is_plain_data(memory: Memory) -> None:
    memory.retain(note("desk", "open"), bank="shop")

    page = memory.changes(bank="shop")

    assert msgspec.json.decode(msgspec.json.encode(page.changes))[0]["slot"] == page.changes[0].slot
    assert memory.changes(bank="shop", after=page.next).changes == ()
    assert memory.changes(bank="shop", after="now").next == page.next
