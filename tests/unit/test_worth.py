"""What a memory is worth: the worked example of docs/forgetting.md, bounds, and what tells more than what."""

import math

import pytest

from beliefs.information import frequencies, tells
from beliefs.worth import Features, birth, terms, value
from schemas.instant import DAY


def test_the_worked_example_is_what_the_formula_gives() -> None:
    features = Features(information=0.5, surprise=0.2, age=180 * DAY, recalled=3, useful=1, degree=1)

    assert birth(features) == pytest.approx(3.3)
    assert value(features) == pytest.approx(4.6875)
    assert math.fsum(terms(features).values()) == value(features)


def test_importance_at_birth_ends_at_ten() -> None:
    features = Features(kind="instruction", tier="high", rank=9, information=1.0, surprise=1.0, relevance=1.0)

    assert birth(features) == pytest.approx(10.0)


def test_pinned_is_worth_more_than_anything() -> None:
    assert value(Features(pinned=True, information=0.0, wrong=99)) == math.inf


@pytest.mark.parametrize("better", [{"useful": 1}, {"recalled": 1}, {"degree": 1}, {"surprise": 0.5}, {"rank": 1}])
def test_each_merit_raises_the_value(better) -> None:
    assert value(Features(**better)) > value(Features())


@pytest.mark.parametrize("worse", [{"wrong": 1}, {"age": DAY}, {"tier": "low"}, {"network": "opinion"}])
def test_each_flaw_lowers_the_value(worse) -> None:
    assert value(Features(**worse)) < value(Features())


def test_a_fact_with_names_and_numbers_tells_more_than_chatter_or_a_question() -> None:
    texts = [
        "I moved to Lisbon with Ana in 2019.",
        "Wow, that is so great to hear!",
        "Wow, so great! How are you?",
        "That is so great.",
    ]
    seen_in = frequencies(texts)
    told = [tells(text, seen_in, len(texts)) for text in texts]

    assert told[0] == max(told)
    assert tells("Did you move to Lisbon?", seen_in, 4) < tells("You did move to Lisbon.", seen_in, 4)
    assert tells("", seen_in, 4) == 0.0
