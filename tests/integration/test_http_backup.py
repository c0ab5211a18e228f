"""A bank out of a served mesh and into another one: the same state, whole or refused, for an admin alone."""

import asyncio
import gzip
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cutting_proxy import CuttingProxy
from http_served import opened, settings_in

from beliefmesh.aio import AsyncMemory
from beliefmesh.cli.entry import run
from beliefmesh.grant import Grant
from beliefmesh.keyring import KeyRing
from beliefmesh.memory import Memory
from beliefmesh.packed import packings
from beliefmesh.settings import AccessSettings, HttpSettings
from schemas.errors import InvalidInput, StoreUnavailable, TooLarge, UnknownBank
from schemas.instant import parse_instant
from stores.ports import Record
from streams.topics import OBSERVATIONS

Mesh = tuple[Memory, httpx.Client]

AT = parse_instant("2024-06-10T12:00:00Z", "at")
NOW = 1_718_020_800_000_000
PATH = "/v1/banks/acme/import-backup"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, sample_lines: list[bytes]) -> Iterator[Mesh]:
    """A mesh whose bank acme holds the sample, and a private word."""
    with opened(settings_in(tmp_path_factory.mktemp("first") / "mesh")) as (memory, client):
        memory.import_lines(sample_lines, bank="acme")
        memory.retain({"text": "Wei wants to leave.", "agent": "lena", "visibility": "private"}, bank="acme")
        memory.retain("Stock is 10.", bank="other")
        yield memory, client


@pytest.fixture
def second(tmp_path: Path) -> Iterator[Mesh]:
    """An empty mesh."""
    with opened(settings_in(tmp_path / "second")) as both:
        yield both


@pytest.fixture
def backup(first: Mesh) -> bytes:
    """The backup of acme, as it goes out plain."""
    return first[1].get("/v1/banks/acme/export", headers={"Accept-Encoding": "identity"}).content


def url_of(mesh: Mesh) -> str:
    return str(mesh[1].base_url).rstrip("/")


def test_a_bank_goes_out_and_comes_back_over_http_with_the_same_state(first: Mesh, second: Mesh, backup: bytes) -> None:
    assert backup.splitlines()[1:-1] == list(first[0].export("acme"))[1:-1]

    restored = second[1].post(PATH, content=iter([backup[i : i + 5_000] for i in range(0, len(backup), 5_000)]))
    told = restored.json()
    waited = second[1].get(f"/v1/receipts/{told['token']}").json()

    assert (restored.status_code, waited) == (200, {"recallable": True})
    assert (told["bank"], told["policy"], told["observations"]) == ("acme", "taken", len(backup.splitlines()) - 2)
    assert second[0].state_hash("acme", AT) == first[0].state_hash("acme", AT)
    assert second[0].banks() == ["acme"]


@pytest.mark.parametrize("accepted", ["gzip", "zstd", "br, gzip;q=0.5", "zstd;q=0, gzip", "identity", "zstd;q=0"])
def test_a_backup_is_packed_as_the_caller_takes_it(first: Mesh, backup: bytes, accepted: str) -> None:
    wanted = {"identity": "", "zstd;q=0": "", "zstd": "zstd"}.get(accepted, "gzip")
    if wanted == "zstd" and "zstd" not in packings():
        pytest.skip("the zstd extra is not installed")

    with first[1].stream("GET", "/v1/banks/acme/export", headers={"Accept-Encoding": accepted}) as response:
        raw = b"".join(response.iter_raw())

    assert response.headers.get("Content-Encoding", "") == wanted
    assert response.headers["Vary"] == "Accept-Encoding"
    if wanted == "gzip":
        raw = gzip.decompress(raw)
    elif wanted == "zstd":
        zstandard = pytest.importorskip("zstandard")
        raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    assert raw.splitlines()[1:] == backup.splitlines()[1:]


