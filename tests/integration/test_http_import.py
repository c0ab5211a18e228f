"""Imports of any size over HTTP: kept as they arrive, told meanwhile, whole or broken off."""

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_served import opened, settings_in

from beliefmesh.grant import Grant
from beliefmesh.keyring import KeyRing
from beliefmesh.memory import Memory
from beliefmesh.settings import HttpSettings, LimitSettings

PATH = "/v1/banks/shop/import"
NOW = 1_718_020_800_000_000


def line(number: int) -> bytes:
    claims = [{"entity": f"desk {number}", "attribute": "is", "value": "open"}]
    return json.dumps({"id": f"o{number}", "text": f"Desk {number} is open.", "claims": claims}).encode() + b"\n"


def last_line(response: httpx.Response) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(response.text.splitlines()[-1])
    return told


def test_lines_are_kept_and_the_totals_are_told_at_last(tmp_path: Path) -> None:
    body = b"".join(map(line, range(2_500))) + b'{"weight": -1}\n\nnot JSON'
    with opened(settings_in(tmp_path / "mesh")) as (memory, client):
        response = client.post(PATH, content=iter([body[i : i + 7_000] for i in range(0, len(body), 7_000)]))
        kept = memory.stats("shop")["banks"]["shop"]["evidence"]

    told = last_line(response)
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("application/x-ndjson")
    assert (told["accepted"], told["dead"], told["refused"], told["ended"]) == (2_500, 2, 0, True)
    assert told["lines"] == 2_503
    assert told["sha256"] == hashlib.sha256(body).hexdigest()
    assert kept == 2_500


def test_a_body_may_be_larger_than_the_limit_and_a_line_may_not(tmp_path: Path) -> None:
    huge = json.dumps({"text": "x" * 1_200_000}).encode() + b"\n"
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        response = client.post(PATH, content=iter([line(1), huge, *map(line, range(2, 9_000))]))

    told = last_line(response)
    assert (told["accepted"], told["refused"], told["lines"]) == (8_999, 1, 9_000)


def test_what_was_accepted_before_the_connection_broke_stays_accepted(tmp_path: Path) -> None:
    with opened(settings_in(tmp_path / "mesh")) as (memory, client):
        address = (client.base_url.host, client.base_url.port or 80)
        with socket.create_connection(address) as broken:
            head = f"POST {PATH} HTTP/1.1\r\nHost: mesh\r\nTransfer-Encoding: chunked\r\n\r\n"
            part = line(1) + line(2)
            broken.sendall(head.encode() + f"{len(part):x}\r\n".encode() + part + b"\r\n")
            told = b""
            while b'"accepted":2' not in told:
                told += broken.recv(4_096)
        assert {belief.entity.name for belief in memory.beliefs(bank="shop").beliefs} == {"desk 1", "desk 2"}
        again = client.post(PATH, content=line(1) + line(2) + line(3), params={"wait": "true"})
        found = {belief.entity.name for belief in memory.beliefs(bank="shop").beliefs}

    assert last_line(again)["recallable"] is True
    assert found == {"desk 1", "desk 2", "desk 3"}


def test_lines_are_kept_while_the_rest_is_still_to_come(tmp_path: Path) -> None:
    seen = threading.Event()

    def body(memory: Memory) -> Iterator[bytes]:
        yield line(1)
        while not memory.beliefs(bank="shop").beliefs:
            threading.Event().wait(0.05)
        seen.set()
        yield line(2)

    with opened(settings_in(tmp_path / "mesh")) as (memory, client):
        memory.retain({"text": "A desk.", "id": "x"}, bank="other")
        told = last_line(client.post(PATH, content=body(memory)))

    assert seen.is_set()
    assert told["accepted"] == 2


def test_an_import_sent_again_under_its_key_gets_the_totals_again(tmp_path: Path) -> None:
    key = {"Idempotency-Key": "k1"}
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        first = client.post(PATH, content=line(1) + line(2), headers=key)
        again = client.post(PATH, content=line(1) + line(2), headers=key)
        other = client.post(PATH, content=line(1), headers=key)

    assert last_line(again) == last_line(first)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")


def test_an_import_that_finds_no_place_leaves_its_key_free(tmp_path: Path) -> None:
    key = {"Idempotency-Key": "k1"}
    settings = settings_in(tmp_path / "mesh", http=HttpSettings(max_streams=1))
    with opened(settings) as (_, client):
        with client.stream("GET", "/v1/banks/shop/changes", headers={"Accept": "text/event-stream"}) as stream:
            lines = stream.iter_lines()
            assert next(lines) == ": welcome"
            refused = client.post(PATH, content=line(1), headers=key)
        while (again := client.post(PATH, content=line(1), headers=key)).status_code == 429:
            pass

    assert refused.status_code == 429
    assert last_line(again)["accepted"] == 1


def test_lines_in_the_name_of_another_end_the_import_with_what_was_kept_so_far(tmp_path: Path) -> None:
    ring = KeyRing(tmp_path / "mesh" / "keys.json")
    token = ring.create(Grant(name="mine", role="writer", principal="omar"), NOW)
    headers = {"Authorization": f"Bearer {token}"}
    borrowed = json.dumps({"text": "x", "agent": "lena"}).encode() + b"\n"
    with opened(settings_in(tmp_path / "mesh")) as (_, client):
        at_once = client.post(PATH, content=borrowed, headers=headers)
        later = client.post(PATH, content=iter([*map(line, range(1_000)), borrowed]), headers=headers)

    assert (at_once.status_code, at_once.json()["error"]["code"]) == (403, "access_denied")
    assert later.status_code == 200
    assert (last_line(later)["accepted"], last_line(later)["error"]["code"]) == (1_000, "access_denied")


def test_an_import_keeps_to_the_rate_of_its_bank_instead_of_failing(tmp_path: Path) -> None:
    limits = LimitSettings(observations_per_second=1_000, burst_seconds=1)
    with opened(settings_in(tmp_path / "mesh", limits=limits)) as (_, client):
        response = client.post(PATH, content=b"".join(map(line, range(2_200))))

    assert last_line(response)["accepted"] == 2_200
    assert response.elapsed.total_seconds() > 0.9


@pytest.mark.parametrize("part", [b"x" * 50_000, b"\n" * 50_000], ids=["no line ends", "no line says anything"])
def test_an_import_of_which_nothing_can_be_kept_keeps_to_the_rate_too(tmp_path: Path, part: bytes) -> None:
    limits = LimitSettings(bytes_per_second=200_000, burst_seconds=1)
    with opened(settings_in(tmp_path / "mesh", limits=limits)) as (_, client):
        response = client.post(PATH, content=iter([part] * 8))

    assert (last_line(response)["accepted"], last_line(response)["ended"]) == (0, True)
    assert response.elapsed.total_seconds() > 0.5
