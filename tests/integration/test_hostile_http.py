"""HTTP against hostile input: names of the language in a body, and an agent in a body whom the caller is not."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from http_served import served

from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory

NOTE = {
    "text": "Wei wants to leave.",
    "agent": "lena",
    "visibility": "private",
    "claims": [{"entity": "Wei", "attribute": "plan", "value": "leave"}],
}
PAY = {
    "text": "Wei earns 90k.",
    "agent": "lena",
    "visibility": "group",
    "readers": ["group:hr"],
    "claims": [{"entity": "Wei", "attribute": "pay", "value": "90k"}],
}


@pytest.fixture
def client(memory: Memory) -> Iterator[httpx.Client]:
    with served(create_app(memory, memory.home.settings)) as opened:
        yield opened


def belief_of(client: httpx.Client, observation: dict[str, Any], **headers: str) -> str:
    """Keep an observation and give the id of its belief, as the headers' principal sees it."""
    assert client.post("/v1/banks/shop/observations?wait=true", json=observation).status_code == 200
    answer = client.post("/v1/banks/shop/recall", json={"text": observation["text"]}, headers=headers).json()
    id: str = answer["found"][0]["belief"]["id"]
    return id


@pytest.mark.parametrize("name", ["self", "func", "args", "memory", "__class__"])
def test_a_field_of_a_question_that_the_language_knows_is_refused_like_any_other(
    client: httpx.Client, name: str
) -> None:
    client.post("/v1/banks/shop/observations?wait=true", json={"text": "The desk is open."})

    response = client.post("/v1/banks/shop/recall", json={"text": "desk", name: 1})

    assert response.status_code == 422
    assert response.json()["error"]["field"] == name


@pytest.mark.parametrize(
    ("field", "value"),
    [("limit", "5"), ("statuses", ["gone"]), ("retrievers", 3), ("min_confidence", "high"), ("scope", 7)],
)
def test_a_field_of_a_question_with_a_wrong_type_is_named(client: httpx.Client, field: str, value: object) -> None:
    client.post("/v1/banks/shop/observations?wait=true", json={"text": "The desk is open."})

    response = client.post("/v1/banks/shop/recall", json={"text": "desk", field: value})

    assert response.status_code == 422
    assert response.json()["error"]["field"].partition("[")[0] == field


@pytest.mark.parametrize("asker", [{}, {"X-Beliefmesh-Principal": "bob"}])
@pytest.mark.parametrize(
    ("verb", "body"),
    [("feedback", {"verdict": "wrong", "agent": "lena"}), ("revoke", {"reason": "no", "agent": "lena"})],
)
def test_naming_another_agent_in_the_body_opens_nothing_that_the_caller_cannot_see(
    client: httpx.Client, asker: dict[str, str], verb: str, body: dict[str, str]
) -> None:
    secret = belief_of(client, NOTE, **{"X-Beliefmesh-Principal": "lena"})

    response = client.post(f"/v1/banks/shop/beliefs/{secret}/{verb}", json=body, headers=asker)

    assert response.status_code == 404
    held = client.get(f"/v1/banks/shop/beliefs/{secret}", headers={"X-Beliefmesh-Principal": "lena"}).json()
    assert held["status"] == "active"
    assert held["refutes"] == 0


def test_a_member_of_a_group_may_revoke_what_the_group_may_see_and_only_the_group_hears_of_it(
    client: httpx.Client,
) -> None:
    headers = {"X-Beliefmesh-Principal": "ann", "X-Beliefmesh-Groups": "hr"}
    shared = belief_of(client, PAY, **headers)

    response = client.post(f"/v1/banks/shop/beliefs/{shared}/revoke", json={"reason": "old"}, headers=headers)

    assert response.status_code == 200
    assert client.get(f"/v1/banks/shop/beliefs/{shared}").status_code == 404


@pytest.mark.parametrize(
    ("path", "again"), [("observations", ""), ("import", ""), ("import", "Idempotency-Key: k\r\n")]
)
def test_a_caller_that_goes_away_amid_its_body_is_no_fault_of_the_server(
    client: httpx.Client, path: str, again: str
) -> None:
    client.post("/v1/banks/shop/import", content=b'{"text": "The desk is open."}', headers={"Idempotency-Key": "k"})
    head = f"POST /v1/banks/shop/{path} HTTP/1.1\r\nHost: mesh\r\nContent-Length: 100\r\n{again}\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as broken:
        broken.sendall(head.encode() + b'{"text": ')

    counted = f'route="/v1/banks/{{bank}}/{path}",status='
    until = time.monotonic() + 20
    while f'{counted}"499"' not in (metrics := client.get("/metrics").text) and time.monotonic() < until:
        time.sleep(0.05)

    assert f'{counted}"499"' in metrics
    assert f'{counted}"500"' not in metrics
