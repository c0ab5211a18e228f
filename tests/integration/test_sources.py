"""Tickets and logs through a memory: what is current, every turn, repeats counted, bad input, HTTP, commands."""

import gzip
import io
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
import yaml

from beliefmesh.cli.entry import run
from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from beliefmesh.sourced import Sourced, import_source
from streams.sources.registry import open_source

LENA, WEI = {"displayName": "Lena Fischer"}, {"displayName": "Wei Zhang"}


def change(id: str, at: str, author: dict[str, str], field: str, old: str | None, new: str | None) -> dict[str, Any]:
    item = {"field": field, "fromString": old, "toString": new}
    return {"id": id, "created": f"{at}T09:00:00.000+0000", "author": author, "items": [item]}


def issue(key: str, *changes: dict[str, Any], status: str = "Done", **fields: object) -> dict[str, Any]:
    told = {
        "summary": "Checkout fails for vouchers",
        "created": "2024-05-01T09:00:00.000+0000",
        "updated": changes[-1]["created"] if changes else "2024-05-01T09:00:00.000+0000",
        "status": {"name": status},
        "reporter": LENA,
        **fields,
    }
    return {"key": key, "fields": told, "changelog": {"histories": list(changes)}}


PROJ_12 = issue(
    "PROJ-12",
    change("1", "2024-05-02", WEI, "status", "To Do", "In Progress"),
    change("2", "2024-05-10", WEI, "assignee", None, "Wei Zhang"),
    change("3", "2024-05-20", LENA, "status", "In Progress", "Done"),
    change("4", "2024-05-21", LENA, "assignee", "Wei Zhang", None),
    description="Two vouchers give a wrong total.",
)


def keep(memory: Memory, source: str, data: bytes | str, file: str = "app.log") -> Sourced:
    told = data.encode() if isinstance(data, str) else data
    return import_source(memory, open_source(source), io.BytesIO(told), file)


def held(memory: Memory, entity: str, type: str, attribute: str) -> list[str]:
    """Statuses and values of a slot, newest first."""
    told = memory.history(entity={"name": entity, "type": type}, attribute=attribute)
    return sorted(f"{belief.status} {belief.value}" for belief in told.beliefs)


def test_the_status_of_a_ticket_is_its_newest_and_its_history_has_every_turn(memory: Memory) -> None:
    assert keep(memory, "jira", json.dumps(PROJ_12)).read == 1
    found = memory.recall("What is the status of PROJ-12?").found
    assert found[0].belief.value == "Done"
    assert held(memory, "PROJ-12", "ticket", "status") == ["active Done", "revoked In Progress", "revoked To Do"]
    assert memory.recall("status of PROJ-12", as_of="2024-05-05").found[0].belief.value == "In Progress"
    assert held(memory, "PROJ-12", "ticket", "assignee") == ["revoked Wei Zhang"]


def test_what_is_imported_and_sent_again_changes_nothing(memory: Memory) -> None:
    keep(memory, "jira", json.dumps(PROJ_12))
    before = memory.state_hash()
    keep(memory, "jira", json.dumps({"issues": [PROJ_12]}))
    assert memory.state_hash() == before


def test_changes_that_arrive_in_any_order_end_in_the_same_status(memory: Memory) -> None:
    late = issue("PROJ-12", change("3", "2024-05-20", LENA, "status", "In Progress", "Done"))
    early = issue("PROJ-12", change("1", "2024-05-02", WEI, "status", "To Do", "In Progress"), status="In Progress")
    keep(memory, "jira", json.dumps(late) + "\n" + json.dumps(early))
    assert "active Done" in held(memory, "PROJ-12", "ticket", "status")


def test_an_internal_note_is_not_recalled_by_others(memory: Memory) -> None:
    audit = {
        "id": 1,
        "ticket_id": 9,
        "created_at": "2024-05-02T10:00:00Z",
        "author_id": 3,
        "events": [{"id": 4, "type": "Comment", "body": "The customer is a canary-4711.", "public": False}],
    }
    keep(memory, "zendesk", json.dumps({"audits": [audit]}))
    assert memory.recall("canary-4711").found == ()
    agent = memory.recall("canary-4711", principal={"id": "lena", "groups": ["agents"]}).found
    assert "canary-4711" in agent[0].belief.statement


