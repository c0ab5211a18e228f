"""The learned value: credit that comes late, how two ways of ranking are compared, and when the model is in force."""

import math

import msgspec
import pytest

from beliefs.learned import area, chance, credit_of, learned_value
from beliefs.worth import Features
from jobs.learn_value import Sample, fitted
from schemas.instant import DAY
from schemas.usage import Outcome


def test_credit_for_a_recall_fades_by_half_in_a_week_until_the_confirmation() -> None:
    outcomes = [
        Outcome("b1", "right", 7 * DAY, 0),
        Outcome("b2", "used", 8 * DAY, 1 * DAY),
        Outcome("b3", "right", 9, 9),
    ]

    assert credit_of(outcomes) == {"b1": 0.0, "b2": pytest.approx(0.5), "b3": 1.0}


def test_what_as_many_call_wrong_as_confirm_has_no_credit() -> None:
    outcomes = [Outcome("b1", "right", 5, 5), Outcome("b1", "wrong", 6, 5), Outcome("b2", "right", 5, 5)]

    assert credit_of(outcomes) == {"b1": 0.0, "b2": 1.0}


def test_the_area_is_the_chance_of_ranking_the_useful_first_with_ties_counted_half() -> None:
    assert area([3, 2, 1], [1, 1, 0], [1, 1, 1]) == 1.0
    assert area([1, 2, 3], [1, 0, 0], [1, 1, 1]) == 0.0
    assert area([1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 1]) == 0.5
    assert area([1, 2], [1, 1], [1, 1]) == 0.5


def samples(useful: dict[str, object], useless: dict[str, object], count: int = 120) -> list[Sample]:
    """Half of them useful with these features, half useless with those."""
    kinds = ((Features(**useful), 1.0), (Features(**useless), 0.0))  # type: ignore[arg-type]
    return [Sample(f"b{n}", *kinds[n % 2], 1.0) for n in range(count)]


def test_a_model_that_only_agrees_with_the_heuristic_is_not_put_in_force() -> None:
    model = fitted(samples({"information": 0.9}, {"information": 0.1}), 1)

    assert model.auc == model.heuristic_auc == 1.0
    assert not model.in_force


def test_a_model_that_sees_what_the_heuristic_does_not_is_in_force() -> None:
    model = fitted(samples({"tier": "low"}, {"tier": "high"}), 4)

    assert model.in_force
    assert model.version == 4
    assert (model.auc, model.heuristic_auc) == (1.0, 0.0)
    assert chance(model, Features(tier="low")) > 0.8 > 0.2 > chance(model, Features(tier="high"))
    assert learned_value(model, Features(tier="low", useful=1)) > learned_value(model, Features(tier="low"))
    assert learned_value(model, Features(pinned=True)) == math.inf


def test_equal_outcomes_give_an_equal_model_which_outlives_json() -> None:
    told = samples({"tier": "low"}, {"tier": "high"})

    assert fitted(told, 1) == fitted(told, 1)
    assert msgspec.json.decode(msgspec.json.encode(fitted(told, 1)), type=type(fitted(told, 1))) == fitted(told, 1)
