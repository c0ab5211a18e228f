"""How sure an opinion is, step by step, under every extreme of a profile (design 3.9)."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from beliefs.confidence import confidence
from beliefs.explain import explain
from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY, Policy
from schemas.profile import Profile

Said = Callable[..., Evidence]
Believed = Callable[..., dict[str, Belief]]

FORMED = 0.7310585786300049


def with_profile(**traits: Any) -> Policy:
    return msgspec.structs.replace(DEFAULT_POLICY, profile=Profile(**traits))


@pytest.fixture
def held(said: Said) -> Callable[..., Evidence]:
    """Something said as an opinion."""
    return lambda *args, **more: said(*args, network="opinion", **more)


@pytest.fixture
def sureness(believed: Believed) -> Callable[..., float]:
    """The confidence of the opinion that A is the better one."""
    return lambda evidence, policy=DEFAULT_POLICY: confidence(believed(evidence, 100, policy)["A"], 100 * DAY)


def history(held: Said) -> Sequence[Evidence]:
    """Formed, reinforced by two, weakened by a rival, contradicted once."""
    return [
        held("a", 1, "A"),
        held("b", 2, "A"),
        held("c", 3, "A"),
        held("d", 4, "B"),
        held("e", 5, "A", stance="refutes"),
    ]


def test_an_opinion_is_formed_as_surely_as_its_first_word_weighs(held: Said, sureness: Callable[..., float]) -> None:
    assert sureness([held("a", 1, "A")]) == pytest.approx(FORMED)
    assert sureness([held("a", 1, "A", weight=2.0)]) == pytest.approx(0.8807970779778823)
    assert sureness([held("a", 1, "A", weight=0.0)]) == 0.0


def test_a_neutral_profile_takes_the_plain_steps(held: Said, sureness: Callable[..., float]) -> None:
    formed = held("a", 1, "A")

    assert sureness([formed, held("b", 2, "A")]) == pytest.approx(FORMED + 0.1)
    assert sureness([formed, held("b", 2, "B")]) == pytest.approx(FORMED - 0.1)
    assert sureness([formed, held("b", 2, "A", stance="refutes", weight=0.5)]) == pytest.approx(FORMED - 0.1)
    assert sureness([formed, held("b", 2, "A", stance="refutes")]) == pytest.approx(FORMED - 0.2)


@pytest.mark.parametrize(
    ("traits", "expected"),
    [
        ({}, FORMED + 0.2 - 0.3),
        ({"skepticism": 1}, 1.0 - 0.3),
        ({"skepticism": 2}, FORMED + 0.25 - 0.3),
        ({"skepticism": 4}, FORMED + 0.15 - 0.3),
        ({"skepticism": 5}, FORMED + 0.1 - 0.3),
        ({"bias_strength": 0.2}, FORMED + 0.2 - 0.24),
        ({"bias_strength": 1.0}, FORMED + 0.2),
        ({"skepticism": 1, "bias_strength": 1.0}, 1.0),
        ({"skepticism": 5, "bias_strength": 1.0}, FORMED + 0.1),
        ({"literalism": 1, "empathy": 1}, FORMED + 0.2 - 0.3),
        ({"literalism": 5, "empathy": 5}, FORMED + 0.2 - 0.3),
    ],
)
def test_skepticism_scales_reinforcement_and_bias_discounts_contrary_words(
    traits: dict[str, Any], expected: float, held: Said, sureness: Callable[..., float]
) -> None:
    assert sureness(history(held), with_profile(**traits)) == pytest.approx(expected)


def test_steps_are_clamped_one_by_one(held: Said, sureness: Callable[..., float]) -> None:
    praise = [held(f"p{day}", day, "A") for day in range(1, 9)]
    scorn = [held(f"s{day}", day, "A", stance="refutes") for day in range(10, 16)]

    assert sureness(praise) == 1.0
    assert sureness([*praise, scorn[0]]) == pytest.approx(0.8)
    assert sureness([*praise, *scorn]) == 0.0


def test_who_formed_an_opinion_does_not_reinforce_it_by_saying_it_again(
    held: Said, sureness: Callable[..., float]
) -> None:
    again = [held(f"a{day}", day, "A", origin="ana") for day in range(1, 9)]

    assert sureness(again) == pytest.approx(FORMED)
    assert sureness([*again, held("b", 4, "A", stance="refutes")]) == pytest.approx(FORMED - 0.2)


def test_an_opinion_is_held_above_one_half_and_rivals_above_it_contest_it(
    held: Said, statuses: Callable[..., dict[str, str]]
) -> None:
    assert statuses([held("a", 1, "A"), held("b", 2, "B")], 9) == {"A": "contested", "B": "active"}
    assert statuses([held("a", 1, "A"), *(held(f"b{day}", day, "B") for day in (2, 3, 4))], 9) == {
        "A": "revoked",
        "B": "active",
    }


def test_an_opinion_does_not_fade_and_needs_no_review(held: Said, believed: Believed) -> None:
    old = believed([held("a", 1, "A")], 9_000)["A"]

    assert (old.status, confidence(old, 9_000 * DAY)) == ("active", pytest.approx(FORMED))


def test_an_opinion_that_was_taken_back_has_no_confidence(held: Said, believed: Believed) -> None:
    dropped = believed([held("a", 1, "A"), held("b", 2, "A", stance="retracts")], 9)["A"]

    assert (dropped.status, dropped.opinion) == ("revoked", 0.0)


def test_a_word_that_expires_takes_its_step_back(held: Said, sureness: Callable[..., float]) -> None:
    assert sureness([held("a", 1, "A"), held("b", 2, "A", until=50)]) == pytest.approx(FORMED)


def test_an_explanation_names_each_step(held: Said, believed: Believed) -> None:
    evidence = history(held)
    told = explain(evidence, believed(evidence, 9)["A"].id, DEFAULT_POLICY, 9 * DAY)

    assert told.confidence == pytest.approx(FORMED - 0.1)
    assert {term.evidence.id: (term.note, round(term.step, 6)) for term in told.contributions} == {
        "a": ("forms", 0.731059),
        "b": ("reinforces", 0.1),
        "c": ("reinforces", 0.1),
        "d": ("weakens", -0.1),
        "e": ("contradicts", -0.2),
    }


def test_without_opinion_network_the_same_words_are_weighed(said: Said, believed: Believed) -> None:
    assert believed([said("a", 1, "A")], 1)["A"].opinion is None
