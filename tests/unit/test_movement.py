"""Movement: a partition that has work and does none of it is noticed, whatever the others do."""

from beliefmesh.movement import Movement
from streams.backlog import Place


def at(partition: int, committed: int, end: int, stage: str = "decide") -> Place:
    return Place(stage, "claims", "claims", partition, committed, end)


class Watch:
    """Movement seen at moments that the test names."""

    def __init__(self) -> None:
        self._now = 0.0
        self._movement = Movement(lambda: self._now)

    def still(self, now: float, *found: Place) -> dict[tuple[str, int], float]:
        self._now = now
        return {(place.stage, place.partition): since for place, since in self._movement.still(found).items()}


def test_where_nothing_waits_nothing_is_still() -> None:
    assert Watch().still(100.0, at(0, 7, 7)) == {}


def test_what_waits_is_still_from_the_first_look_on_until_it_moves() -> None:
    watch = Watch()

    assert watch.still(100.0, at(0, 7, 9)) == {("decide", 0): 0.0}
    assert watch.still(170.0, at(0, 7, 12)) == {("decide", 0): 70.0}
    assert watch.still(171.0, at(0, 8, 12)) == {("decide", 0): 0.0}
    assert watch.still(172.0, at(0, 12, 12)) == {}


def test_a_stuck_partition_is_not_hidden_by_others_that_move() -> None:
    watch = Watch()
    watch.still(0.0, at(0, 5, 9), at(1, 5, 9))

    assert watch.still(80.0, at(0, 5, 9), at(1, 6, 9)) == {("decide", 0): 80.0, ("decide", 1): 0.0}


def test_the_same_partition_of_another_stage_is_another_place() -> None:
    watch = Watch()
    watch.still(0.0, at(0, 5, 9), at(0, 5, 9, "extract"))

    assert watch.still(60.0, at(0, 5, 9), at(0, 6, 9, "extract")) == {("decide", 0): 60.0, ("extract", 0): 0.0}


def test_what_idled_for_long_is_not_still_the_moment_that_work_comes() -> None:
    watch = Watch()
    watch.still(0.0, at(0, 5, 6))
    watch.still(10.0, at(0, 6, 6))

    assert watch.still(5_000.0, at(0, 6, 7)) == {("decide", 0): 0.0}
