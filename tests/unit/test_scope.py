"""Scopes: fewer qualifiers reach wider, and two scopes cover, part or miss each other."""

import pytest

from beliefs.scope import covers, disjoint, narrower, overlapping, specificity
from schemas.claim import EVERYWHERE, Scope, scope_of

FINANCIAL = scope_of({"report": "financial"})
EU = scope_of({"region": "EU"})
US = scope_of({"region": "US"})
EU_FINANCIAL = scope_of({"report": "financial", "region": "EU"})


@pytest.mark.parametrize(
    ("wide", "narrow"), [(EVERYWHERE, FINANCIAL), (FINANCIAL, EU_FINANCIAL), (EU, EU_FINANCIAL), (EVERYWHERE, EU)]
)
def test_a_scope_covers_what_has_its_qualifiers_and_more(wide: Scope, narrow: Scope) -> None:
    assert covers(wide, narrow)
    assert narrower(narrow, wide)
    assert not covers(narrow, wide)
    assert not narrower(wide, narrow)
    assert not overlapping(wide, narrow)


def test_every_scope_covers_itself_and_is_not_narrower_than_itself() -> None:
    assert covers(EU, EU)
    assert not narrower(EU, EU)
    assert not overlapping(EU, EU)
    assert not disjoint(EU, EU)


@pytest.mark.parametrize(("one", "other"), [(EU, US), (EU_FINANCIAL, US)])
def test_two_values_of_one_qualifier_are_disjoint(one: Scope, other: Scope) -> None:
    assert disjoint(one, other)
    assert disjoint(other, one)
    assert not overlapping(one, other)


def test_different_qualifiers_overlap() -> None:
    assert overlapping(EU, FINANCIAL)
    assert overlapping(FINANCIAL, EU)
    assert not disjoint(EU, FINANCIAL)


def test_each_qualifier_makes_a_scope_more_specific() -> None:
    assert [specificity(scope) for scope in (EVERYWHERE, EU, EU_FINANCIAL)] == [0, 1, 2]