def test_a_client_takes_a_bank_from_one_mesh_to_another(first: Mesh, second: Mesh) -> None:
    there, here = Memory.connect(url_of(first)), Memory.connect(url_of(second))

    done = here.import_backup(there.export("acme"))

    assert (done.bank, done.policy) == ("acme", "taken")
    assert here.state_hash("acme", AT) == first[0].state_hash("acme", AT)
    with pytest.raises(UnknownBank):
        next(there.export("nowhere"))
    with pytest.raises(InvalidInput, match="is of the bank acme, not of other"):
        here.import_backup(there.export("acme"), bank="other")
    with pytest.raises(InvalidInput, match="is empty"):
        here.import_backup([])


def test_an_import_is_awaited_and_an_export_is_iterated_with_asyncio(first: Mesh, second: Mesh) -> None:
    async def moved() -> int:
        async with AsyncMemory.connect(url_of(first)) as there, AsyncMemory.connect(url_of(second)) as here:
            lines = [line async for line in there.export("acme")]
            return (await here.import_backup(lines)).observations

    assert asyncio.run(moved()) > 300
    assert second[0].state_hash("acme", AT) == first[0].state_hash("acme", AT)


def test_by_command_a_running_mesh_is_asked(
    first: Mesh, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, file = first[0], str(tmp_path / "acme.jsonl.gz")
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "hashing:256")
    memory.home.folder.announce(url_of(first))

    def told(*arguments: str) -> dict[str, object]:
        assert run([*arguments, "--json"]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    out = told("export", file, "--bank", "acme", "--folder", str(memory.home.folder.path))
    back = told("import", "--backup", file, "--folder", str(tmp_path / "elsewhere"))
    over = told("import", "--backup", file, "--folder", str(memory.home.folder.path))

    assert out["observations"] == back["observations"] == over["observations"]
    with Memory(settings=settings_in(tmp_path / "elsewhere")) as elsewhere:
        assert elsewhere.state_hash("acme", AT) == memory.state_hash("acme", AT)


def test_an_upload_that_breaks_off_keeps_what_came_and_can_be_sent_again(
    first: Mesh, second: Mesh, backup: bytes
) -> None:
    address = (second[1].base_url.host, second[1].base_url.port or 80)
    with socket.create_connection(address) as broken:
        head = f"POST {PATH} HTTP/1.1\r\nHost: mesh\r\nTransfer-Encoding: chunked\r\n\r\n"
        part = backup[: len(backup) // 2]
        broken.sendall(head.encode() + f"{len(part):x}\r\n".encode() + part + b"\r\n")
    whole = second[1].post(PATH, content=backup)

    assert whole.status_code == 200
    second[0].wait(whole.json()["token"])
    assert second[0].state_hash("acme", AT) == first[0].state_hash("acme", AT)


@pytest.mark.parametrize(
    ("spoil", "status", "told"),
    [
        (lambda whole: whole[: whole.rindex(b"{")], 422, "ends early"),
        (lambda whole: b"", 422, "is empty"),
        (lambda whole: b'{"text": "an observation"}\n' * 200_000, 422, "line 1 is not a backup's"),
        (lambda whole: whole.replace(b'"acme"', b'"else"'), 422, "is of the bank else, not of acme"),
        (lambda whole: whole + b'"' + b"x" * 3_000_000, 413, "has a line over 2 MB"),
    ],
)
def test_what_is_no_whole_backup_is_refused_by_name(
    second: Mesh, backup: bytes, spoil: object, status: int, told: str
) -> None:
    body = spoil(backup)  # type: ignore[operator]
    refused = second[1].post(PATH, content=body)
    error = {422: InvalidInput, 413: TooLarge}[status]

    assert (refused.status_code, told in refused.json()["error"]["message"]) == (status, True), refused.text
    with pytest.raises(error, match=told):
        Memory.connect(url_of(second)).import_backup(body.splitlines(), bank="acme")


def test_a_packed_body_is_taken_whole_or_refused(first: Mesh, second: Mesh, backup: bytes) -> None:
    packed = gzip.compress(backup)

    def sent(body: bytes, packing: str) -> httpx.Response:
        return second[1].post(PATH, content=body, headers={"Content-Encoding": packing})

    cut, other, unknown = sent(packed[:-50], "gzip"), sent(backup, "gzip"), sent(backup, "br")
    assert sent(packed, "GZIP").status_code == 200
    assert [refused.status_code for refused in (cut, other, unknown)] == [422] * 3
    assert "is not whole gzip" in cut.json()["error"]["message"]
    assert "is not whole gzip" in other.json()["error"]["message"]
    assert unknown.json()["error"]["field"] == "Content-Encoding"
    second[0].home.worker.drain()
    assert second[0].state_hash("acme", AT) == first[0].state_hash("acme", AT)


def test_a_bomb_is_stopped_at_its_first_line(second: Mesh) -> None:
    bomb = gzip.compress(b"x" * 50_000_000)

    refused = second[1].post(PATH, content=bomb, headers={"Content-Encoding": "gzip"})

    assert refused.status_code == 413


def test_a_backup_sent_again_under_its_key_gets_the_same_reply(second: Mesh, backup: bytes) -> None:
    key = {"Idempotency-Key": "k1"}

    told = [second[1].post(PATH, content=backup, headers=key) for _ in range(2)]
    other = second[1].post(PATH, content=backup + b"\n", headers=key)

    assert told[0].json() == told[1].json()
    assert told[1].headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")


def test_a_reply_that_breaks_off_is_no_backup(first: Mesh) -> None:
    proxy = CuttingProxy(url_of(first), ["half"])

    with pytest.raises(StoreUnavailable, match="was cut off"):
        list(Memory.connect(proxy.url).export("acme"))

    proxy.stop()


def test_an_export_that_fails_on_the_way_breaks_its_connection(
    first: Mesh, backup: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = first[0].home.log
    topic, read = first[0].home.topics.name(OBSERVATIONS), log.read
    last = max(partition for partition, end in log.ends(topic).items() if end)

    def failing(topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        if partition == last:
            raise StoreUnavailable("the log cannot be read")
        return list(read(topic, partition, offset, limit))

    monkeypatch.setattr(log, "read", failing)
    plain = {"Accept-Encoding": "identity"}

    with first[1].stream("GET", "/v1/banks/acme/export", headers=plain) as broken:
        assert broken.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            broken.read()
    with pytest.raises(StoreUnavailable):
        list(Memory.connect(url_of(first), patience=0).export("acme"))


def test_an_admin_alone_may_who_also_asks_and_speaks_for_others(tmp_path: Path, backup: bytes) -> None:
    audit = tmp_path / "audit.jsonl"
    settings = settings_in(tmp_path / "mesh", access=AccessSettings(audit=str(audit)))
    keys = KeyRing(tmp_path / "mesh" / "keys.json")
    with opened(settings) as (memory, client):
        memory.retain("Stock is 10.", bank="acme")

        def status(method: str, path: str, **grant: object) -> int:
            key = keys.create(Grant(**{"name": f"k{len(keys.keys())}", **grant}), NOW)  # type: ignore[arg-type]
            return client.request(method, path, content=backup, headers={"Authorization": f"Bearer {key}"}).status_code

        assert status("GET", "/v1/banks/acme/export", role="writer", delegate=True) == 403
        assert status("GET", "/v1/banks/acme/export", role="admin", banks=("other",), delegate=True) == 403
        assert status("GET", "/v1/banks/acme/export", role="admin") == 403
        assert status("GET", "/v1/banks/acme/export", role="admin", banks=("acme",), delegate=True) == 200
        assert status("POST", PATH, role="writer", delegate=True) == 403
        assert status("POST", PATH, role="admin") == 403
        assert status("POST", PATH, role="admin", delegate=True) == 200
    noted = [json.loads(line) for line in audit.read_text(encoding="utf-8").splitlines()]
    assert [(line["grant"], line["status"]) for line in noted if line["status"] == 200] == [("k3", 200), ("k6", 200)]
    assert "10" not in {line.get("text") for line in noted}


def test_a_backup_is_one_of_the_streams_that_may_last(tmp_path: Path, backup: bytes) -> None:
    events = {"Accept": "text/event-stream"}
    with (
        opened(settings_in(tmp_path / "mesh", http=HttpSettings(max_streams=1))) as (_, client),
        client.stream("GET", "/v1/banks/acme/changes", headers=events) as stream,
    ):
        lines = stream.iter_lines()
        assert next(lines) == ": welcome"
        assert client.post(PATH, content=backup).status_code == 429
