"""A slot beside what is known of it: which sightings are judged, by which equality, and what feedback settles."""

from collections.abc import Callable

import pytest

from beliefs.rulebook import rulebook
from beliefs.verified import Verification, believed, equal_values, verdicts_in, verify
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY, AttributeRule, Policy

Said = Callable[..., Evidence]


def judged(told: list[Evidence], verdict: Verification, policy: Policy = DEFAULT_POLICY) -> dict[str, bool | None]:
    found = verify("q", told, verdict, policy)
    return {} if found is None else {one.origin: one.right for one in found.sayings}


def test_the_newest_sighting_of_each_origin_at_the_time_is_judged(said: Said) -> None:
    told = [
        said("1", 1, "A", origin="x"),
        said("2", 2, "B", origin="x"),
        said("3", 2, "A"),
        said("4", 9, "B", origin="x"),
    ]

    assert judged(told, Verification("A", 1 * DAY)) == {"x": True}
    assert judged(told, Verification("A", 3 * DAY)) == {"x": False, "3": True}


def test_instructions_verdicts_conclusions_and_narrower_claims_are_not_judged(said: Said) -> None:
    told = [
        said("rule", 1, "A", kind="instruction"),
        said("feedback", 1, "A", source_type="feedback"),
        said("derived", 1, "A", premises=("b1",)),
        said("narrow", 1, "A", {"report": "financial"}),
        said("seen", 1, "A"),
    ]

    assert judged(told, Verification("A", 2 * DAY)) == {"seen": True}


def test_a_wrong_value_judges_those_only_who_stated_it(said: Said) -> None:
    told = [said("a", 1, "A"), said("b", 1, "B")]

    assert judged(told, Verification("A", 2 * DAY, right=False)) == {"a": False, "b": None}
    assert judged(told, Verification("C", 2 * DAY, right=False)) == {}


def test_where_many_values_live_side_by_side_none_is_judged(said: Said) -> None:
    many = Policy(attributes=(AttributeRule(pattern="template", cardinality="many"),))

    assert judged([said("a", 1, "A")], Verification("A", 2 * DAY), many) == {}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [(200, "200", True), ("18:05", "18:12", True), ("18:05", "18:20", False), (True, "yes", True), ("A", "a", True)],
)
def test_values_are_compared_by_type_and_tolerance(one: object, other: str, alike: bool) -> None:
    kind = "time" if isinstance(one, str) and ":" in one else None
    book = rulebook(Policy(attributes=(AttributeRule(pattern="x", type=kind, tolerance=600.0 if kind else 0.0),)))

    assert equal_values(one, other, "x", None, book) is alike  # type: ignore[arg-type]


def test_what_was_believed_is_told_with_how_surely(said: Said) -> None:
    sure, right = believed([said("a", 1, "A")], Verification("A", 1 * DAY), DEFAULT_POLICY) or (0.0, False)

    assert (round(sure, 3), right) == (0.731, True)
    assert believed([said("a", 5, "A")], Verification("A", 1 * DAY), DEFAULT_POLICY) is None


def test_feedback_counts_each_persons_last_word_and_a_draw_says_nothing(said: Said) -> None:
    def verdict(id: str, day: float, person: str, stance: str) -> Evidence:
        return said(id, day, "A", origin=person, source_type="feedback", stance=stance)

    first = [verdict("1", 1, "ann", "refutes"), verdict("2", 2, "ann", "supports")]
    draw = [*first, verdict("3", 3, "bob", "refutes")]

    assert verdicts_in(first, DEFAULT_POLICY) == [Verification("A", 2 * DAY, right=True)]
    assert verdicts_in(draw, DEFAULT_POLICY) == []
    assert verdicts_in([*draw, verdict("4", 4, "cid", "refutes")], DEFAULT_POLICY) == [
        Verification("A", 4 * DAY, right=False)
    ]
