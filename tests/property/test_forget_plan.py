"""A plan of forgetting, over drawn budgets and banks: what it may touch, where it stops, and its sums."""

from hypothesis import assume, given
from hypothesis import strategies as st

from beliefs.forget import FLOOR, HIGH, fullness, plan
from schemas.budget import Budget, Use, added, less
from schemas.plan import BudgetCandidate, BudgetPlan

ORDER = ("compress", "demote", "archive", "erase")


@st.composite
def candidates_drawn(draw, largest: int = 50_000):
    """Slots of one to three beliefs, some pinned, some held, some with evidence to spare."""
    found = []
    for number in range(draw(st.integers(1, 60))):
        size = draw(st.integers(200, largest))
        use = Use(beliefs=draw(st.integers(1, 3)), bytes=size, importance=draw(st.integers(0, 80)) / 8)
        found.append(
            BudgetCandidate(
                slot=f"s{number:03}",
                value=draw(st.floats(-3, 12, allow_nan=False)),
                use=use,
                spare=draw(st.integers(0, size // 2)),
                demotion=Use(bytes=draw(st.integers(0, size // 4)), importance=use.importance / 8),
                pinned=draw(st.booleans()) and draw(st.booleans()),
                holds=draw(st.booleans()) and draw(st.booleans()),
            )
        )
    return found


def whole(candidates: list[BudgetCandidate]) -> Use:
    """What all of them take."""
    total = Use()
    for each in candidates:
        total = added(total, each.use)
    return total


budgets = st.builds(
    Budget,
    beliefs=st.none() | st.integers(1, 150),
    bytes=st.none() | st.integers(1, 2_000_000),
    importance=st.none() | st.integers(1, 400).map(float),
    erase=st.booleans(),
)
rooms = st.none() | st.integers(0, 500_000)


@given(candidates_drawn(), budgets, rooms)
def test_what_is_pinned_or_holds_a_slot_is_compressed_at_most(candidates, budget, room) -> None:
    made = plan(budget, whole(candidates), candidates, archive_room=room)

    bound = {each.slot for each in candidates if each.pinned or each.holds}
    assert {step.action for step in made.steps if step.slot in bound} <= {"compress"}


@given(candidates_drawn(), budgets, rooms)
def test_after_a_plan_the_budget_is_kept_and_four_fifths_of_it_used_or_the_notes_say_why_not(
    candidates, budget, room
) -> None:
    use = whole(candidates)
    made = plan(budget, use, candidates, archive_room=room)

    if fullness(use, budget) <= HIGH:
        assert made == BudgetPlan(steps=(), before=use, after=use)
    elif not made.notes:
        assert FLOOR <= fullness(made.after, budget) <= 1.0


@given(candidates_drawn(largest=400), st.integers(0, 100))
def test_a_bank_of_small_free_memories_always_comes_to_rest_between_four_fifths_and_all(candidates, cut) -> None:
    free = [each for each in candidates if not each.pinned and not each.holds]
    assume(len(free) >= 20)
    use = whole(free)
    budget = Budget(bytes=max(5 * 400, use.bytes * cut // 100))
    assume(fullness(use, budget) > 1.0)

    made = plan(budget, use, free)

    assert made.notes == ()
    assert FLOOR <= fullness(made.after, budget) <= 1.0


@given(candidates_drawn(), budgets, rooms)
def test_the_steps_come_in_the_order_of_the_design_and_free_what_the_plan_says(candidates, budget, room) -> None:
    use = whole(candidates)
    made = plan(budget, use, candidates, archive_room=room)

    actions = [ORDER.index(step.action) for step in made.steps]
    freed = Use()
    for step in made.steps:
        freed = added(freed, step.frees)
    assert actions == sorted(actions)
    assert less(use, freed) == made.after
    assert len({(step.slot, step.action) for step in made.steps}) == len(made.steps)


@given(candidates_drawn(), budgets, rooms)
def test_nothing_is_erased_without_leave_and_no_more_is_archived_than_fits(candidates, budget, room) -> None:
    made = plan(budget, whole(candidates), candidates, archive_room=room)

    archived = sum(step.frees.bytes for step in made.steps if step.action == "archive")
    assert budget.erase or not any(step.action == "erase" for step in made.steps)
    assert room is None or archived <= room


@given(candidates_drawn(), budgets, st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_does_not_matter(candidates, budget, random) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)

    assert plan(budget, whole(candidates), candidates) == plan(budget, whole(candidates), shuffled)