def test_repeated_lines_are_counted_and_every_line_is_accounted_for(memory: Memory) -> None:
    lines = [f"2024-06-10 09:00:{n:02} WARN [w{n}] a.Queue - Interrupted while waiting for {n}" for n in range(60)]
    done = keep(memory, "log4j", "\n".join([*lines, "nonsense", "2024-06-10 09:01:00 INFO [m] a.Main - shutting down"]))
    assert (done.read, done.accepted, done.repeats, done.dead) == (62, 3, 59, 1)
    counted = memory.history(
        entity={"name": "app", "type": "service"}, attribute="count of “Interrupted while waiting for *”"
    )
    assert [belief.value for belief in counted.beliefs] == [60]
    assert held(memory, "app", "service", "state") == ["active stopping"]
    assert held(memory, "app", "service", "level") == ["active warning"]


def test_what_cannot_be_used_becomes_dead_letters_with_file_and_line_and_the_rest_is_kept(memory: Memory) -> None:
    good, bad = json.dumps(PROJ_12), json.dumps(issue("PROJ-13", description="x" * 1_100_000))
    no_day = json.dumps(issue("PROJ-14", change("1", "2024-02-31", WEI, "status", "To Do", "Done")))
    done = keep(memory, "jira", "\n".join([good[:200], bad, '{"colour": "red"}', no_day, good]), "export.json")
    letters = {letter.reason.partition(": document")[0].partition(", record")[0] for letter in memory.dead_letters()}
    assert done.dead == len(memory.dead_letters())
    assert {"export.json: line 1", "export.json: line 3", "export.json: line 4"} <= letters
    assert any("text: has 1100000 bytes" in letter.reason for letter in memory.dead_letters())
    assert "active Done" in held(memory, "PROJ-12", "ticket", "status")
    again = keep(memory, "jira", "\n".join([good[:200], bad, '{"colour": "red"}', no_day, good]), "export.json")
    assert again.dead == len(memory.dead_letters())


def test_a_line_of_fifty_megabytes_and_latin_1_bytes_hold_nothing_up(memory: Memory) -> None:
    data = b"2024-06-10 09:00:00 INFO one\n2024-06-10 09:00:01 INFO " + b"x" * 50_000_000
    done = keep(memory, "levels", data + b"\n2024-06-10 09:00:02 ERROR caf\xe9 closed\n")
    assert (done.read, done.dead) == (3, 1)
    assert "has 50000026 bytes; at most 1048576 are read" in memory.dead_letters()[0].reason
    assert memory.recall("café").found[0].belief.statement == "café closed"


MIXED = (
    "2024-06-10 09:00:00 INFO Grüße aus dem Café\n".encode()
    + "2024-06-10 09:00:01 ERROR Schlüssel verloren\n".encode("latin-1")
    + b"2024-06-10 09:00:02 ERROR \xe5\xba\x93 \xe9teint\n"
    + b"\xff\xfe\x00 no format has this\n"
    + "2024-06-10 09:00:03 ERROR 库存服务停了\n".encode()
)
"""A file to which programs of several encodings wrote; its third line holds two of them, the fourth none."""


def test_of_mixed_encodings_every_line_is_read_or_set_aside_with_its_bytes(memory: Memory) -> None:
    done = keep(memory, "levels", MIXED)

    assert (done.read, done.accepted, done.repeats, done.dead) == (5, 5, 0, 1)
    said = {found.belief.statement for found in memory.recall("Café Schlüssel éteint 库存服务", limit=20).found}
    assert {"Grüße aus dem Café", "Schlüssel verloren", "åº\x93 éteint", "库存服务停了"} <= said
    (letter,) = memory.dead_letters()
    assert letter.original == b"\xff\xfe\x00 no format has this"
    assert "line 4" in letter.reason


def test_documents_of_mixed_encodings_are_read_each_in_its_own(memory: Memory) -> None:
    utf8 = json.dumps(issue("PROJ-12", description="Grüße"), ensure_ascii=False).encode()
    latin = json.dumps(issue("PROJ-13", description="Käse"), ensure_ascii=False).encode("latin-1")
    done = keep(memory, "jira", b"\n".join([utf8, latin, b'{"key": "\xff'.ljust(20), utf8]))

    assert (done.read, done.dead) == (4, 1)
    assert b"\xff" in memory.dead_letters()[0].original
    for word in ("Grüße", "Käse"):
        assert word in memory.recall(word).found[0].belief.statement


