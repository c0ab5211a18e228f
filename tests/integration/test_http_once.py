"""Idempotency keys over HTTP: one effect and one reply, however often it is asked, across restarts and a forgetting."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from http_served import opened, settings_in

from beliefmesh.grant import Grant
from beliefmesh.keyring import KeyRing
from beliefmesh.memory import Memory
from schemas.errors import Busy

NOW = 1_718_020_800_000_000
NOTE = {"text": "The desk opens at 9.", "claims": [{"entity": "desk", "attribute": "opens at", "value": "9"}]}
OTHER = {"text": "The desk opens at 10.", "claims": [{"entity": "desk", "attribute": "opens at", "value": "10"}]}
TOLD = "/v1/banks/shop/observations?wait=true"
KEY = {"Idempotency-Key": "k1"}


def test_a_write_sent_again_under_its_key_gets_the_same_reply_also_after_a_restart(tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "mesh")
    with opened(settings) as (_, client):
        first = client.post(TOLD, json=NOTE, headers=KEY)
        again = client.post(TOLD, json=NOTE, headers=KEY)
    with opened(settings) as (_, client):
        later = client.post(TOLD, json=NOTE, headers=KEY)

    assert first.status_code == again.status_code == later.status_code == 200
    assert first.content == again.content == later.content
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == later.headers["Idempotency-Replayed"] == "true"


def test_a_revocation_sent_again_under_its_key_has_no_second_effect(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        client.post(TOLD, json=NOTE)
        found = client.post("/v1/banks/shop/recall", json={"text": "When does the desk open?"}).json()["found"]
        path = f"/v1/banks/shop/beliefs/{found[0]['belief']['id']}"
        body = {"reason": "moved", "expected_version": found[0]["belief"]["version"]}

        replies = [client.post(f"{path}/revoke", json=body, headers=KEY) for _ in range(3)]
        without = client.post(f"{path}/revoke", json=body)

        assert [reply.status_code for reply in replies] == [200, 200, 200]
        assert len({reply.content for reply in replies}) == 1
        assert without.status_code == 409


def test_a_key_stands_for_one_request_of_one_caller_in_one_bank(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        client.post(TOLD, json=NOTE, headers=KEY)

        other_body = client.post(TOLD, json=OTHER, headers=KEY)
        other_wish = client.post("/v1/banks/shop/observations", json=NOTE, headers=KEY)
        other_bank = client.post("/v1/banks/store/observations?wait=true", json=OTHER, headers=KEY)
        other_caller = client.post(TOLD, json=OTHER, headers={**KEY, "X-Beliefmesh-Principal": "omar"})

    for refused in (other_body, other_wish):
        assert refused.status_code == 422
        assert refused.json()["error"]["code"] == "idempotency_key_reused"
        assert refused.json()["error"]["field"] == "Idempotency-Key"
    assert (other_bank.status_code, other_caller.status_code) == (200, 200)


def test_two_api_keys_do_not_meet_under_one_idempotency_key(tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "mesh")
    ring = KeyRing(tmp_path / "mesh" / "keys.json")
    tokens = [ring.create(Grant(name=name, role="writer", principal=name), NOW) for name in ("ann", "bob")]

    with opened(settings) as (_, client):
        headers = [{**KEY, "Authorization": f"Bearer {token}"} for token in tokens]
        told = [client.post(TOLD, json=NOTE, headers=one) for one in headers]

    assert [one.status_code for one in told] == [200, 200]
    assert "Idempotency-Replayed" not in told[1].headers


@pytest.mark.parametrize(
    ("path", "sent", "status", "code"),
    [
        (TOLD, {"content": b"not JSON"}, 400, "malformed_message"),
        (TOLD, {"content": b'"' + b"x" * 1_100_000 + b'"'}, 413, "too_large"),
        (TOLD, {"json": {"text": "x", "weight": -1}}, 422, "invalid_input"),
        ("/v1/banks/shop/entities/merge", {"json": {"entity": "desk", "into": "desk"}}, 422, "invalid_input"),
        ("/v1/banks/nowhere/jobs/decay", {"json": {}}, 404, "unknown_bank"),
    ],
)
def test_what_follows_from_the_request_alone_is_refused_alike_each_time_and_is_no_reply_of_before(
    tmp_path: Path, path: str, sent: dict[str, Any], status: int, code: str
) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        client.post(TOLD, json=NOTE)
        first, again = (client.post(path, headers=KEY, **sent) for _ in range(2))
        mended = client.post(TOLD, json=OTHER, headers=KEY)

    assert (first.status_code, first.json()["error"]["code"]) == (status, code)
    assert (again.status_code, again.content) == (status, first.content)
    assert "Idempotency-Replayed" not in again.headers
    assert mended.status_code == 200, "the key of a refused request is free"


def test_what_follows_from_the_state_of_things_is_granted_under_the_same_key_once_that_has_changed(
    tmp_path: Path,
) -> None:
    stated = {**NOTE, "id": "o2"}
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        client.post(TOLD, json=NOTE)
        path = f"{TOLD}&expected_version=2"

        conflict = client.post(path, json=stated, headers=KEY)
        client.post(TOLD, json=OTHER)
        granted = client.post(path, json=stated, headers=KEY)
        again = client.post(path, json=stated, headers=KEY)

    assert (conflict.status_code, conflict.json()["error"]["code"]) == (409, "version_conflict")
    assert (granted.status_code, "Idempotency-Replayed" in granted.headers) == (200, False)
    assert (again.content, again.headers["Idempotency-Replayed"]) == (granted.content, "true")


def test_a_write_that_failed_after_it_was_accepted_has_one_effect_when_it_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (memory, client):
        waits = Memory.wait

        def impatient(self: Memory, token: str, timeout: float = 0.0) -> None:
            monkeypatch.setattr(Memory, "wait", waits)
            raise Busy("not recallable yet")

        monkeypatch.setattr(Memory, "wait", impatient)
        late = client.post(TOLD, json=NOTE, headers=KEY)
        again = client.post(TOLD, json=NOTE, headers=KEY)
        held = memory.stats("shop")["banks"]["shop"]["evidence"]

    assert (late.status_code, late.headers["Retry-After"], again.status_code) == (429, "1", 200)
    assert held == 1


def test_of_many_at_once_under_one_key_one_runs_and_the_others_wait_or_get_its_reply(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client), ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: client.post(TOLD, json=NOTE, headers=KEY), range(16)))

    done = [reply for reply in replies if reply.status_code == 200]
    waiting = [reply for reply in replies if reply.status_code == 409]
    assert len(done) + len(waiting) == 16
    assert len({reply.content for reply in done}) == 1
    assert sum("Idempotency-Replayed" not in reply.headers for reply in done) == 1
    assert {reply.json()["error"]["code"] for reply in waiting} <= {"in_flight"}
    assert {reply.headers["Retry-After"] for reply in waiting} <= {"1"}


def test_while_a_request_runs_elsewhere_its_key_is_told_to_be_in_flight(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (memory, client):
        client.post(TOLD, json=NOTE, headers=KEY)
        file = sqlite3.connect(tmp_path / "mesh" / "replies.db", isolation_level=None)
        file.execute("UPDATE replies SET status = 0, owner = 'elsewhere/1/x', at = ?", (memory.home.clock(),))
        file.close()

        waiting = client.post(TOLD, json=NOTE, headers=KEY)

    assert waiting.status_code == 409
    assert waiting.headers["Retry-After"] == "1"
    assert waiting.json()["error"]["code"] == "in_flight"


def test_replies_of_a_bank_in_which_something_was_forgotten_are_erased_and_nothing_runs_twice(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        told = client.post(
            "/v1/banks/shop/profile", json={"background": "Our desk is called Zebra.", "empathy": 5}, headers=KEY
        )
        client.post(TOLD, json={**NOTE, "id": "o1"})
        client.post("/v1/banks/shop/forget", json={"ids": ["o1"]})

        again = client.post(
            "/v1/banks/shop/profile", json={"background": "Our desk is called Zebra.", "empathy": 5}, headers=KEY
        )

    assert told.status_code == 200
    assert (again.status_code, again.json()["error"]["code"]) == (409, "reply_erased")
    assert all(b"Zebra" not in file.read_bytes() for file in (tmp_path / "mesh").glob("replies.db*"))


@pytest.mark.parametrize("key", ["", "x" * 256, "ä", "a\tb"])
def test_what_can_be_no_key_is_refused(tmp_path: Path, key: str) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        refused = client.post(TOLD, json=NOTE, headers={"Idempotency-Key": key.encode()})

    assert refused.status_code == 422
    assert refused.json()["error"]["field"] == "Idempotency-Key"


def test_a_question_needs_no_key_and_its_answer_is_not_kept(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        client.post(TOLD, json=NOTE)
        asked = [
            client.post("/v1/banks/shop/recall", json={"text": text}, headers=KEY).status_code for text in ("a", "b")
        ]

    assert asked == [200, 200]
    assert not (tmp_path / "mesh" / "replies.db").exists()


def test_a_source_may_bear_the_name_of_a_verb_and_keeps_the_rules_of_keys(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        refused = client.post("/v1/banks/shop/sources/recall", json={}, headers={"Idempotency-Key": "x" * 256})

    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "Idempotency-Key")
