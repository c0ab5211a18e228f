"""HTTP over a real memory: what each route answers, one error shape for everything else, and the remote client."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from beliefmesh.http.app import create_app
from beliefmesh.http.serve import address_of, health_served, listen
from beliefmesh.memory import Memory
from beliefmesh.movement import Movement
from beliefmesh.remote import RemoteMemory
from beliefmesh.settings import HttpSettings, MeshSettings, Settings, StoreSettings
from schemas.errors import InvalidInput, InvalidSetting, NotFound, StoreUnavailable, UnknownBank, VersionConflict
from schemas.job import JobRun
from schemas.routing import partition_of
from stores.ports import Entry, Log

SHIPPING = {
    "id": "o-new",
    "observed_at": "2024-05-20",
    "text": "Free shipping from 200.",
    "agent": "desk",
    "claims": [{"entity": "shop", "attribute": "free shipping from", "value": 200, "weight": 2}],
}
OLDER = {
    **SHIPPING,
    "id": "o-old",
    "agent": "archive",
    "observed_at": "2024-03-01",
    "text": "Free shipping from 100.",
    "claims": [{"entity": "shop", "attribute": "free shipping from", "value": 100, "weight": 2}],
}
NOTE = {
    "id": "o-note",
    "text": "Wei wants to leave the shop.",
    "agent": "lena",
    "visibility": "private",
    "claims": [{"entity": "Wei", "attribute": "plan", "value": "leave"}],
}


def settings_for(folder: Path, **http: Any) -> Settings:
    return Settings(
        mesh=MeshSettings(folder=str(folder), runtime="inline"),
        stores=StoreSettings(embedder="hashing:256"),
        http=HttpSettings(**http),
    )


class Served:
    """A memory served on a free port from a thread."""

    def __init__(self, memory: Memory) -> None:
        self.app = create_app(memory, memory.home.settings)
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_config=None, access_log=False))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(settings=settings_for(tmp_path / "mesh", max_body_mb=1, max_in_flight=2, max_waiting=0)) as opened:
        yield opened


@pytest.fixture
def served(memory: Memory) -> Iterator[Served]:
    running = Served(memory)
    yield running
    running.stop()


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=30.0) as opened:
        yield opened


def retained(client: httpx.Client, *observations: object) -> dict[str, Any]:
    response = client.post("/v1/banks/shop/observations?wait=true", json=list(observations))
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


def recalled(
    client: httpx.Client, text: str, headers: dict[str, str] | None = None, **fields: object
) -> dict[str, Any]:
    response = client.post("/v1/banks/shop/recall", json={"text": text, **fields}, headers=headers)
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


def statements(answer: dict[str, Any]) -> list[str]:
    return [found["belief"]["statement"] for found in answer["found"]]


# Telling


def test_what_is_retained_with_wait_is_recalled_with_its_confidence_and_evidence(client: httpx.Client) -> None:
    receipt = retained(client, SHIPPING, OLDER)

    answer = recalled(client, "From what amount is shipping free?", as_of="2024-06-10")

    assert receipt["ids"] == ["o-new", "o-old"]
    assert statements(answer) == ["Free shipping from 200."]
    assert answer["found"][0]["confidence"] == pytest.approx(0.774, abs=0.001)
    assert answer["found"][0]["evidence"][0]["evidence"]["observation_id"] == "o-new"


def test_without_wait_it_is_accepted_and_the_token_waits_for_it(client: httpx.Client) -> None:
    response = client.post("/v1/banks/shop/observations", json=SHIPPING)

    answer = recalled(client, "free shipping", as_of="2024-06-10", wait_for=response.json()["token"])

    assert response.status_code == 202
    assert statements(answer) == ["Free shipping from 200."]


def test_an_observation_sent_again_has_no_second_effect(client: httpx.Client) -> None:
    retained(client, SHIPPING)
    before = client.get("/v1/banks/shop/state-hash?now=2024-06-10").json()

    retained(client, SHIPPING)

    assert client.get("/v1/banks/shop/state-hash?now=2024-06-10").json() == before


def test_of_lines_the_good_ones_are_kept_and_a_bad_one_becomes_a_dead_letter(client: httpx.Client) -> None:
    lines = b"\n".join([json.dumps(SHIPPING).encode(), b'{"weight": -1}', json.dumps(OLDER).encode()])

    response = client.post(
        "/v1/banks/shop/observations?wait=true", content=lines, headers={"Content-Type": "application/x-ndjson"}
    )

    assert response.json()["accepted"] == 2
    assert response.json()["dead"] == 1
    letters = client.get("/v1/dead-letters").json()["dead_letters"]
    assert [(letter["original"], letter["reason"][:7]) for letter in letters] == [('{"weight": -1}', "weight:")]


def test_a_list_with_a_bad_observation_is_refused_whole(client: httpx.Client) -> None:
    response = client.post("/v1/banks/shop/observations?wait=true", json=[SHIPPING, {"text": "x", "weight": -1}])

    assert response.status_code == 422
    assert client.get("/v1/banks").json()["banks"] == []


# Asking


@pytest.mark.parametrize(
    ("form", "key"), [("full", "found"), ("structured", "memories"), ("graph", "nodes"), ("text", "text")]
)
def test_an_answer_comes_in_the_form_that_was_asked_for(client: httpx.Client, form: str, key: str) -> None:
    retained(client, SHIPPING)

    assert recalled(client, "free shipping", as_of="2024-06-10", form=form)[key]


def test_a_private_note_is_recalled_by_its_owner_alone(client: httpx.Client) -> None:
    retained(client, SHIPPING, NOTE)
    text = "Who wants to leave the shop?"

    assert "leave" not in json.dumps(recalled(client, text, as_of="2024-06-10") | {"question": ""})
    assert NOTE["text"] in statements(recalled(client, text, {"X-Beliefmesh-Principal": "lena"}))
    assert NOTE["text"] not in statements(recalled(client, text, {"X-Beliefmesh-Principal": "omar"}))


def test_a_belief_is_read_explained_and_its_slots_history_told(client: httpx.Client) -> None:
    retained(client, SHIPPING, OLDER)
    id = recalled(client, "free shipping", as_of="2024-06-10")["found"][0]["belief"]["id"]

    belief = client.get(f"/v1/banks/shop/beliefs/{id}").json()
    terms = client.get(f"/v1/banks/shop/beliefs/{id}/explain?as_of=2024-06-10").json()
    by_belief = client.get(f"/v1/banks/shop/slots/history?belief={id}").json()
    by_name = client.get("/v1/banks/shop/slots/history?entity=shop&attribute=free shipping from").json()

    assert belief["value"] == 200
    assert terms["support"] == pytest.approx(1.231, abs=0.001)
    assert by_belief["slot"] == by_name["slot"] == belief["slot"]
    assert [turn["at"] for turn in by_name["turns"]] == ["2024-03-01T00:00:00Z", "2024-05-20T00:00:00Z"]


def test_a_revoked_belief_is_not_recalled_and_a_wrong_version_is_a_conflict(client: httpx.Client) -> None:
    retained(
        client, {"text": "The desk is closed.", "claims": [{"entity": "desk", "attribute": "open", "value": False}]}
    )
    belief = recalled(client, "is the desk open?")["found"][0]["belief"]
    path = f"/v1/banks/shop/beliefs/{belief['id']}/revoke"

    stale = client.post(path, json={"reason": "it reopened", "expected_version": belief["version"] + 7})
    done = client.post(path, json={"reason": "it reopened", "agent": "lena"})

    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "version_conflict")
    assert done.status_code == 200
    assert "The desk is closed." not in statements(recalled(client, "is the desk open?"))


def test_feedback_that_a_belief_is_wrong_lowers_its_confidence(client: httpx.Client) -> None:
    retained(
        client, {"text": "The desk is closed.", "claims": [{"entity": "desk", "attribute": "open", "value": False}]}
    )
    id = recalled(client, "is the desk open?")["found"][0]["belief"]["id"]
    before = client.get(f"/v1/banks/shop/beliefs/{id}/explain").json()["confidence"]

    response = client.post(f"/v1/banks/shop/beliefs/{id}/feedback", json={"verdict": "wrong", "agent": "lena"})

    assert response.status_code == 200
    assert client.get(f"/v1/banks/shop/beliefs/{id}/explain").json()["confidence"] < before


# Running


def test_a_dead_letter_is_shown_refuses_a_replay_that_cannot_work_and_is_dropped(
    client: httpx.Client, memory: Memory
) -> None:
    memory.import_lines([b"\xff not json"], bank="shop")
    (letter,) = client.get("/v1/dead-letters").json()["dead_letters"]
    path = f"/v1/dead-letters/{letter['id']}"

    shown = client.get(path).json()
    replayed = client.post(f"{path}/replay")
    dropped = client.post(f"{path}/drop")

    assert (shown["original"], shown["original_base64"]) == (None, "/yBub3QganNvbg==")
    assert replayed.status_code == 422
    assert dropped.json() == {"dropped": letter["id"]}
    assert client.get(path).status_code == 404


def test_statistics_are_those_of_the_bank(client: httpx.Client) -> None:
    retained(client, SHIPPING)

    assert client.get("/v1/banks/shop/stats").json()["banks"]["shop"]["evidence"] == 1
    assert client.get("/v1/banks/other/stats").status_code == 404


def test_health_and_metrics_tell_that_it_is_alive_ready_and_what_it_holds(client: httpx.Client) -> None:
    retained(client, SHIPPING)

    metrics = client.get("/metrics").text

    assert client.get("/health/live").json() == {"status": "live"}
    assert client.get("/health/ready").json() == {"status": "ready", "reasons": []}
    assert 'beliefmesh_count{bank="shop",kind="evidence"} 1.0\n' in metrics
    assert 'beliefmesh_lag_records{partition="7",stage="index"} 0.0\n' in metrics
    assert 'beliefmesh_lag_seconds{partition="7",stage="index"} 0.0\n' in metrics
    assert 'beliefmesh_freshness_seconds_bucket{le="+Inf"} 1.0\n' in metrics
    assert "beliefmesh_freshness_seconds_count 1.0\n" in metrics
    assert 'beliefmesh_low_watermark_seconds{bank="shop"} ' in metrics
    route = 'method="POST",route="/v1/banks/{bank}/observations",status="200"'
    assert f"beliefmesh_http_requests_total{{{route}}} 1.0\n" in metrics


def test_a_paused_stream_is_not_ready_and_says_why(client: httpx.Client, memory: Memory) -> None:
    memory.home.worker.stopped_by = "the graph is away"

    response = client.get("/health/ready")

    assert response.status_code == 503
    assert response.json()["reasons"] == ["the stream is paused: the graph is away"]
    assert client.get("/health/live").status_code == 200


def test_one_partition_that_stands_while_others_move_makes_it_not_ready_and_is_named(
    client: httpx.Client, served: Served, memory: Memory
) -> None:
    seconds = [0.0]
    served.app.state.movement = Movement(lambda: seconds[0])
    log, group = memory.home.log, memory.home.topics.group
    stuck, moving = (by_partition(log)[partition] for partition in (2, 5))
    log.append("observations", [Entry(stuck, b"a"), *(Entry(moving, b"b") for _ in range(9))], memory.home.clock())

    answers = []
    for step in range(4):
        seconds[0] = 30.0 * step
        log.commit(group, "observations", {5: step})
        answers.append(client.get("/health/ready"))

    assert [answer.status_code for answer in answers] == [200, 200, 503, 503]
    (reason,) = answers[3].json()["reasons"]
    assert reason == "nothing has moved for 90 s at stage extract, partition 2, while 1 records wait"
    assert "beliefmesh_ready 0.0\n" in client.get("/metrics").text
    itself = client.get("/health/ready?group=false")
    assert (itself.status_code, itself.json()["reasons"]) == (200, [])
    memory.home.worker.stopped_by = "the graph is away"
    assert client.get("/health/ready?group=false").status_code == 503
    memory.home.worker.stopped_by = ""
    log.commit(group, "observations", {2: 1})
    assert client.get("/health/ready").status_code == 200


def test_offsets_that_nothing_is_left_to_read_at_are_no_work(
    client: httpx.Client, served: Served, memory: Memory
) -> None:
    seconds = [0.0]
    served.app.state.movement = Movement(lambda: seconds[0])
    ((partition, offset),) = memory.home.log.append("observations", [Entry("k", b"a")], memory.home.clock())
    memory.home.log.forget("observations", partition, [offset])

    first = client.get("/health/ready")
    seconds[0] = 900.0

    assert (first.status_code, client.get("/health/ready").status_code) == (200, 200)
    assert client.get("/v1/stats").json()["lag"] == {"extract": 0, "decide": 0, "index": 0}


def test_a_store_that_does_not_answer_makes_it_not_ready_and_still_alive(client: httpx.Client, memory: Memory) -> None:
    memory.close()

    ready, metrics = client.get("/health/ready"), client.get("/metrics")

    assert ready.status_code == 503
    assert "closed" in ready.json()["reasons"][0]
    assert "beliefmesh_ready 0.0\n" in metrics.text
    assert "beliefmesh_dead_letters" not in metrics.text
    assert client.get("/health/live").status_code == 200


def by_partition(log: Log) -> dict[int, str]:
    """A key for each partition of the observations."""
    count = log.partitions("observations")
    return {partition_of(str(number), count): str(number) for number in range(100)}


def test_an_app_of_health_alone_answers_nothing_else_in_the_one_shape(memory: Memory) -> None:
    listener = listen(memory.home.settings.http, 0)
    with health_served(memory, listener), httpx.Client(base_url=address_of(listener), timeout=30.0) as client:
        assert client.get("/health/live").json() == {"status": "live"}
        assert client.get("/health/ready").json() == {"status": "ready", "reasons": []}
        assert "beliefmesh_ready 1.0\n" in client.get("/metrics").text
        refused = client.get("/v1/stats")

    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")


# Refusals


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "field"),
    [
        ("POST", "/v1/banks/shop/observations", b"{", 400, "malformed_message", "body"),
        ("POST", "/v1/banks/shop/observations", b"", 400, "malformed_message", "body"),
        ("POST", "/v1/banks/shop/observations", b'{"text": "\xff"}', 400, "malformed_message", "body"),
        ("POST", "/v1/banks/shop/observations", b'{"text": "\\ud800"}', 400, "malformed_message", "body"),
        ("POST", "/v1/banks/shop/observations", b"[" * 100_000, 400, "malformed_message", "body"),
        ("POST", "/v1/banks/shop/observations", b"7", 422, "invalid_input", "body"),
        ("POST", "/v1/banks/shop/observations", b'{"text": "a\\u0000b"}', 422, "invalid_input", "text"),
        ("POST", "/v1/banks/shop/observations", b'{"text": "x", "kind": "rule"}', 422, "invalid_input", "kind"),
        ("POST", "/v1/banks/shop/observations", b'{"text": "x", "entity": ""}', 422, "invalid_input", "entity"),
        ("POST", "/v1/banks/shop/observations?wait=maybe", b"{}", 422, "invalid_input", "wait"),
        ("POST", "/v1/banks/a%20b/observations", b'{"text": "x"}', 422, "invalid_input", "bank"),
        ("POST", "/v1/banks/shop/observations", b'"' + b"x" * 1_048_577 + b'"', 413, "too_large", "body"),
        ("POST", "/v1/banks/none/recall", b'{"text": "x"}', 404, "unknown_bank", ""),
        ("POST", "/v1/banks/shop/recall", b"[]", 422, "invalid_input", "body"),
        ("POST", "/v1/banks/shop/recall", b"{}", 422, "invalid_input", "text"),
        ("POST", "/v1/banks/shop/recall", b'{"text": " "}', 422, "invalid_input", "text"),
        ("POST", "/v1/banks/shop/recall", b'{"text": "x", "form": "xml"}', 422, "invalid_input", "form"),
        ("POST", "/v1/banks/shop/recall", b'{"text": "x", "lmit": 3}', 422, "invalid_input", "lmit"),
        ("POST", "/v1/banks/shop/recall", b'{"text": "x", "limit": 0}', 422, "invalid_input", "limit"),
        ("POST", "/v1/banks/shop/recall", b'{"text": "x", "as_of": "soon"}', 422, "invalid_input", "as_of"),
        ("POST", "/v1/banks/shop/recall", b'{"text": "x", "principal": "a"}', 422, "invalid_input", "principal"),
        ("POST", "/v1/banks/shop/recall", b'{"text": "x", "wait_for": "?"}', 422, "invalid_input", "wait_for"),
        (
            "POST",
            "/v1/banks/shop/recall",
            b'{"text": "' + b"x" * 20_000 + b'"}',
            413,
            "too_large",
            "text",
        ),
        ("GET", "/v1/banks/shop/beliefs/nothing", b"", 404, "not_found", ""),
        ("GET", "/v1/banks/shop/beliefs/nothing/explain", b"", 404, "not_found", ""),
        ("GET", "/v1/banks/shop/slots/history", b"", 422, "invalid_input", "slot"),
        ("POST", "/v1/banks/shop/beliefs/nothing/revoke", b"{}", 422, "invalid_input", "reason"),
        ("POST", "/v1/banks/shop/beliefs/nothing/revoke", b'{"why": 1}', 422, "invalid_input", "why"),
        ("POST", "/v1/banks/shop/beliefs/nothing/feedback", b'{"verdict": "no"}', 422, "invalid_input", "verdict"),
        ("GET", "/v1/dead-letters/nothing", b"", 404, "not_found", ""),
        ("GET", "/v1/nothing", b"", 404, "not_found", ""),
        ("GET", "/v1/banks/shop/recall", b"", 405, "method_not_allowed", ""),
    ],
)
def test_every_refusal_has_its_status_and_the_one_shape(
    client: httpx.Client, method: str, path: str, body: bytes, status: int, code: str, field: str
) -> None:
    retained(client, SHIPPING)

    response = client.request(method, path, content=body)

    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert list(response.json()) == ["error"]
    assert (error["code"], error["field"]) == (code, field)
    assert error["message"]
    assert client.get("/v1/banks/shop/stats").json()["banks"]["shop"]["evidence"] == 1


def test_punctuation_that_is_syntax_somewhere_is_only_text(client: httpx.Client) -> None:
    retained(client, {"text": "x", "claims": [{"entity": "a\"b'c*(", "attribute": "d:e/f", "value": "+(%_;--"}]})

    answer = recalled(client, "a\"b'c*( AND d:e/f OR -- NOT [ {")

    assert answer["found"][0]["belief"]["value"] == "+(%_;--"


def test_more_than_the_limit_in_flight_is_turned_away_while_health_answers(
    client: httpx.Client, served: Served
) -> None:
    served.app.state.meters.in_flight = 2

    response = client.get("/v1/banks")

    assert response.status_code == 429
    assert response.headers["Retry-After"] == "1"
    assert response.json()["error"]["code"] == "busy"
    assert client.get("/health/ready").status_code == 200


def test_an_address_that_others_reach_needs_the_flag_that_says_so() -> None:
    with pytest.raises(InvalidSetting, match="nobody has to say who they are"):
        listen(HttpSettings(host="0.0.0.0", port=0))

    with listen(HttpSettings(host="0.0.0.0", port=0, expose_without_authentication=True)) as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidSetting, match=r"^http\.port: cannot serve at .* choose another with --port$"):
            listen(HttpSettings(port=port))


def test_openapi_describes_every_route_and_the_fields_of_an_observation(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()

    body = described["paths"]["/v1/banks/{bank}/observations"]["post"]["requestBody"]
    fields = body["content"]["application/json"]["schema"]["anyOf"][0]["properties"]
    assert {"text", "claims", "observed_at", "visibility"} <= set(fields)
    assert "/v1/banks/{bank}/recall" in described["paths"]


# The remote client


@pytest.fixture
def remote(served: Served) -> Iterator[RemoteMemory]:
    with RemoteMemory(served.url, bank="shop") as opened:
        yield opened


def test_the_remote_client_gets_the_very_results_of_the_memory(remote: RemoteMemory, memory: Memory) -> None:
    receipt = remote.retain([SHIPPING, OLDER, {**NOTE, "agent": "雷娜"}])
    answer = remote.recall("free shipping", as_of="2024-06-10", wait_for=receipt.token)
    id = answer.found[0].belief.id

    assert receipt.ids == ("o-new", "o-old", "o-note")
    assert answer.found == memory.recall("free shipping", bank="shop", as_of="2024-06-10").found
    assert remote.belief(id) == memory.belief(id, bank="shop")
    assert remote.explain(id, as_of="2024-06-10") == memory.explain(id, bank="shop", as_of="2024-06-10")
    assert remote.history(id).turns == memory.history(id, bank="shop").turns
    assert remote.history(entity="shop", attribute="free shipping from") == remote.history(id)
    assert remote.state_hash(now=0) == memory.state_hash("shop", 0)
    assert remote.banks() == ["shop"]
    assert remote.recall("plan", principal="雷娜").found[0].belief.value == "leave"
    assert remote.doctor().healthy


def test_the_remote_client_runs_a_job_to_its_end(remote: RemoteMemory) -> None:
    remote.retain("The door is red.")
    heard: list[JobRun] = []

    run = remote.run_job("reindex", told=heard.append)

    assert (run.ended is not None, heard) == (True, [run])
    assert remote.job_runs("reindex", bank="shop") == [run]
    assert remote.job_run(run.id) == run


def test_the_remote_client_imports_lines_and_handles_dead_letters(remote: RemoteMemory) -> None:
    imported = remote.import_lines([b'{"text": "The desk opens at nine."}\n', b"{}\n"])
    remote.wait(imported.token)
    (letter,) = remote.dead_letters()

    assert (imported.accepted, imported.dead) == (1, 1)
    assert remote.dead_letter(letter.id) == letter
    remote.drop_dead_letter(letter.id)
    assert remote.dead_letters() == []


def test_the_remote_client_imports_fields(remote: RemoteMemory, memory: Memory) -> None:
    done = remote.import_fields([{"text": "The desk opens at nine."}, {"text": ""}, {"text": object()}])
    remote.wait(done.token)

    assert (done.accepted, done.dead) == (1, 2)
    with pytest.raises(InvalidInput, match="rows: hold str"):
        remote.import_fields(["The desk opens at nine."])  # type: ignore[list-item]
    memory.import_fields([{"text": "The desk opens at nine."}], bank="shop")
    assert memory.stats("shop")["banks"]["shop"]["evidence"] == 1


def test_the_remote_client_raises_what_the_memory_raised(remote: RemoteMemory) -> None:
    remote.retain(SHIPPING)
    id = remote.recall("free shipping", as_of="2024-06-10").found[0].belief.id

    with pytest.raises(InvalidInput, match=r"^weight: is -1"):
        remote.retain({"text": "x", "weight": -1})
    with pytest.raises(UnknownBank):
        remote.recall("x", bank="none")
    with pytest.raises(NotFound):
        remote.explain("b0/../x?")
    with pytest.raises(VersionConflict) as conflict:
        remote.revoke(id, reason="x", expected_version=99)
    assert conflict.value.slots[0].startswith("s")


def test_a_mesh_that_is_not_there_is_an_unavailable_store() -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        RemoteMemory("http://127.0.0.1:9", patience=0).banks()
    with pytest.raises(InvalidSetting, match="is not an address"):
        RemoteMemory("ftp://127.0.0.1")


# In the bank's voice

OPENING = {
    "text": "The shop opens at nine.",
    "agent": "desk",
    "claims": [{"entity": "shop", "attribute": "opens", "value": "nine"}],
}


def test_reflection_summary_and_profile_over_http(client: httpx.Client) -> None:
    retained(client, OPENING)
    at = "/v1/banks/shop"

    told = client.post(f"{at}/reflect", json={"text": "When does the shop open?", "max_tokens": 80}).json()
    assert told["cited"]
    assert f"[memory {told['cited'][0][:13]}]" in told["text"]
    summary = client.post(f"{at}/summary", json={"entity": "shop"}).json()
    assert (summary["refreshed"], summary["sentences"][0]["beliefs"]) == (True, told["cited"])
    assert client.post(f"{at}/summaries/refresh", json={}).json() == {"refreshed": 0}
    assert client.post(f"{at}/profile", json={"empathy": 5, "background": "I live in Oslo."}).status_code == 200
    assert client.get(f"{at}/profile").json() == {
        "skepticism": 3,
        "literalism": 3,
        "empathy": 5,
        "bias_strength": 0.0,
        "background": ["I live in Oslo."],
    }


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("reflect", {"text": "shipping", "max_tokens": 0}, "max_tokens"),
        ("reflect", {"text": "shipping", "bank": "other"}, "bank"),
        ("reflect", {"text": "shipping", "voice": "loud"}, "voice"),
        ("summary", {}, "entity"),
        ("profile", {"skepticism": 9}, "profile.skepticism"),
        ("profile", {"skepticism": "9"}, "profile.skepticism"),
        ("profile", {"humour": 3}, "humour"),
    ],
)
def test_a_wrong_field_of_the_voice_is_refused_by_name(
    client: httpx.Client, path: str, body: dict[str, Any], field: str
) -> None:
    retained(client, SHIPPING)

    response = client.post(f"/v1/banks/shop/{path}", json=body)

    assert (response.status_code, response.json()["error"]["field"]) == (422, field)


def test_the_remote_client_speaks_in_the_banks_voice(served: Served) -> None:
    with RemoteMemory(served.url, bank="shop") as remote:
        remote.retain(OPENING)
        told = remote.reflect("When does the shop open?", entity="shop", principal="ana")

        assert remote.feedback(told, "right", agent="ana").ids
        assert remote.summary("shop").sentences[0].beliefs == told.cited
        assert remote.refresh_summaries() == 0
        assert remote.set_profile(skepticism=5).profile.skepticism == remote.profile().profile.skepticism == 5


def test_the_value_of_a_belief_and_the_budget_of_its_bank_are_told_over_http(client: httpx.Client) -> None:
    client.post("/v1/banks/default/observations?wait=true", json=SHIPPING | {"observed_at": None})
    found = client.post("/v1/banks/default/recall", json={"text": "free shipping"}).json()["found"][0]["belief"]
    remote = RemoteMemory(str(client.base_url))

    told = client.get(f"/v1/banks/default/beliefs/{found['id']}/value").json()
    assert told["by"] == "heuristic"
    assert told["value"] == pytest.approx(sum(told["terms"].values()))
    assert remote.value_of(found["id"]).terms == pytest.approx(told["terms"], abs=1e-6)
    assert client.get("/v1/banks/default/budget").json()["measured_at"] is None
    assert remote.budget(measure=True).use.beliefs == 1
    assert remote.budget().use.bytes > 0
    assert "too few" in remote.learn_value(dry_run=True).reason
    assert client.post("/v1/banks/none/budget", json={}).json()["error"]["code"] == "unknown_bank"
    metrics = client.get("/metrics").text
    assert 'beliefmesh_budget_use{bank="default",measure="beliefs"} 1.0' in metrics
    assert 'beliefmesh_budget_use{bank="default",measure="bytes"}' in metrics