def test_a_packed_file_that_is_cut_off_keeps_what_it_has_and_says_so(memory: Memory) -> None:
    packed = gzip.compress(b"".join(b"2024-06-10 09:00:00 INFO step\n" for _ in range(9)), mtime=0)
    done = keep(memory, "levels", packed[:-6])
    assert (done.read, done.dead) == (9, 1)
    assert "is not whole gzip" in done.reason


def test_a_syslog_line_without_a_year_is_of_the_last_one_and_a_day_that_is_none_is_refused(memory: Memory) -> None:
    done = keep(memory, "syslog", "Dec 31 23:59:59 web1 app: state=ready\nFeb 31 00:00:00 web1 app: state=lost\n")
    assert (done.read, done.dead) == (2, 1)
    told = memory.history(entity={"name": "app", "type": "service"}, attribute="state")
    assert [turn.at for turn in told.turns] == [1_704_067_199_000_000]


@pytest.fixture
def client(memory: Memory) -> Iterator[httpx.Client]:
    """A client of the memory, which is served on a free port from a thread."""
    server = uvicorn.Server(uvicorn.Config(create_app(memory, memory.home.settings), log_config=None))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=30.0) as opened:
        yield opened
    server.should_exit = True
    thread.join()
    listening.close()


HOOK = {
    "timestamp": 1716222600000,
    "webhookEvent": "jira:issue_updated",
    "user": LENA,
    "issue": {key: PROJ_12[key] for key in ("key", "fields")},
    "changelog": {"id": "3", "items": PROJ_12["changelog"]["histories"][2]["items"]},
}


def test_a_webhook_is_kept_and_a_redelivery_changes_nothing(client: httpx.Client, memory: Memory) -> None:
    first = client.post("/v1/banks/default/sources/jira?wait=true", json=HOOK)
    before = memory.state_hash()
    again = client.post("/v1/banks/default/sources/jira", json=HOOK)
    assert (first.status_code, again.status_code) == (200, 202)
    assert (first.json()["read"], first.json()["accepted"], first.json()["dead"]) == (1, 2, 0)
    memory.wait(again.json()["token"])
    assert memory.state_hash() == before
    assert held(memory, "PROJ-12", "ticket", "status") == ["active Done"]


def test_log_lines_are_taken_as_they_are(client: httpx.Client, memory: Memory) -> None:
    lines = "Jun  9 09:00:00 web1 app[7]: state=ready\nnonsense\n"
    told = client.post("/v1/banks/default/sources/syslog?wait=true&file=web1.log", content=lines).json()
    assert (told["read"], told["accepted"], told["dead"]) == (2, 2, 1)
    assert memory.dead_letters()[0].reason.startswith("web1.log: line 2: line: fits no pattern")


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("default/sources/jria", b"{}", 404, ""),
        ("default/sources/..%2F..%2Fetc%2Fx.yaml", b"{}", 404, ""),
        ("default/sources/jira", b"{", 400, "body"),
        ("default/sources/jira", b'{"colour": "red"}', 422, "body"),
        ("default/sources/syslog", gzip.compress(b"x", mtime=0), 422, "body"),
        ("-bad-/sources/jira", b"{}", 422, "bank"),
        ("default/sources/jira", b"[" + b" " * 20_000_000 + b"]", 413, "body"),
    ],
)
def test_a_bad_request_has_the_one_shape_and_keeps_nothing(
    client: httpx.Client, memory: Memory, path: str, body: bytes, status: int, field: str
) -> None:
    refused = client.post(f"/v1/banks/{path}", content=body)
    assert refused.status_code == status
    assert set(refused.json()) == {"error"}
    assert refused.json()["error"].get("field", "") == field
    assert memory.dead_letters() == []


def test_the_sources_are_listed_over_http(client: httpx.Client) -> None:
    named = {each["name"]: each["reads"] for each in client.get("/v1/sources").json()["sources"]}
    assert (named["jira"], named["syslog"]) == ("documents", "log lines")


