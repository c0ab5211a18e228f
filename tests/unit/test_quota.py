"""Limits by bank: bursts pass, what is over waits as long as told, and no bank takes from another."""

import pytest

from beliefmesh.quota import Quotas
from beliefmesh.settings import LimitSettings
from schemas.errors import OverLimit


class Clock:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def quotas(clock: Clock, **limits: float) -> Quotas:
    return Quotas(LimitSettings(**limits), clock)


def test_without_limits_everything_passes(clock: Clock) -> None:
    free = quotas(clock)

    for _ in range(1_000):
        free.take("acme", "requests_per_second", 1)
    free.take_bytes("acme", 10**12)
    free.require_bytes("acme")


def test_a_burst_passes_and_then_the_rate_holds(clock: Clock) -> None:
    held = quotas(clock, requests_per_second=2, burst_seconds=3)
    for _ in range(6):
        held.take("acme", "requests_per_second", 1)

    with pytest.raises(OverLimit, match="requests_per_second") as over:
        held.take("acme", "requests_per_second", 1)
    assert over.value.field == "limits.requests_per_second"
    assert over.value.seconds == pytest.approx(0.5, abs=0.01)

    clock.now += 1.0
    held.take("acme", "requests_per_second", 1)
    held.take("acme", "requests_per_second", 1)
    with pytest.raises(OverLimit):
        held.take("acme", "requests_per_second", 1)


def test_a_large_request_passes_whole_and_the_next_waits_until_it_is_paid(clock: Clock) -> None:
    held = quotas(clock, observations_per_second=10, burst_seconds=1)
    held.take("acme", "observations_per_second", 110)

    with pytest.raises(OverLimit) as over:
        held.take("acme", "observations_per_second", 1)

    assert over.value.seconds == pytest.approx(10.1, abs=0.01)
    clock.now += 10.2
    held.take("acme", "observations_per_second", 1)


def test_a_bank_takes_nothing_from_another(clock: Clock) -> None:
    held = quotas(clock, requests_per_second=1, burst_seconds=1)
    held.take("acme", "requests_per_second", 1)

    held.take("other", "requests_per_second", 1)

    with pytest.raises(OverLimit):
        held.take("acme", "requests_per_second", 1)


def test_bytes_count_for_the_second_and_for_the_day(clock: Clock) -> None:
    held = quotas(clock, bytes_per_second=1_000, bytes_per_day=5_000, burst_seconds=1)
    held.take_bytes("acme", 5_000)

    with pytest.raises(OverLimit, match="bytes_per_second"):
        held.require_bytes("acme")
    clock.now += 5.0
    held.take_bytes("acme", 500)
    with pytest.raises(OverLimit, match="bytes_per_day") as over:
        held.require_bytes("acme")
    assert over.value.seconds > 3_600
