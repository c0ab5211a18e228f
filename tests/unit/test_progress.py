"""Progress is what has been worked off since nothing waited last."""

from beliefmesh.ending import Ending
from beliefmesh.progress import CatchingUp, CaughtUp
from streams.backlog import Place


def place(committed: int, end: int) -> Place:
    return Place("extract", "observations", "observations", 0, committed, end)


def looked(catching_up: CatchingUp, committed: int, end: int) -> CaughtUp | None:
    found = [place(committed, end)]
    return catching_up.look(found, found if committed < end else [])


def test_work_that_is_done_counts_from_when_something_began_to_wait() -> None:
    catching_up = CatchingUp()

    told = [looked(catching_up, *at) for at in ((100, 100), (100, 140), (110, 140), (130, 140), (140, 140))]

    assert told == [None, CaughtUp(0.0, 40), CaughtUp(25.0, 30), CaughtUp(75.0, 10), None]


def test_offsets_that_go_back_are_no_work_undone() -> None:
    catching_up = CatchingUp()
    looked(catching_up, 100, 140)

    assert looked(catching_up, 0, 140) == CaughtUp(0.0, 140)


def test_a_process_that_was_told_to_stop_goes_on_for_the_delay() -> None:
    seconds = [10.0]
    ending = Ending(lambda: seconds[0])
    before = (ending.asked, ending.due(0.0))
    ending.ask()
    seconds[0] = 12.0
    ending.ask()

    assert before == (False, False)
    assert (ending.asked, ending.due(2.0), ending.due(2.5)) == (True, True, False)
