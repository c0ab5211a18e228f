"""Status over time: what fades becomes stale, and `review_at` is the microsecond of the next change (design 3.6)."""

from collections.abc import Callable

import pytest

from beliefs.resolve import resolve
from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR
from schemas.policy import DEFAULT_POLICY, AttributeRule, Policy

Said = Callable[..., Evidence]
Statuses = Callable[..., dict[str, str]]
Believed = Callable[..., dict[str, Belief]]


def at(evidence: list[Evidence], now: int, policy: Policy = DEFAULT_POLICY) -> dict[object, str]:
    return {belief.value: belief.status for belief in resolve(evidence, policy, now).beliefs}


@pytest.mark.parametrize("half_life_days", [1 / 24, 1.0, 30.0, 180.0, 365.0])
def test_a_belief_is_stale_from_the_reviewed_microsecond_on(said: Said, half_life_days: float) -> None:
    policy = Policy(state_half_life_days=half_life_days)
    told = [said("a", 10, "A")]

    review_at = resolve(told, policy, 10 * DAY).review_at

    assert review_at is not None
    assert review_at - 10 * DAY == pytest.approx(2.317 * half_life_days * DAY, rel=1e-3)
    assert at(told, review_at - 1, policy) == {"A": "active"}
    assert at(told, review_at, policy) == {"A": "stale"}
    assert resolve(told, policy, review_at).review_at is None


def test_a_stale_belief_says_that_it_faded(said: Said, believed: Believed) -> None:
    held = believed([said("a", 0, "A")], 100)["A"]

    assert (held.status, held.reason) == ("stale", "decayed")


def test_fresh_evidence_revives_a_stale_belief(said: Said, statuses: Statuses) -> None:
    assert statuses([said("a", 0, "A"), said("b", 100, "A")], 101) == {"A": "active"}


def test_what_was_never_sure_enough_does_not_fade_into_stale(said: Said, statuses: Statuses) -> None:
    assert statuses([said("a", 0, "A", weight=0.1)], 0) == {"A": "active"}
    assert statuses([said("a", 0, "A", weight=0.1)], 400) == {"A": "active"}


def test_a_belief_whose_support_all_expired_is_stale(said: Said, believed: Believed) -> None:
    told = [said("a", 0, "A", until=5), said("b", 1, "A", until=4)]

    assert believed(told, 4)["A"].supports == 1
    held = believed(told, 5)["A"]
    assert (held.status, held.reason, held.supports, held.valid_until) == ("stale", "expired", 0, None)
    assert resolve(told, DEFAULT_POLICY, 2 * DAY).review_at == 5 * DAY


def test_validity_is_known_while_all_support_is_bounded(said: Said, believed: Believed) -> None:
    assert believed([said("a", 0, "A", until=5), said("b", 1, "A", until=4)], 2)["A"].valid_until == 5 * DAY
    assert believed([said("a", 0, "A", until=5), said("b", 1, "A")], 2)["A"].valid_until is None
    assert believed([said("a", -2, "A", until=0)], -1)["A"].valid_until == 0


def test_pinned_evidence_needs_no_review(said: Said) -> None:
    assert resolve([said("a", 0, "A", pinned=True)], DEFAULT_POLICY, DAY).review_at is None


def test_a_pinned_value_takes_the_slot_back_when_its_rival_has_faded(said: Said) -> None:
    told = [said("a", 0, "A", pinned=True), said("b", 10, "B", weight=2.0)]

    review_at = resolve(told, DEFAULT_POLICY, 10 * DAY).review_at

    assert at(told, 10 * DAY) == {"A": "revoked", "B": "active"}
    assert review_at is not None
    assert at(told, review_at - 1) == {"A": "revoked", "B": "active"}
    assert at(told, review_at) != {"A": "revoked", "B": "active"}


def test_a_balance_that_tips_right_after_now_is_reviewed_right_after_now(said: Said) -> None:
    told = [said("a", 10, "A", pinned=True), said("b", 10, "B")]

    review_at = resolve(told, DEFAULT_POLICY, 10 * DAY).review_at

    assert at(told, 10 * DAY) == {"A": "contested", "B": "contested"}
    assert review_at is not None
    assert review_at <= 10 * DAY + 16
    assert at(told, review_at) == {"A": "active", "B": "revoked"}


def test_an_instruction_is_reviewed_when_what_contests_it_has_faded(said: Said) -> None:
    told = [said("rule", 0, "A", kind="instruction"), said("seen", 10, "B")]

    review_at = resolve(told, DEFAULT_POLICY, 10 * DAY).review_at

    assert review_at is not None
    assert at(told, review_at - 1) == {"A": "contested", "B": "contested"}
    assert at(told, review_at) == {"A": "active", "B": "revoked"}


def test_a_date_to_come_is_reviewed_on_that_date(said: Said) -> None:
    told = [said("a", 0, "A", pinned=True), said("b", 10, "B", scheduled=True, until=12, pinned=True)]

    assert resolve(told, DEFAULT_POLICY, DAY).review_at == 10 * DAY
    assert resolve(told, DEFAULT_POLICY, 10 * DAY).review_at == 12 * DAY
    assert resolve(told, DEFAULT_POLICY, 12 * DAY).review_at is None


def test_a_date_that_changes_nothing_hides_none_of_the_changes_that_follow_it(said: Said) -> None:
    told = [
        said("a", 0, "A", origin="wiki", pinned=True),
        said("b", 10, "A", scheduled=True, until=12, kind="instruction"),
        said("c", 11, "B", scheduled=True),
        said("d", 30, "A", scheduled=True),
    ]

    now = DAY
    while (review_at := resolve(told, DEFAULT_POLICY, now).review_at) is not None:
        assert at(told, review_at - 1) == at(told, now)
        assert at(told, review_at) != at(told, now)
        now = review_at
    assert now > 12 * DAY


def test_expiry_of_what_came_into_force_after_the_question_is_not_missed(said: Said) -> None:
    told = [
        said("short", 1, "A", scheduled=True, until=3),
        said("other", 50, "A", scheduled=True),
        said("old", 0, "A", until=2),
    ]

    assert resolve(told, DEFAULT_POLICY, HOUR).review_at == 3 * DAY


def test_more_dates_than_are_looked_through_give_an_early_review_and_never_a_late_one(said: Said) -> None:
    told = [said("a", 0, "A", pinned=True), *(said(f"n{n}", n, "A", scheduled=True) for n in range(1, 30))]
    told.append(said("b", 30, "B", scheduled=True, kind="instruction"))

    now, reviews = 0, 0
    while at(told, now) == {"A": "active"}:
        review_at = resolve(told, DEFAULT_POLICY, now).review_at
        assert review_at is not None
        assert now < review_at <= 30 * DAY
        now, reviews = review_at, reviews + 1
    assert now == 30 * DAY
    assert reviews < 6


def test_a_clock_ahead_of_ours_does_not_spoil_the_review(said: Said) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="template", half_life_days=1 / 24),))
    now = 10 * DAY
    ahead = said("b", 10 + 0.25 / 24, "B", weight=1.0)
    told = [said("a", 10, "A", weight=1.6), ahead]

    review_at = resolve(told, policy, now).review_at

    assert at(told, now, policy) == {"A": "contested", "B": "active"}
    assert review_at is not None
    assert at(told, review_at - 1, policy) == at(told, now, policy)
    assert at(told, review_at, policy) != at(told, now, policy)
    assert review_at < ahead.effective_at
