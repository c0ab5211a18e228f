"""Confidence: the worked example of the design, decay, masses, and the ends of the scale."""

import math
from collections.abc import Callable
from itertools import permutations

import pytest

from beliefs.attest import attest
from beliefs.confidence import amount, balance, confidence, decay, gather, log_odds, logit, sigmoid, total
from beliefs.resolve import resolve
from schemas.belief import Belief, Mass
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR, parse_instant
from schemas.observation import Observation, Source
from schemas.policy import DEFAULT_POLICY

Said = Callable[..., Evidence]
Believed = Callable[..., dict[str, Belief]]

SHOP = Entity("shop")
ASKED = parse_instant("2024-06-10", "now")


def document(day: str, value: int) -> Evidence:
    claim = Claim(entity=SHOP, attribute="free shipping from", value=value, value_type="money", weight=2.0)
    observation = Observation(
        id=day, bank="shop", source=Source(f"rules of {day}"), observed_at=parse_instant(day, "day"), claims=(claim,)
    )
    return attest(observation, ingested_at=ASKED)[0]


@pytest.mark.parametrize("order", [*permutations([document("2024-03-01", 100), document("2024-05-20", 200)])])
def test_the_worked_example_comes_out_to_three_digits_in_either_order(order: tuple[Evidence, ...]) -> None:
    slot = resolve(order, DEFAULT_POLICY, ASKED)
    old, new = sorted(slot.beliefs, key=lambda belief: belief.value)

    assert round(total(new.support, ASKED), 3) == 1.231
    assert new.refutation == ()
    assert round(confidence(new, ASKED), 3) == 0.774
    assert new.status == "active"
    assert round(total(old.support, ASKED), 3) == 0.194
    assert round(total(old.refutation, ASKED), 3) == 1.847
    assert round(confidence(old, ASKED), 3) == 0.161
    assert (old.status, old.reason, old.by) == ("revoked", "superseded", new.id)


def test_at_an_earlier_time_the_same_question_gets_the_other_answer() -> None:
    earlier = parse_instant("2024-04-01", "now")
    known_then = [document("2024-03-01", 100)]

    (old,) = resolve(known_then, DEFAULT_POLICY, earlier).beliefs

    assert (old.value, old.status) == (100, "active")


@pytest.mark.parametrize(
    ("age", "half_life", "left"),
    [
        (30 * DAY, 30 * DAY, 0.5),
        (60 * DAY, 30 * DAY, 0.25),
        (0, 30 * DAY, 1.0),
        (-DAY, 30 * DAY, 1.0),
        (99_999 * DAY, None, 1.0),
        (99_999 * DAY, HOUR, 0.0),
    ],
)
def test_a_half_life_is_a_true_half_life_and_decay_never_exceeds_one(
    age: int, half_life: int | None, left: float
) -> None:
    assert decay(age, half_life) == left


def test_a_mass_ends_in_the_microsecond_in_which_its_validity_does() -> None:
    mass = Mass(2.0, as_of=0, half_life=None, until=10 * DAY)

    assert amount(mass, 10 * DAY - 1) == 2.0
    assert amount(mass, 10 * DAY) == 0.0


def test_evidence_of_one_half_life_class_is_one_mass_and_pinned_evidence_another() -> None:
    masses = gather([(1.0, 0, DAY, None), (1.0, DAY, DAY, None), (3.0, 0, None, None), (0.0, 0, None, None)], DAY)

    assert masses == (Mass(3.0, 0, None), Mass(1.5, DAY, DAY))


def test_a_time_ahead_of_the_clock_keeps_its_full_weight_until_then() -> None:
    masses = gather([(1.0, 0, DAY, None), (1.0, 2 * DAY, DAY, None)], DAY)

    assert total(masses, DAY) == 1.5
    assert total(masses, 2 * DAY) == 1.25
    assert total(masses, 3 * DAY) == 0.625


@pytest.mark.parametrize("odds", [-1e308, -800.0, -700.0, -40.0, 0.0, 36.0, 40.0, 800.0, 1e308, math.inf, -math.inf])
def test_confidence_never_reaches_its_ends(odds: float) -> None:
    assert 0.0 < sigmoid(odds) < 1.0


def test_the_logit_undoes_the_logistic_function() -> None:
    assert sigmoid(0.0) == 0.5
    assert logit(sigmoid(1.25)) == pytest.approx(1.25)


def test_the_base_of_a_policy_moves_the_log_odds(believed: Believed, said: Said) -> None:
    belief = believed([said("a", 10, "A")], 10)["A"]

    assert log_odds(belief, 10 * DAY) == 1.0
    assert log_odds(belief, 10 * DAY, base=-1.0) == 0.0
    assert confidence(belief, 10 * DAY, base=-1.0) == 0.5


def test_the_sign_of_the_balance_outlives_the_smallest_float() -> None:
    support, refutation = (Mass(2.0, 0, HOUR),), (Mass(1.0, 0, HOUR),)

    assert total(support, 400 * DAY) == 0.0
    assert balance(support, refutation, 400 * DAY) > 0.0
    assert balance(refutation, support, 400 * DAY) < 0.0
    assert balance((), refutation, 400 * DAY) <= 0.0


def test_a_document_of_a_century_ago_is_stale_and_not_outweighed_by_nothing(believed: Believed, said: Said) -> None:
    belief = believed([said("a", -40_000, "A")], 0)["A"]

    assert (belief.status, belief.reason) == ("stale", "decayed")
