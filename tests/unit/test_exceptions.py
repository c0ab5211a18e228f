"""Exceptions: newer and narrower leaves the wider standing, newer and wider replaces it (design 3.5; T5)."""

from collections.abc import Callable

import pytest

from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.policy import AttributeRule, Policy

Said = Callable[..., Evidence]
Statuses = Callable[..., dict[str, str]]
Believed = Callable[..., dict[str, Belief]]

FINANCIAL = {"report": "financial"}
EU = {"region": "EU"}
SURVIVES = Policy(attributes=(AttributeRule(pattern="template", specific_survives=True),))
KINDS = pytest.mark.parametrize("kind", ["instruction", "observation"])


@KINDS
def test_all_reports_use_a_then_financial_reports_use_b(said: Said, believed: Believed, kind: str) -> None:
    held = believed([said("a", 1, "A", kind=kind), said("b", 2, "B", FINANCIAL, kind=kind)], 3)

    assert {place: belief.status for place, belief in held.items()} == {"A": "active", "B report=financial": "active"}
    assert held["A"].exceptions == ((("report", "financial"),),)
    assert held["A"].statement == "Reports use A, except report: financial"
    assert held["B report=financial"].exceptions == ()


@pytest.mark.parametrize(("wide", "narrow"), [("1", "2"), ("2", "1")])
def test_a_rule_and_its_exception_given_in_one_moment_both_hold(
    said: Said, believed: Believed, wide: str, narrow: str
) -> None:
    told = [said(wide, 1, "A", kind="instruction"), said(narrow, 1, "B", FINANCIAL, kind="instruction")]

    held = believed(told, 2)

    assert {place: belief.status for place, belief in held.items()} == {"A": "active", "B report=financial": "active"}
    assert held["A"].exceptions == ((("report", "financial"),),)


@KINDS
def test_then_everything_uses_c(said: Said, statuses: Statuses, kind: str) -> None:
    told = [said("a", 1, "A", kind=kind), said("b", 2, "B", FINANCIAL, kind=kind), said("c", 3, "C", kind=kind)]

    assert statuses(told, 4) == {"A": "revoked", "B report=financial": "revoked", "C": "active"}


@KINDS
def test_where_the_specific_survives_it_is_an_exception_to_the_newer_and_wider(
    said: Said, believed: Believed, kind: str
) -> None:
    told = [said("b", 2, "B", FINANCIAL, kind=kind), said("c", 3, "C", kind=kind)]

    held = believed(told, 4, SURVIVES)

    assert {place: belief.status for place, belief in held.items()} == {"B report=financial": "active", "C": "active"}
    assert held["C"].exceptions == ((("report", "financial"),),)


def test_when_the_narrower_expires_the_wider_applies_everywhere_again(said: Said, believed: Believed) -> None:
    told = [said("a", 1, "A", pinned=True), said("b", 2, "B", FINANCIAL, until=10, pinned=True)]

    assert believed(told, 9)["A"].exceptions == ((("report", "financial"),),)
    assert believed(told, 10)["A"].exceptions == ()
    assert believed(told, 10)["A"].statement == "Reports use A."


def test_when_the_narrower_fades_or_is_refuted_the_wider_applies_again(said: Said, believed: Believed) -> None:
    told = [said("a", 1, "A", pinned=True), said("b", 2, "B", FINANCIAL)]
    refuted = [*told, said("no", 3, "B", FINANCIAL, stance="refutes")]

    assert believed(told, 3)["A"].exceptions != ()
    assert believed(told, 200)["A"].exceptions == ()
    assert believed(refuted, 4)["A"].exceptions == ()


@KINDS
def test_disjoint_scopes_both_live_without_exceptions(said: Said, believed: Believed, kind: str) -> None:
    held = believed([said("a", 1, "A", EU, kind=kind), said("b", 2, "B", {"region": "US"}, kind=kind)], 3)

    assert [(belief.status, belief.exceptions) for belief in held.values()] == [("active", ())] * 2


@KINDS
def test_of_partly_overlapping_scopes_the_older_has_the_exception(said: Said, believed: Believed, kind: str) -> None:
    held = believed([said("a", 1, "A", EU, kind=kind), said("b", 2, "B", FINANCIAL, kind=kind)], 3)

    assert (held["A region=EU"].status, held["A region=EU"].exceptions) == ("active", ((("report", "financial"),),))
    assert (held["B report=financial"].status, held["B report=financial"].exceptions) == ("active", ())


def test_the_same_value_in_a_narrower_scope_is_no_exception(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, "A"), said("b", 2, "A", FINANCIAL)], 3)

    assert [(belief.status, belief.exceptions) for belief in held.values()] == [("active", ())] * 2


def test_several_exceptions_are_told_in_order(said: Said, believed: Believed) -> None:
    told = [said("a", 1, "A"), said("b", 2, "B", FINANCIAL), said("c", 3, "C", EU)]

    assert believed(told, 4)["A"].statement == "Reports use A, except region: EU; report: financial"


def test_a_claim_without_words_is_told_by_its_parts(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, 30.0, EU, statement="")], 2)

    assert [belief.statement for belief in held.values()] == ["reports: template is 30 (region: EU)"]
