"""Hand-written hostile requests to every route: never a fault of the server, never a word of another bank."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI
from http_served import routes_of, served, settings_in

from beliefmesh.grant import Grant
from beliefmesh.http.app import create_app
from beliefmesh.keyring import KeyRing
from beliefmesh.memory import Memory

pytestmark = pytest.mark.slow

NOW = 1_718_020_800_000_000
SECRET = "zephyr-4711"
"""Stands in every word that the other bank, and the private shelf of this one, hold."""

NAMES = [
    "*",
    "%",
    "%25",
    "_",
    "?",
    "..",
    "../victim",
    "..%2fvictim",
    "victim/beliefs",
    "%00",
    "a%00b",
    "\x00",
    "\x7f\x1b[2J",
    "ä" * 300,
    "x" * 5_000,
    "\u202evictim",
    "\U0001f4a5",
    "%ed%a0%80",
    "%ff%fe",
    "' OR 1=1 --",
    '"; DROP TABLE beliefs; --',
    "{bank}",
    "${jndi:ldap://x}",
    "<script>alert(1)</script>",
    "-1",
    "0",
    "1e400",
    "NaN",
    "null",
    "true",
    "b" + "0" * 32,
    "s" + "0" * 32,
    "n" + "0" * 32,
    "0:1,1:99999999999999999999",
    "\r\nX-Injected: 1",
]
BODIES: list[bytes] = [
    b"",
    b"{",
    b"null",
    b"0",
    b"-0",
    b"1e400",
    b"NaN",
    b'"\\ud800"',
    b'"\xff\xfe"',
    b'{"text": "\\u0000"}',
    b'{"text": "x", "text": "y"}',
    b'{"text": "x", "bank": "victim"}',
    b'{"text": "x", "principal": {"id": "lena"}}',
    b'{"text": "x", "agent": "lena"}',
    b'{"text": "x", "weight": 1e309}',
    b'{"text": "x", "weight": NaN}',
    b'{"text": "x", "observed_at": 1e300}',
    b'{"text": "x", "observed_at": "9999-99-99"}',
    b'{"text": "x", "observed_at": 99999999999999999999999}',
    b'{"text": "x", "limit": 99999999999999999999999}',
    b'{"text": "x", "limit": -1, "max_tokens": 1.5, "retrievers": ["none"], "deadline": 1e9}',
    b'{"text": "x", "scope": {"a": {"b": 1}}, "metadata": {"k": 1}}',
    b'{"text": "x", "claims": [{"entity": {"name": "", "type": ""}, "value": []}]}',
    b'{"text": "x", "claims": [{"entity": "e", "attribute": "same_as", "value": "*"}]}',
    b'{"entity": {"name": "*", "type": "*", "bank": "victim"}, "into": "%"}',
    b'{"entity": [], "into": {}}',
    b'{"ids": ["*", "%", ""], "owner": "", "source": "*"}',
    b'{"reason": {}, "expected_version": 1e18, "agent": 7}',
    b'{"reason": "x", "expected_version": -99999999999999999999}',
    b'{"verdict": "right\\u0000"}',
    b'{"gold": [{"entity": null}], "feedback": 3}',
    b'{"session": "\\ud800", "wait": "yes"}',
    b'{"skepticism": 1e9, "background": ["x"]}',
    b'{"__class__": 1, "self": 1, "constructor": {"prototype": 1}}',
    b"[" * 100_000,
    b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    json.dumps({"text": "x", **{f"k{n}": n for n in range(5_000)}}).encode(),
    b'"' + b"x" * 900_000 + b'"',
    b'{"weight": -1}\n\x00\n{"text": "y"}\n' + b"\xff" * 10,
]
QUERIES = [
    "limit=0",
    "limit=-1",
    "limit=99999999999999999999",
    "limit=1.5",
    "cursor=*",
    "cursor=%00",
    "cursor=AAAA",
    "cursor=" + "A" * 9_000,
    "limit=1&limit=2&cursor=",
    "now=9999-99-99&as_of=1e400&at_least=NaN&timeout=-1&seconds=1e9&mode=*",
    "now=infinity&as_of=%ff&at_least=2&timeout=1e400&seconds=NaN",
    "belief=*&entity=*&attribute=%25&type=%00",
    "entity=" + "x" * 3_000 + "&attribute=" + "y" * 3_000,
    "name=%00&status=*&network=%25&job=*&bank=victim",
    "since=never&wait=perhaps&expected_version=-1&fix=2&file=../../etc/passwd",
    "%00=%00&[]=1&a[b]=c",
]
HEADERS: list[dict[str, bytes]] = [
    {"Idempotency-Key": b"\xff\x01"},
    {"Idempotency-Key": b"x" * 4_000},
    {"Last-Event-ID": b"\xff"},
    {"X-Beliefmesh-Principal": b"\xc3\x28"},
    {"X-Beliefmesh-Groups": b"," * 500 + b"\xff"},
    {"Accept": b"application/msgpack, */*;q=2"},
    {"Content-Type": b"application/x-ndjson; charset=\xff"},
    {"Content-Type": b"multipart/form-data; boundary=x"},
    {"Content-Encoding": b"gzip"},
    {"X-Forwarded-For": b"127.0.0.1", "X-HTTP-Method-Override": b"DELETE", "X-Original-URL": b"/v1/stats"},
    {"Authorization": b"Bearer"},
    {"Authorization": b"Bearer bm_\xff_\xff"},
    {"Authorization": b"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0."},
    {"Host": b"victim"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "mesh"


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[FastAPI]:
    """A mesh with a bank `victim`, and a private shelf in the bank `acme`; `mallory` is an admin of acme alone."""
    mesh = settings_in(folder)
    KeyRing(folder / "keys.json").create(Grant(name="root", role="admin", delegate=True), NOW)
    claim = {"entity": SECRET, "attribute": "is", "value": SECRET}
    with Memory(settings=mesh) as memory:
        memory.retain({"text": f"{SECRET} is here.", "claims": [claim]}, bank="victim")
        memory.retain(
            {"text": f"{SECRET} is mine.", "claims": [claim], "agent": "lena", "visibility": "private"}, bank="acme"
        )
        memory.retain({"text": "The desk is open."}, bank="acme")
        yield create_app(memory, mesh)


@pytest.fixture(scope="module")
def mallory(app: FastAPI, folder: Path) -> Iterator[httpx.Client]:
    token = KeyRing(folder / "keys.json").create(
        Grant(name="mallory", role="admin", banks=("acme",), principal="mallory"), NOW
    )
    with served(app) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


def harmless(response: httpx.Response, what: object) -> None:
    """No fault of the server, one shape for errors, and no word of what the caller may not see."""
    assert response.status_code < 500, (what, response.status_code, response.text)
    assert SECRET not in response.text, what
    assert "x-injected" not in response.headers, what
    if response.status_code >= 400:
        assert set(response.json()["error"]) == {"code", "message", "field"}, (what, response.text)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_in_a_path_does_harm(app: FastAPI, mallory: httpx.Client, name: str) -> None:
    raw = quote(name, safe="%" if name.startswith("%") or "%" in name else "")
    named = [route for route in routes_of(app, name=raw) if raw in route[1]]
    in_bank = [("GET", f"/v1/banks/{raw}/beliefs"), ("POST", f"/v1/banks/{raw}/observations")]
    for method, path in [*named, *in_bank]:
        harmless(mallory.request(method, path, content=b"{}"), (method, path))


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:30]))
def test_no_body_does_harm(app: FastAPI, mallory: httpx.Client, body: bytes) -> None:
    for method, path in routes_of(app):
        if method == "POST" and not path.endswith(("/forget", "/doctor")):
            harmless(mallory.post(path, content=body), (path, body[:60]))


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:30])
def test_no_query_does_harm(app: FastAPI, mallory: httpx.Client, query: str) -> None:
    for method, path in routes_of(app):
        harmless(mallory.request(method, f"{path}?{query}", content=b"{}"), (method, path))


@pytest.mark.parametrize("headers", HEADERS, ids=str)
def test_no_header_does_harm(app: FastAPI, mallory: httpx.Client, headers: dict[str, bytes]) -> None:
    given = [
        (name, value) for name, value in mallory.headers.raw if name.decode().lower() not in map(str.lower, headers)
    ]
    for method, path in routes_of(app):
        request = httpx.Request(method, f"{mallory.base_url}{path}", content=b"{}")
        own = [(name.encode(), value) for name, value in headers.items()]
        kept = [pair for pair in request.headers.raw if pair[0].lower() in (b"host", b"content-length")]
        kept = [pair for pair in kept if pair[0].decode().lower() not in map(str.lower, headers)]
        request.headers = httpx.Headers([*kept, *[pair for pair in given if pair[0].lower() != b"host"], *own])
        harmless(mallory.send(request), (method, path, headers))


def test_ids_and_cursors_of_another_bank_and_of_a_private_shelf_open_nothing(
    app: FastAPI, mallory: httpx.Client, folder: Path
) -> None:
    memory: Memory = app.state.memory
    root = {"Authorization": "Bearer " + KeyRing(folder / "keys.json").create(Grant(name="r2", role="admin"), NOW)}
    foreign = [
        *(belief.id for belief in memory.beliefs(bank="victim").beliefs),
        *(belief.slot for belief in memory.beliefs(bank="victim").beliefs),
        *(belief.id for belief in memory.beliefs(bank="acme", principal="lena").beliefs if SECRET in belief.statement),
    ]
    cursors = [
        mallory.get(f"/v1/banks/victim/{path}", headers=root).json()["next"]
        for path in ("beliefs?limit=1", "changes", "entities?limit=1")
    ]

    assert all(foreign)
    for id in foreign:
        for method, path in routes_of(app, name=id):
            harmless(mallory.request(method, path, content=b"{}"), (method, path))
        harmless(mallory.get("/v1/banks/acme/slots/history", params={"belief": id}), id)
        harmless(mallory.post("/v1/banks/acme/forget", json={"ids": [id], "dry_run": True}), id)
        for body in ({"reason": "x"}, {"verdict": "wrong"}):
            harmless(
                mallory.post(f"/v1/banks/acme/beliefs/{id}/{'revoke' if 'reason' in body else 'feedback'}", json=body),
                id,
            )
    for cursor in filter(None, cursors):
        for path in ("beliefs", "changes", "entities"):
            response = mallory.get(f"/v1/banks/acme/{path}", params={"cursor": cursor})
            harmless(response, cursor)
            assert response.status_code == 400
    assert memory.beliefs(bank="victim").beliefs[0].status == "active"


def test_everything_that_mallory_may_list_and_ask_is_without_the_secret(mallory: httpx.Client) -> None:
    for path in ("beliefs", "entities", "changes?since=start", "narratives", "stats", "budget", "entities/proposals"):
        response = mallory.get(f"/v1/banks/acme/{path}")
        harmless(response, path)
        assert response.status_code == 200, path
    for form in ("full", "structured", "graph", "text"):
        asked = {"text": "What is here and mine?", "form": form, "min_confidence": 0.0}
        harmless(mallory.post("/v1/banks/acme/recall", json=asked), form)
    assert mallory.get("/v1/banks").json()["banks"] == ["acme"]


RAW: list[Any] = [
    b"GET /v1/banks/acme/../victim/beliefs HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET http://elsewhere/v1/banks/victim/beliefs HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /v1//banks//victim/beliefs HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /v1/banks/acme%2f..%2fvictim/beliefs HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /v1/banks/acme/recall HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    b"POST /v1/banks/acme/recall HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n{}   ",
    b"POST /v1/banks/acme/recall HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"TRACE /v1/banks HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


@pytest.mark.parametrize("request_bytes", RAW, ids=lambda raw: repr(raw[:40]))
def test_no_bytes_on_the_wire_do_harm(app: FastAPI, mallory: httpx.Client, request_bytes: bytes) -> None:
    with socket.create_connection((mallory.base_url.host, mallory.base_url.port or 80), timeout=10) as raw:
        raw.sendall(request_bytes)
        raw.shutdown(socket.SHUT_WR)
        told = b""
        while part := raw.recv(65_536):
            told += part

    assert b" 500 " not in told[:20]
    assert SECRET.encode() not in told
    assert mallory.get("/health/live").status_code == 200
