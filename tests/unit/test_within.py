"""How much may come into a bank before room is made, and what becomes of it where none can be made."""

from collections.abc import Mapping, Sequence

import pytest

from jobs.within import Keeper, Level
from schemas.budget import Budget, Use
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.observation import Source
from schemas.policy import Policy
from schemas.slot import BeliefChange, Change

EACH = Use(beliefs=1, bytes=1_000, importance=4.0)
HALL = Entity("hall", "place")


class Bank:
    """A graph and a mesh in which every piece makes a belief, and a job that drops half of the free ones."""

    def __init__(self, beliefs: int, bound: int, *, held: bool = False) -> None:
        self.beliefs, self.bound, self.held = beliefs, bound, held
        self.portions: list[int] = []
        self.runs = 0
        self.most = beliefs

    def policy(self, bank: str) -> Policy:
        return Policy(budget=Budget(beliefs=self.bound)) if bank == "small" else Policy()

    def counts(self, bank: str) -> dict[str, int]:
        return {"beliefs": self.beliefs}

    def measured(self, bank: str) -> Use:
        return Use(beliefs=self.beliefs, bytes=1_000 * self.beliefs, importance=4.0 * self.beliefs)

    def relieve(self, bank: str) -> None:
        self.runs += 1
        self.beliefs = self.beliefs if self.held else min(self.beliefs, self.bound * 85 // 100)

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: int) -> dict[int, list[Change] | Exception]:
        told: dict[int, list[Change] | Exception] = {}
        for partition, pieces in batches.items():
            self.portions.append(len(pieces))
            self.beliefs += len(pieces)
            told[partition] = [changed(piece) for piece in pieces]
        self.most = max(self.most, self.beliefs)
        return told

    def keeper(self, *, treats: bool = True) -> Keeper:
        return Keeper(self, self.measured, self.relieve, lambda bank: treats)  # type: ignore[arg-type]


def pieces(count: int, bank: str = "small") -> list[Evidence]:
    return [
        Evidence(
            id=f"e{n}",
            bank=bank,
            slot=f"s{n}",
            entity=HALL,
            observation_id=f"o{n}",
            source=Source("desk"),
            effective_at=n,
            observed_at=n,
            statement=f"Bell {n} rang.",
        )
        for n in range(count)
    ]


def changed(piece: Evidence) -> Change:
    return Change(
        bank=piece.bank,
        slot=piece.slot,
        entity=piece.entity,
        slot_version=1,
        at=0,
        added=1,
        beliefs=(BeliefChange(f"b{piece.id}", 1, "active"),),
    )


@pytest.mark.parametrize(
    ("budget", "fits"),
    [
        (Budget(beliefs=100), 10),
        (Budget(bytes=95_500), 5),
        (Budget(beliefs=100, importance=368.0), 2),
        (Budget(beliefs=80), 0),
    ],
)
def test_as_much_fits_as_the_tightest_measure_has_room_for(budget: Budget, fits: int) -> None:
    assert Level(Use(beliefs=90, bytes=90_000, importance=360.0), EACH).fits(budget) == fits


def test_a_bank_is_tight_when_less_than_a_hundredth_of_a_bound_is_left() -> None:
    budget = Budget(beliefs=1_000)

    assert not Level(Use(beliefs=990), EACH).is_tight(budget)
    assert Level(Use(beliefs=991), EACH).is_tight(budget)
    assert not Level(Use(beliefs=1_020), EACH, sought=1.05).is_tight(budget)


def test_ten_budgets_at_once_come_in_by_portions_and_the_bound_holds_at_every_step() -> None:
    bank = Bank(beliefs=0, bound=200)
    everything = pieces(2_000)

    results = bank.keeper().admit(bank, {0: everything[:900], 1: everything[900:]}, 0)  # type: ignore[arg-type]

    assert bank.most <= 200
    assert sum(bank.portions) == 2_000
    assert {partition: len(result) for partition, result in results.items()} == {0: 900, 1: 1_100}  # type: ignore[arg-type]
    assert bank.runs < 80


def test_where_no_room_can_be_made_all_comes_in_and_the_job_is_not_run_for_each_piece() -> None:
    bank = Bank(beliefs=100, bound=100, held=True)

    bank.keeper().admit(bank, {0: pieces(400)}, 0)  # type: ignore[arg-type]

    assert bank.beliefs == 500
    assert bank.runs <= 80


@pytest.mark.parametrize(("name", "treats"), [("large", True), ("small", False)])
def test_a_bank_without_a_budget_or_in_shadow_mode_is_applied_as_it_comes(name: str, treats: bool) -> None:
    bank = Bank(beliefs=0, bound=10)

    bank.keeper(treats=treats).admit(bank, {3: pieces(50, name)}, 0)  # type: ignore[arg-type]

    assert (bank.portions, bank.runs) == ([50], 0)


def test_a_bank_that_others_filled_is_pressed_and_one_that_cannot_be_relieved_is_not_pressed_again() -> None:
    bank = Bank(beliefs=50, bound=100, held=True)
    keeper = bank.keeper()
    assert keeper.pressed(["small", "large"]) == []

    bank.beliefs = 96
    assert keeper.pressed(["small"]) == ["small"]
    bank.relieve("small")
    keeper.settled("small")

    assert keeper.pressed(["small"]) == []
    bank.beliefs = 99
    assert keeper.pressed(["small"]) == ["small"]


def test_a_partition_that_fails_is_told_and_the_others_go_on() -> None:
    bank = Bank(beliefs=0, bound=100)

    class Failing:
        def apply(self, batches: Mapping[int, Sequence[Evidence]], now: int) -> dict[int, list[Change] | Exception]:
            told = bank.apply({at: some for at, some in batches.items() if at}, now)
            return told | ({0: ValueError("broken")} if 0 in batches else {})

    results = bank.keeper().admit(Failing(), {0: pieces(5), 1: pieces(300)}, 0)  # type: ignore[arg-type]

    assert isinstance(results[0], ValueError)
    assert len(results[1]) == 300  # type: ignore[arg-type]
