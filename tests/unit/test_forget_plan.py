"""A plan of forgetting, by example."""

import pytest

from beliefs.forget import fullness, plan
from schemas.budget import Budget, Use
from schemas.errors import InvalidInput
from schemas.plan import BudgetCandidate
from schemas.policy import Policy, check_policy


def memories(count: int, **given: object) -> list[BudgetCandidate]:
    """Slots s00, s01, ... worth 0, 1, ... of one belief and 1,000 bytes each."""
    use = Use(beliefs=1, bytes=1_000, importance=2.0)
    return [BudgetCandidate(slot=f"s{n:02}", value=float(n), use=use, **given) for n in range(count)]


def test_within_its_budget_a_bank_loses_nothing() -> None:
    made = plan(Budget(beliefs=20), Use(beliefs=19), memories(19))

    assert made.steps == ()


def test_close_to_its_budget_a_bank_makes_room_before_the_bound_is_reached() -> None:
    made = plan(Budget(beliefs=100), Use(beliefs=96), memories(96))

    assert made.after.beliefs == 85


def test_the_least_valuable_are_archived_down_to_85_percent() -> None:
    made = plan(Budget(beliefs=10), Use(beliefs=20), memories(20))

    assert [(step.action, step.slot) for step in made.steps] == [("archive", f"s{n:02}") for n in range(12)]
    assert made.after.beliefs == 8


def test_spent_evidence_goes_first_and_may_be_enough() -> None:
    made = plan(Budget(bytes=9_000), Use(bytes=10_000, beliefs=10), memories(10, spare=400, holds=True))

    assert {step.action for step in made.steps} == {"compress"}
    assert made.after == Use(bytes=7_600, beliefs=10)


def test_a_slot_that_leaves_is_not_compressed_before() -> None:
    made = plan(Budget(bytes=5_000), Use(bytes=10_000, beliefs=10), memories(10, spare=100))

    archived = {step.slot for step in made.steps if step.action == "archive"}
    assert archived
    assert not any(step.slot in archived for step in made.steps if step.action == "compress")


def test_what_may_not_be_dropped_is_kept_and_said() -> None:
    made = plan(Budget(beliefs=5), Use(beliefs=10), memories(10, holds=True))

    assert made.steps == ()
    assert made.notes == (
        "use stays at 200% of the budget: nothing may be dropped; the rest is pinned or holds a slot",
    )


def test_without_an_archive_nothing_is_erased_unless_the_budget_allows_it() -> None:
    kept = plan(Budget(beliefs=5), Use(beliefs=10), memories(10), archive_room=0)
    gone = plan(Budget(beliefs=5, erase=True), Use(beliefs=10), memories(10), archive_room=0)

    assert kept.steps == ()
    assert "does not allow to erase" in kept.notes[0]
    assert {step.action for step in gone.steps} == {"erase"}
    assert gone.after.beliefs == 4


def test_fullness_is_that_of_the_fullest_measure() -> None:
    assert fullness(Use(beliefs=5, bytes=90), Budget(beliefs=10, bytes=100)) == pytest.approx(0.9)
    assert fullness(Use(beliefs=5), Budget()) == 0.0


@pytest.mark.parametrize("senseless", [{"beliefs": 0}, {"bytes": -1}, {"importance": 0.5}])
def test_a_senseless_budget_is_refused_by_name(senseless) -> None:
    with pytest.raises(InvalidInput, match=r"policy\.budget"):
        check_policy(Policy(budget=Budget(**senseless)))


def test_an_empty_goal_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"policy\.goals\[1\]"):
        check_policy(Policy(goals=("refunds", "")))
