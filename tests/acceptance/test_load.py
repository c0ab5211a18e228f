"""What a crowd of clients sees: nothing fails and nothing is lost, also while every process is replaced in turn."""

from pathlib import Path

import pytest
from load import rolling, steady


def test_a_crowd_is_answered_and_what_was_accepted_is_kept(tmp_path: Path) -> None:
    report = steady(tmp_path / "mesh", clients=40, seconds=4, embedder="none:")

    assert dict(report.outcome.failed) == {}
    assert {status for status in report.statuses if status >= "400"} <= {"429"}
    assert len(report.outcome.accepted) > 0
    assert len(report.outcome.asked) > 0
    assert report.lost == 0


@pytest.mark.kafka
@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_servers_and_workers_are_replaced_in_turn_under_load_and_no_call_fails_and_nothing_is_lost(
    kafka: str, tmp_path: Path
) -> None:
    report = rolling(kafka, tmp_path / "mesh", "rolling-", clients=20, seconds=5)

    assert report.replaced == 4
    assert dict(report.outcome.failed) == {}
    assert len(report.outcome.accepted) > 0
    assert len(report.outcome.asked) > 0
    assert report.lost == 0
