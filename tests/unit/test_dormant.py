"""Which slots are dormant: long silent, nothing held, and nothing in them that would still decide over late words."""

from typing import Any

import pytest

from beliefs.dormant import is_dormant
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Source
from schemas.policy import DEFAULT_POLICY

START = 1_700_000_000_000_000
YEAR = 365 * DAY


def piece(**fields: Any) -> Evidence:
    plain: dict[str, Any] = {
        "id": "e1",
        "bank": "b",
        "slot": "s1",
        "entity": Entity("door"),
        "observation_id": "o1",
        "source": Source("monitor"),
        "effective_at": START,
        "observed_at": START,
        "statement": "the door is open",
        "attribute": "state",
        "value": "open",
    }
    return Evidence(**(plain | fields))


def test_a_slot_is_dormant_once_nothing_is_held_and_nobody_spoke_for_so_long() -> None:
    assert is_dormant([piece()], DEFAULT_POLICY, START + YEAR, YEAR)
    assert not is_dormant([piece()], DEFAULT_POLICY, START + YEAR - 1, YEAR)
    assert not is_dormant([piece()], DEFAULT_POLICY, START + DAY, DAY)
    assert not is_dormant([], DEFAULT_POLICY, START + YEAR, YEAR)


@pytest.mark.parametrize(
    "fields",
    [
        {"attribute": None, "value": None},
        {"kind": "instruction"},
        {"pinned": True},
        {"stance": "retracts"},
        {"stance": "refutes"},
        {"premises": ("b1",)},
        {"source": Source("ann", type="feedback")},
    ],
)
def test_what_still_holds_or_decides_is_never_dormant(fields: dict[str, Any]) -> None:
    late = piece(id="e2", **fields)

    assert not is_dormant([late], DEFAULT_POLICY, START + 9 * YEAR, YEAR)
    if fields.get("attribute", "state") is not None:
        assert not is_dormant([piece(), late], DEFAULT_POLICY, START + 9 * YEAR, YEAR)
