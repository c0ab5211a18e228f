"""History: every turn of a slot in order of effective time, ending in what holds now (design 3.6)."""

from collections.abc import Callable

from beliefs.history import history
from beliefs.resolve import resolve
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY

Said = Callable[..., Evidence]


def test_turns_come_by_effective_time_and_tell_what_was_believed_from_then_on(said: Said) -> None:
    told = [said("c", 3, "C", weight=2.0), said("a", 1, "A"), said("b2", 2, "B"), said("b1", 2, "B")]

    turns = history(told, DEFAULT_POLICY, 4 * DAY).turns

    assert [(turn.at // DAY, [piece.id for piece in turn.evidence]) for turn in turns] == [
        (1, ["a"]),
        (2, ["b1", "b2"]),
        (3, ["c"]),
    ]
    assert [{belief.value: belief.status for belief in turn.beliefs} for turn in turns] == [
        {"A": "active"},
        {"A": "revoked", "B": "active"},
        {"A": "revoked", "B": "revoked", "C": "active"},
    ]


def test_a_history_ends_in_the_state_at_the_moment_of_asking(said: Said) -> None:
    told = [said("a", 1, "A"), said("b", 2, "B"), said("c", 30, "C", scheduled=True)]

    past = history(told, DEFAULT_POLICY, 200 * DAY)
    before = history(told, DEFAULT_POLICY, 3 * DAY)

    assert past.beliefs == resolve(told, DEFAULT_POLICY, 200 * DAY).beliefs
    assert {belief.value: belief.status for belief in past.turns[-1].beliefs} == {
        "A": "revoked",
        "B": "revoked",
        "C": "active",
    }
    assert [turn.at for turn in before.turns] == [DAY, 2 * DAY]
    assert before.turns[-1].beliefs == before.beliefs


def test_a_limit_keeps_the_newest_turns(said: Said) -> None:
    told = [said(f"{day}", day, f"v{day}") for day in range(1, 6)]

    assert [turn.at // DAY for turn in history(told, DEFAULT_POLICY, 9 * DAY, limit=2).turns] == [4, 5]
