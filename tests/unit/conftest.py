"""How tests of the belief calculus say things about one slot, in whole days from 1970 on, and read what holds."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from beliefs.resolve import resolve
from schemas.belief import Belief
from schemas.claim import scope_of
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Source
from schemas.policy import DEFAULT_POLICY, Policy
from schemas.slot import slot_id

REPORTS = Entity("reports", "rule")


def _said(id: str, day: float, value: object, scope: dict[str, str] | None = None, **more: Any) -> Evidence:
    until = more.pop("until", None)
    at = round(day * DAY)
    told = {
        "id": id,
        "bank": "shop",
        "slot": slot_id("shop", REPORTS, "template"),
        "entity": REPORTS,
        "observation_id": "o" + id,
        "source": Source(id, more.pop("origin", id), more.pop("source_type", "document")),
        "effective_at": at,
        "observed_at": at,
        "statement": f"Reports use {value}." if value is not None else "",
        "attribute": "template",
        "value": value,
        "scope": scope_of(scope or {}),
        "valid_until": None if until is None else round(until * DAY),
    }
    return Evidence(**{**told, **more})


def _place(belief: Belief) -> str:
    return " ".join([str(belief.value), *(f"{name}={value}" for name, value in belief.scope)])


def _believed(evidence: Sequence[Evidence], day: float, policy: Policy = DEFAULT_POLICY) -> dict[str, Belief]:
    return {_place(belief): belief for belief in resolve(evidence, policy, round(day * DAY)).beliefs}


def _statuses(evidence: Sequence[Evidence], day: float, policy: Policy = DEFAULT_POLICY) -> dict[str, str]:
    return {place: belief.status for place, belief in _believed(evidence, day, policy).items()}


@pytest.fixture
def said() -> Callable[..., Evidence]:
    """Evidence by id, day, value and scope, each its own voice unless `origin` says otherwise; ends on day `until`."""
    return _said


@pytest.fixture
def believed() -> Callable[..., dict[str, Belief]]:
    """The beliefs on a day, by value and scope as in "A report=financial"."""
    return _believed


@pytest.fixture
def statuses() -> Callable[..., dict[str, str]]:
    """The statuses on a day, by value and scope."""
    return _statuses