def test_a_client_reads_its_own_source_and_what_it_cannot_use_is_set_aside_there(
    client: httpx.Client, memory: Memory
) -> None:
    remote = RemoteMemory(str(client.base_url))
    data = io.BytesIO(b"2024-06-10 09:00:00 INFO [m] a.Main - shutting down\nnonsense\n")
    done = import_source(remote, open_source("log4j"), data, "app.log")
    assert (done.read, done.accepted, done.dead) == (2, 2, 1)
    memory.wait(done.token)
    assert held(memory, "app", "service", "state") == ["active stopping"]
    letter = memory.dead_letters()[0]
    assert (letter.stage, letter.original, letter.headers["file"]) == ("source", b"nonsense", "app.log")


OWN = {
    "name": "orders",
    "records": [
        {
            "name": "order",
            "when": {"no": "*"},
            "observed_at": "{at}",
            "entity": {"name": "order {no}", "type": "order"},
            "claims": [{"attribute": "state", "value": "{state}"}],
        }
    ],
}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "hashing:256")

    def run_it(*arguments: str) -> tuple[int, Any]:
        code = run([*arguments, "--json"])
        return code, json.loads(capsysbinary.readouterr().out)

    return run_it


def test_the_command_line_imports_by_name_by_path_and_from_the_folder_of_the_mesh(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "jira.json").write_text(json.dumps(PROJ_12))
    (tmp_path / "orders.jsonl").write_text('{"no": 7, "state": "paid", "at": "2024-05-20"}\n{"colour": "red"}\n')
    (tmp_path / "orders.yaml").write_text(yaml.safe_dump(OWN))
    code, done = cli("import", "--source", "jira", "jira.json")
    assert (code, done["read"], done["dead"]) == (0, 1, 0)
    code, done = cli("import", "--source", "orders.yaml", "orders.jsonl")
    assert (code, done["read"], done["accepted"], done["dead"]) == (0, 2, 1, 1)
    (tmp_path / ".beliefmesh" / "sources").mkdir()
    (tmp_path / "orders.yaml").rename(tmp_path / ".beliefmesh" / "sources" / "orders.yaml")
    code, done = cli("import", "--source", "orders", "orders.jsonl")
    assert (code, done["accepted"]) == (0, 1)
    code, listed = cli("sources", "list")
    assert (code, listed[0]["name"], listed[0]["reads"]) == (0, "orders", "documents")
    code, shown = cli("sources", "show", "orders")
    assert yaml.safe_load(shown["text"]) == OWN


def test_an_import_ends_with_a_line_of_counts_and_what_was_set_aside_first(
    cli: Any, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "mixed.log").write_bytes(MIXED)

    assert run(["import", "--source", "levels", "mixed.log"]) == 0

    said = " ".join(capsysbinary.readouterr().out.decode().split())
    assert "5 read: 5 observations accepted, 0 repeats counted in them, 0 passed over, 1 set aside" in said
    assert "the first: line 4: line: fits no pattern" in said


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("import", "--source", "jria", "red.json"), 3, "no source 'jria'; did you mean 'jira'?"),
        (("import", "--source", "jira", "red.json"), 2, "nothing in red.json fits 'jira': 1 set aside, the first"),
        (("import", "--source", "nothing.yaml", "red.json"), 2, "nothing in red.json fits 'nothing.yaml': 1 set aside"),
        (("import", "--source", "none.yaml", "red.json"), 2, "none.yaml: cannot be read"),
        (("import", "--source", "bad.yaml", "red.json"), 2, "bad.yaml.record: is not a known field; did you mean"),
        (("sources", "show", "jria"), 3, "no source 'jria'"),
    ],
)
def test_what_is_wrong_with_a_source_is_said_in_one_line(
    cli: Any, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "red.json").write_text('{"colour": "red"}')
    (tmp_path / "nothing.yaml").write_text(yaml.safe_dump(OWN))
    (tmp_path / "bad.yaml").write_text("name: bad\nrecord: []\nrecords: []\n")
    ended, told = cli(*arguments)
    assert ended == code
    assert message in told["error"]["message"]
