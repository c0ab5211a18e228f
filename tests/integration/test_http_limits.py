"""Limits by bank over HTTP: what is over gets 429 and is told which limit and for how long, other banks go on."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from http_served import opened, settings_in

from beliefmesh.settings import LimitSettings

TOLD = "/v1/banks/shop/observations"


def note(number: int) -> dict[str, Any]:
    return {
        "text": f"Desk {number} is open.",
        "claims": [{"entity": f"desk {number}", "attribute": "is", "value": "x"}],
    }


def refused(response: httpx.Response, setting: str) -> bool:
    """Whether a response says that this setting's limit is used up."""
    if response.status_code != 429:
        return False
    error = response.json()["error"]
    assert (error["code"], error["field"]) == ("over_limit", f"limits.{setting}")
    assert int(response.headers["Retry-After"]) >= 1
    return True


def test_requests_of_a_bank_are_bounded_and_another_bank_goes_on(tmp_path: Path) -> None:
    limits = LimitSettings(requests_per_second=0.01, burst_seconds=200)
    with opened(settings_in(tmp_path / "mesh", limits=limits)) as (_, client):
        told = [client.get("/v1/banks/shop/entities") for _ in range(3)]
        other = client.get("/v1/banks/other/entities")
        health = client.get("/health/live")

    assert [refused(one, "requests_per_second") for one in told] == [False, False, True]
    assert 50 <= int(told[2].headers["Retry-After"]) <= 100
    assert (other.status_code, health.status_code) == (200, 200)


def test_observations_of_a_bank_are_bounded_in_every_form(tmp_path: Path) -> None:
    limits = LimitSettings(observations_per_second=0.01, burst_seconds=300)
    with opened(settings_in(tmp_path / "mesh", limits=limits)) as (memory, client):
        first = client.post(f"{TOLD}?wait=true", json=[note(1), note(2), note(3), note(4)])
        as_list = client.post(TOLD, json=[note(5)])
        as_lines = client.post(TOLD, content=b'"x"\n', headers={"Content-Type": "application/x-ndjson"})
        elsewhere = client.post("/v1/banks/other/observations", json=note(1))
        told = memory.stats("shop")["banks"]["shop"]["evidence"]

    assert (first.status_code, elsewhere.status_code, told) == (200, 202, 4)
    assert refused(as_list, "observations_per_second")
    assert refused(as_lines, "observations_per_second")


@pytest.mark.parametrize("setting", ["bytes_per_second", "bytes_per_day"])
def test_bytes_that_come_in_are_bounded(tmp_path: Path, setting: str) -> None:
    limits = LimitSettings(**{setting: 100, "burst_seconds": 1})
    with opened(settings_in(tmp_path / "mesh", limits=limits)) as (_, client):
        first = client.post(TOLD, json=[note(number) for number in range(20)])
        second = client.post(TOLD, json=note(1))
        question = client.get("/v1/banks/shop/entities")

    assert first.status_code == 202
    assert refused(second, setting)
    assert question.status_code == 200
