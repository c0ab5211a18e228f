"""What verified answers teach of sources: shares with a prior, bounded weights, confidence that matches."""

import math

import pytest

from beliefs.confidence import sigmoid
from beliefs.reliability import (
    LEAST,
    MOST,
    Saying,
    Tally,
    Verified,
    brier,
    by_place,
    calibration_error,
    fit_temperatures,
    learn,
    margin,
    weight_from,
)


def asked(id: str, attribute: str, **right: bool | None) -> Verified:
    return Verified(id, attribute, tuple(Saying(who, str(good), good) for who, good in right.items()))


def test_a_share_leans_on_the_origin_and_the_origin_on_the_prior() -> None:
    gates = [asked(f"g{n}", "gate", airport=n < 9) for n in range(10)]
    times = [asked(f"t{n}", "time", airport=True) for n in range(30)]

    tally = Tally([*gates, *times])

    assert tally.share("airport", "*") == pytest.approx((39 + 2) / (40 + 3))
    assert tally.share("airport", "gate") == pytest.approx((9 + 3 * 41 / 43) / 13)
    assert tally.strength("airport", "gate") == pytest.approx(math.log(0.9124 / 0.0876) ** 3, rel=0.01)


def test_an_origin_of_which_nothing_is_known_has_the_share_of_the_prior() -> None:
    assert Tally([]).share("stranger", "gate") == pytest.approx(2 / 3)


def test_without_an_outcome_on_an_attribute_the_origin_and_the_attribute_speak_for_themselves() -> None:
    learned = by_place(learn([asked(f"g{n}", "gate", airport=True, blog=n % 2 == 0) for n in range(20)]))

    assert weight_from(learned, "airport", "gate").outcomes == 20
    assert weight_from(learned, "airport", "price").weight == pytest.approx(math.log(22) / math.log(2), rel=1e-4)
    assert weight_from(learned, "blog", "price").weight == pytest.approx(math.log(12 / 11) / math.log(2), rel=1e-4)
    assert weight_from(learned, "stranger", "gate") == learned["*", "gate"]
    assert LEAST <= learned["*", "gate"].weight < learned["airport", "gate"].weight
    assert weight_from(learned, "stranger", "price").weight == 1.0


def test_an_origin_known_elsewhere_is_weighed_on_a_learned_attribute_by_its_share_over_all() -> None:
    gates = [asked(f"g{n}", "gate", airport=True, blog=n % 2 == 0) for n in range(20)]
    times = [asked(f"t{n}", "time", blog=True) for n in range(5)]
    verified = [*gates, *times]

    learned = by_place(learn(verified))

    ratio = Tally(verified).strength("airport", "time") / Tally(verified).strength("blog", "time")
    found = weight_from(learned, "airport", "time")
    assert found.weight / learned["blog", "time"].weight == pytest.approx(ratio)
    assert found.outcomes == 20


def test_a_source_that_mostly_errs_is_still_heard_a_little_and_a_perfect_one_has_a_bound() -> None:
    verified = [asked(f"q{n}", "gate", good=True, bad=False) for n in range(500)]

    learned = by_place(learn(verified))

    assert learned["bad", "gate"].weight == LEAST
    assert LEAST < learned["good", "gate"].weight <= MOST


def test_what_is_not_known_to_be_right_or_wrong_teaches_nothing() -> None:
    tally = Tally([asked("q", "gate", a=False, b=None)])

    assert tally.total["a", "gate"] == 1
    assert ("b", "gate") not in tally.total
    assert margin(asked("q", "gate", a=False, b=None), tally.strength) is None


def test_three_who_copy_each_other_and_err_one_time_in_four_are_believed_three_times_in_four() -> None:
    copies = [asked(f"t{n:03}", "gate", a=n % 4 > 0, b=n % 4 > 0, c=n % 4 > 0) for n in range(200)]

    temperature = fit_temperatures(copies)["gate"]

    ahead, right = margin(copies[1], Tally(copies).strength) or (0.0, False)
    assert right
    assert sigmoid(temperature * ahead) == pytest.approx(0.75, abs=0.03)


def test_every_calibration_bears_its_version_and_the_number_of_answers() -> None:
    trust = learn([asked("q", "gate", a=True)], version=4)

    assert (trust.version, trust.outcomes) == (4, 1)


def test_brier_and_calibration_error_are_zero_for_the_sure_and_right_only() -> None:
    assert brier([(1.0, True), (0.0, False)]) == 0.0
    assert brier([(0.5, True), (0.5, False)]) == 0.25
    assert calibration_error([(0.9, True)] * 9 + [(0.9, False)]) == pytest.approx(0.0)
    assert calibration_error([(0.9, True), (0.9, False)]) == pytest.approx(0.4)
    assert (brier([]), calibration_error([])) == (0.0, 0.0)
