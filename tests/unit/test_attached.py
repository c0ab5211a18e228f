"""A process that shares actors ends when their cluster is gone, and only then."""

from threading import Event

import pytest

from beliefmesh.attached import MISSES, watched
from beliefmesh.termination import termination
from schemas.errors import StoreUnavailable

PATIENCE = 20.0


def test_a_process_whose_cluster_is_gone_is_told_to_end_and_says_why() -> None:
    with (
        pytest.raises(StoreUnavailable, match="the Ray cluster at head:6379 is gone; start this process again"),
        termination() as asked,
        watched(lambda: False, "head:6379", look=0.001),
    ):
        assert asked.wait(PATIENCE)


def test_a_cluster_that_answers_again_in_time_is_not_gone() -> None:
    answers = [False] * (MISSES - 1) + [True] + [False] * (MISSES - 1)
    all_told = Event()

    def answer() -> bool:
        if answers:
            return answers.pop(0)
        all_told.set()
        return True

    with termination() as asked, watched(answer, "head:6379", look=0.001):
        assert all_told.wait(PATIENCE)
        assert not asked.is_set()
