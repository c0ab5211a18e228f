"""After which pause a client sends a request again, and when it does not."""

from email.utils import formatdate
from time import time

import pytest

from beliefmesh.remote_verbs.retrying import Failed, Replied, failure_in, patiently, pause_after, seconds_in
from schemas.errors import Busy, StoreUnavailable, VersionConflict

BUSY = Replied(429, b'{"error": {"code": "busy", "message": "too much", "field": ""}}', "3")
CONFLICT = b'{"error": {"code": "version_conflict", "message": "written since they were read: s1", "field": ""}}'


def test_the_pause_is_what_was_advised_and_a_step_by_chance_that_doubles_up_to_a_bound() -> None:
    assert pause_after(0, 0.0, 1.0) == 0.2
    assert pause_after(3, 0.0, 0.5) == pytest.approx(0.8)
    assert pause_after(60, 2.0, 1.0) == 7.0
    assert pause_after(60, 2.0, 0.0) == 2.0


def test_retry_after_is_read_as_seconds_or_as_a_date_and_nonsense_asks_for_nothing() -> None:
    assert seconds_in("7") == 7.0
    assert seconds_in(formatdate(time() + 60, usegmt=True)) == pytest.approx(60, abs=3)
    assert seconds_in(formatdate(time() - 60, usegmt=True)) == 0.0
    assert [seconds_in(text) for text in (None, "", "soon", "-1", "1.5e9")] == [0.0] * 5


@pytest.mark.parametrize(
    ("replied", "advice"),
    [
        (BUSY, 3.0),
        (Replied(503, b"", None), 0.0),
        (Replied(409, b'{"error": {"code": "in_flight"}}', "1"), 1.0),
        (Replied(502, b"<html>", None), 0.0),
        (Replied(409, CONFLICT, None), None),
        (Replied(502, b'{"error": {"code": "model_failed"}}', None), None),
        (Replied(500, b"", None), None),
        (Replied(422, b"", "1"), None),
    ],
)
def test_only_what_passes_is_tried_again(replied: Replied, advice: float | None) -> None:
    failed = failure_in(replied)

    assert isinstance(failed, Failed)
    assert failed.advice == advice


def test_a_reply_without_an_error_is_no_failure() -> None:
    assert failure_in(Replied(202, b"{}", None)) is None


def test_advice_to_come_after_patience_has_ended_is_not_waited_for() -> None:
    asked: list[int] = []

    def ask() -> Replied:
        asked.append(1)
        return BUSY

    with pytest.raises(Busy):
        patiently(ask, 1.0)
    assert asked == [1]


def test_the_error_of_a_conflict_is_raised_at_once() -> None:
    with pytest.raises(VersionConflict):
        patiently(lambda: Replied(409, CONFLICT), 60.0)


def test_what_cannot_be_reached_is_tried_until_it_answers() -> None:
    outcomes: list[bool] = [False, False, True]

    def ask() -> Replied:
        if outcomes.pop(0):
            return Replied(200, b"done")
        raise StoreUnavailable("down")

    assert patiently(ask, 30.0) == b"done"
