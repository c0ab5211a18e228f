"""The door of the API: every route against every kind of caller, and what a caller may tell as whom."""

import hmac
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from fastapi import FastAPI
from http_served import routes_of, served

from beliefmesh.cli.entry import run
from beliefmesh.grant import Grant
from beliefmesh.http.app import create_app
from beliefmesh.keyring import KeyRing
from beliefmesh.memory import Memory
from beliefmesh.settings import AccessSettings, MeshSettings, Settings, StoreSettings, WebhookSettings
from schemas.errors import AccessDenied, InvalidSetting, NotAuthenticated

Ask = Callable[..., httpx.Response]

NOW = 1_718_020_800_000_000
NOTE = {
    "id": "note",
    "text": "Wei wants to leave the shop.",
    "agent": "lena",
    "visibility": "private",
    "claims": [{"entity": "Wei", "attribute": "plan", "value": "leave"}],
}
PLAIN = {"text": "Shipping is free.", "claims": [{"entity": "shop", "attribute": "shipping", "value": "free"}]}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A mesh with an audit log."""
    return Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(embedder="hashing:256"),
        access=AccessSettings(audit=str(tmp_path / "audit.jsonl")),
    )


@pytest.fixture
def ring(settings: Settings) -> KeyRing:
    """The keys of that mesh."""
    return KeyRing(Path(settings.mesh.folder) / "keys.json")


@pytest.fixture
def app(settings: Settings, ring: KeyRing) -> Iterator[FastAPI]:
    """The API over a memory that has something in the banks acme and other."""
    ring.create(Grant(name="root", role="admin"), NOW)
    with Memory(settings=settings) as memory:
        memory.retain(NOTE, bank="acme")
        memory.retain({**PLAIN, "id": "o"}, bank="other")
        yield create_app(memory, settings)


@pytest.fixture
def client(app: FastAPI) -> Iterator[httpx.Client]:
    """A client of it."""
    with served(app) as client:
        yield client


@pytest.fixture
def ask(client: httpx.Client, ring: KeyRing) -> Ask:
    """Makes a request with a key of the rights named."""
    tokens: dict[Grant, str] = {}

    def asked(method: str, path: str, grant: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        headers = dict(more.pop("headers", {}))
        if grant is not None:
            made = Grant(**{"name": f"key {len(tokens)}", **grant})
            headers["Authorization"] = f"Bearer {ring.create(made, NOW)}"
            tokens[made] = headers["Authorization"]
        return client.request(method, path, headers=headers, **more)

    return asked


def test_without_a_key_no_route_answers(app: FastAPI, ask: Ask) -> None:
    for method, path in routes_of(app):
        for headers in ({}, {"Authorization": "Bearer bm_1_2"}, {"Authorization": "Basic eDp5"}):
            response = ask(method, path, headers=headers, json={})

            assert response.status_code == 401, (method, path)
            assert response.json()["error"]["code"] == "not_authenticated"
            assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_key_of_another_bank_is_refused_by_every_route_of_a_bank_and_by_those_of_all(app: FastAPI, ask: Ask) -> None:
    open_to_all = {("GET", f"/v1/{name}") for name in ("banks", "jobs", "sources", "receipts/x")}

    for method, path in routes_of(app):
        response = ask(method, path, {"role": "admin", "banks": ("other",)}, json={})

        refused = response.status_code == 403 and response.json()["error"]["code"] == "access_denied"
        assert refused is ((method, path) not in open_to_all), (method, path, response.text)


def test_a_reader_asks_and_changes_nothing(app: FastAPI, ask: Ask) -> None:
    asking = {("POST", f"/v1/banks/acme/{verb}") for verb in ("recall", "reflect", "explanations")}

    for method, path in routes_of(app):
        response = ask(method, path, {"role": "reader", "banks": ("acme",)}, json={})

        in_bank = path.startswith("/v1/banks/acme/")
        if (method, path) == ("GET", "/v1/banks/acme/export"):
            assert response.status_code == 403, "a backup has every word, whoever it was meant for"
            continue
        if in_bank and method != "GET" and (method, path) not in asking:
            assert response.status_code == 403, (method, path, response.text)
        if in_bank and (method == "GET" or (method, path) in asking):
            assert response.status_code != 403, (method, path, response.text)


def test_a_reader_who_asks_for_a_judgement_forms_no_opinion(ask: Ask) -> None:
    assert ask("POST", "/v1/banks/acme/observations?wait=true", {"role": "writer"}, json=PLAIN).status_code == 200
    question = {"text": "Is shipping for free the best choice?", "retrievers": ["keyword"], "min_confidence": 0.0}
    told = [
        ask("POST", "/v1/banks/acme/reflect", {"role": role}, json=question).json() for role in ("reader", "writer")
    ]

    assert [bool(one["cited"]) for one in told] == [True, True]
    assert [len(one["formed"]) for one in told] == [0, 1]


def test_a_writer_does_not_run_the_mesh(ask: Ask) -> None:
    for method, path in (("GET", "/v1/stats"), ("POST", "/v1/doctor"), ("GET", "/v1/dead-letters")):
        assert ask(method, path, {"role": "writer"}, json={}).status_code == 403


def test_banks_are_listed_for_whom_they_are_open(ask: Ask) -> None:
    assert ask("GET", "/v1/banks", {"role": "reader", "banks": ("oth*",)}).json()["banks"] == ["other"]
    assert ask("GET", "/v1/banks", {"role": "reader"}).json()["banks"] == ["acme", "other"]


def test_a_principal_cannot_be_borrowed_by_header(ask: Ask) -> None:
    question = {"text": "What does Wei plan?"}
    as_lena = {"X-Beliefmesh-Principal": "lena"}

    own = ask("POST", "/v1/banks/acme/recall", {"role": "reader", "principal": "lena"}, json=question)
    other = ask("POST", "/v1/banks/acme/recall", {"role": "reader", "principal": "omar"}, json=question)
    borrowed = ask(
        "POST", "/v1/banks/acme/recall", {"role": "admin", "principal": "omar"}, json=question, headers=as_lena
    )
    trusted = ask("POST", "/v1/banks/acme/recall", {"role": "reader", "delegate": True}, json=question, headers=as_lena)

    assert "leave" in own.text
    assert "leave" in trusted.text
    assert "leave" not in other.text
    assert borrowed.status_code == 403
    assert "leave" not in borrowed.text


@pytest.mark.parametrize("taken", [{"agent": "treasurer"}, {"owner": "treasurer"}])
@pytest.mark.parametrize("content", ["json", "lines"])
def test_nobody_tells_in_the_name_of_another(ask: Ask, taken: dict[str, str], content: str) -> None:
    lines = [json.dumps(PLAIN), "not JSON", json.dumps({**PLAIN, **taken})]
    sent: dict[str, Any] = {"json": [PLAIN, {**PLAIN, **taken}]}
    if content == "lines":
        sent = {"content": "\n".join(lines), "headers": {"Content-Type": "application/x-ndjson"}}

    refused = ask("POST", "/v1/banks/fresh/observations", {"role": "writer", "principal": "omar"}, **sent)

    assert refused.status_code == 403
    assert "speaks as omar, not as 'treasurer'" in refused.json()["error"]["message"]
    assert "fresh" not in ask("GET", "/v1/banks", {"role": "reader"}).json()["banks"]


def test_what_is_told_bears_the_name_of_the_key(ask: Ask) -> None:
    told = ask("POST", "/v1/banks/acme/observations?wait=true", {"role": "writer", "principal": "omar"}, json=PLAIN)
    found = ask("POST", "/v1/banks/acme/recall", {"role": "reader"}, json={"text": "Is shipping free?"}).json()

    assert told.status_code == 200
    assert {one["evidence"]["agent"] for belief in found["found"] for one in belief["evidence"]} == {"omar"}


def test_feedback_and_revocation_are_in_the_name_of_the_key_too(ask: Ask) -> None:
    found = ask("POST", "/v1/banks/other/recall", {"role": "reader"}, json={"text": "Is shipping free?"}).json()
    belief = f"/v1/banks/other/beliefs/{found['found'][0]['belief']['id']}"

    for path, body in (("revoke", {"reason": "over"}), ("feedback", {"verdict": "wrong"})):
        as_other = ask(
            "POST", f"{belief}/{path}", {"role": "writer", "principal": "omar"}, json={**body, "agent": "treasurer"}
        )
        as_self = ask("POST", f"{belief}/{path}", {"role": "writer", "principal": "omar"}, json=body)

        assert (as_other.status_code, as_self.status_code) == (403, 200)


def test_health_and_metrics_need_no_key(client: httpx.Client) -> None:
    for path in ("/health/live", "/health/ready", "/metrics", "/openapi.json"):
        assert client.get(path).status_code == 200


def test_the_audit_log_tells_who_did_what_and_not_what_was_said(ask: Ask, settings: Settings) -> None:
    ask("POST", "/v1/banks/acme/observations", {"name": "w", "role": "writer", "principal": "omar"}, json=PLAIN)
    ask("POST", "/v1/banks/acme/observations", headers={"X-Beliefmesh-Principal": "eve"}, json=PLAIN)

    text = Path(settings.access.audit).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["grant"], line["principal"], line["status"]) for line in lines] == [
        ("w", "omar", 202),
        ("", "eve", 401),
    ]
    assert {(line["method"], line["bank"]) for line in lines} == {("POST", "acme")}
    assert "free" not in text


def test_where_no_key_was_made_the_headers_are_believed(settings: Settings) -> None:
    with Memory(settings=settings) as memory, served(create_app(memory, settings)) as client:
        assert client.get("/v1/stats").status_code == 200


def test_keys_are_made_listed_changed_and_taken_away_by_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*arguments: str) -> Any:
        assert run(["keys", *arguments, "--folder", str(tmp_path / "mesh"), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    made = told("create", "reports", "--role", "writer", "--for", "acme-*", "--as", "omar", "--days", "30")
    changed = told("rotate", "reports", "--grace", "1")
    listed = told("list")["keys"]

    assert made["key"] != changed["key"]
    assert [(key["name"], key["role"], key["banks"], key["principal"]) for key in listed] == [
        ("reports", "writer", ["acme-*"], "omar")
    ] * 2
    assert made["key"].rpartition("_")[2] not in json.dumps(listed)
    assert told("revoke", "reports") == {"revoked": "reports", "keys": 2}
    assert run(["keys", "revoke", "reports", "--folder", str(tmp_path / "mesh")]) == 3


def test_the_client_library_sends_its_key_and_says_when_it_has_none(app: FastAPI, ring: KeyRing) -> None:
    token = ring.create(Grant(name="mine", role="writer", banks=("acme",), principal="omar"), NOW)

    with served(app) as client:
        url = str(client.base_url).rstrip("/")
        told = Memory.connect(url, bank="acme", key=token).retain("The shop closes at 18:00.")

        assert len(told.ids) == 1
        with pytest.raises(NotAuthenticated, match="keys create"):
            Memory.connect(url, bank="acme").recall("When does the shop close?")
        with pytest.raises(AccessDenied, match="no access to the bank 'other'"):
            Memory.connect(url, bank="other", key=token).recall("When does the shop close?")


def test_a_source_needs_a_key_that_speaks_for_others_or_a_signature_for_the_bank_of_the_mesh(
    settings: Settings, ring: KeyRing
) -> None:
    ring.create(Grant(name="root", role="admin"), NOW)
    token = ring.create(Grant(name="own", role="admin", principal="omar"), NOW)
    signed = msgspec.structs.replace(settings, webhooks=WebhookSettings(github_secret="hush"))
    body = b'{"action": "opened"}'
    fitting = {"X-Hub-Signature-256": "sha256=" + hmac.new(b"hush", body, "sha256").hexdigest()}

    with Memory(settings=signed) as memory, served(create_app(memory, signed)) as client:

        def sent(bank: str, headers: dict[str, str]) -> int:
            return client.post(f"/v1/banks/{bank}/sources/github", content=body, headers=headers).status_code

        assert sent("default", {"Authorization": f"Bearer {token}"}) == 403
        assert sent("default", {}) == sent("default", {"X-Hub-Signature-256": "sha256=0"}) == 401
        assert sent("acme", fitting) == 401
        assert sent("default", fitting) not in (401, 403)


def test_taking_the_last_key_away_locks_everybody_out_and_lets_nobody_in(client: httpx.Client, ring: KeyRing) -> None:
    assert client.get("/v1/stats").status_code == 401

    ring.revoke("root")

    assert client.get("/v1/stats").status_code == 401


def test_jobs_and_calibration_are_an_admins(ask: Ask) -> None:
    for path in ("jobs/decay", "calibrate", "profile"):
        assert ask("POST", f"/v1/banks/acme/{path}", {"role": "writer"}, json={}).status_code == 403, path


@pytest.mark.parametrize(
    "source", ["alice", {"id": "alice", "origin": "alice", "type": "document"}, {"origin": "alice"}]
)
def test_the_source_that_a_caller_names_is_a_label_and_the_voice_is_its_own(ask: Ask, source: Any) -> None:
    told = {"text": "Shipping is free.", "claims": PLAIN["claims"], "source": source}
    ask("POST", "/v1/banks/acme/observations?wait=true", {"role": "writer", "principal": "bob"}, json=told)

    found = ask("POST", "/v1/banks/acme/recall", {"role": "reader"}, json={"text": "Is shipping free?"}).json()

    for belief in found["found"]:
        for one in belief["evidence"]:
            assert one["evidence"]["source"].get("origin", one["evidence"]["source"]["id"]) == "bob"
            assert one["evidence"]["source"].get("type", "other") == "other"


def test_letters_are_set_aside_by_who_may_speak_for_others_only(ask: Ask) -> None:
    assert ask("POST", "/v1/banks/acme/refused", {"role": "writer", "principal": "bob"}, content=b"").status_code == 403


def test_a_body_of_lists_within_lists_is_bad_input(ask: Ask) -> None:
    nested = "[" * 700 + "]" * 700
    sent = {"content": nested, "headers": {"Content-Type": "application/json"}}

    refused = ask("POST", "/v1/banks/acme/observations", {"role": "writer", "principal": "bob"}, **sent)

    assert refused.status_code in (400, 422)


def test_an_empty_file_of_keys_keeps_the_door_shut_at_the_next_start(settings: Settings, ring: KeyRing) -> None:
    ring.create(Grant(name="root", role="admin"), NOW)
    ring.revoke("root")

    with Memory(settings=settings) as memory, served(create_app(memory, settings)) as client:
        assert client.get("/v1/stats").status_code == 401


def test_a_file_of_keys_that_was_named_and_is_not_there_is_told(settings: Settings, tmp_path: Path) -> None:
    lost = msgspec.structs.replace(settings, access=AccessSettings(keys=str(tmp_path / "not mounted")))

    with Memory(settings=lost) as memory, pytest.raises(InvalidSetting, match="is not there"):
        create_app(memory, lost)
