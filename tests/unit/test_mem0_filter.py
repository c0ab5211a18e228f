"""Filters as mem0 writes them, one claim each."""

from typing import Any

import pytest

from beliefmesh.mem0_filter import matches
from schemas.errors import InvalidInput

MEMORY: dict[str, Any] = {
    "memory": "The yard is shut.",
    "user_id": "alice",
    "created_at": "2024-06-01T00:00:00Z",
    "updated_at": None,
    "metadata": {"kind": "Note", "n": 5, "tags": ["a", "b"], "place": {"city": "Oslo"}, "done": False},
}


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"kind": "Note"},
        {"metadata.kind": "Note"},
        {"metadata.place.city": "Oslo"},
        {"place.city": {"ne": "Bergen"}},
        {"n": {"gt": 4, "gte": 5, "lt": 6, "lte": 5}},
        {"n": {"$gte": 5}},
        {"n": {"in": [4, 5]}},
        {"n": {"nin": [6]}},
        {"tags": "a"},
        {"tags": {"contains": "b"}},
        {"tags": {"icontains": "B"}},
        {"kind": {"icontains": "note"}},
        {"kind": "*"},
        {"done": False},
        {"updated_at": None},
        {"created_at": {"gte": "2024-05-01", "lt": "2024-07-01"}},
        {"absent": {"ne": 5}},
        {"AND": [{"kind": "Note"}, {"n": 5}]},
        {"$or": [{"kind": "x"}, {"n": 5}]},
        {"NOT": [{"kind": "x"}, {"n": 6}]},
        {"$not": {"kind": "x"}},
        {"metadata.not": {"ne": 1}, "or": {"ne": 1}},
    ],
)
def test_what_fits_is_admitted(filters: dict[str, Any]) -> None:
    assert matches(MEMORY, filters)


@pytest.mark.parametrize(
    "filters",
    [
        {"kind": "note"},
        {"absent": "*"},
        {"absent": None},
        {"absent": {"gt": 1}},
        {"kind": {"gt": 5}},
        {"n": {"contains": 5}},
        {"tags": "c"},
        {"AND": [{"kind": "Note"}, {"n": 6}]},
        {"OR": [{"kind": "x"}]},
        {"NOT": [{"kind": "x"}, {"n": 5}]},
    ],
)
def test_what_does_not_fit_is_left_out(filters: dict[str, Any]) -> None:
    assert not matches(MEMORY, filters)


@pytest.mark.parametrize("filters", [{"n": {"near": 5}}, {"n": {5: 5}}, {5: 5}, {"AND": "x"}, {"OR": ["x"]}])
def test_what_is_no_filter_is_refused(filters: dict[Any, Any]) -> None:
    with pytest.raises(InvalidInput, match="filters"):
        matches(MEMORY, filters)
