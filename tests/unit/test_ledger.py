"""The ledger: one job a bank at a time, leases of the dead are taken over, runs are kept."""

import socket
from pathlib import Path

import msgspec
import pytest

from schemas.errors import Busy, InvalidSetting, NotFound
from schemas.job import JobRun
from stores.ledger import STALE, Ledger, open_ledger
from stores.owner import new_owner

NOW = 1_718_020_800_000_000
ELSEWHERE = "otherhost/1/aaaa"


@pytest.fixture
def ledger(tmp_path: Path):
    opened = open_ledger(f"sqlite:///{tmp_path / 'jobs.db'}")
    yield opened
    opened.close()


def run(id: str, started: int = NOW, ended: int | None = None, **fields) -> JobRun:
    return JobRun(id=id, job="decay", bank="a", mode="apply", started=started, ended=ended, **fields)


def test_one_owner_a_bank_until_it_releases_it_or_has_been_silent_for_too_long(ledger: Ledger) -> None:
    mine = new_owner()
    ledger.take("a", ELSEWHERE, NOW)
    ledger.take("b", mine, NOW)
    with pytest.raises(Busy, match="a job runs on bank a already"):
        ledger.take("a", mine, NOW + STALE - 1)
    ledger.take("a", mine, NOW + STALE)
    with pytest.raises(Busy, match="taken over"):
        ledger.save(run("j1"), ELSEWHERE, NOW + STALE)
    ledger.release("a", ELSEWHERE)
    with pytest.raises(Busy):
        ledger.take("a", ELSEWHERE, NOW + STALE)
    ledger.release("a", mine)
    ledger.take("a", ELSEWHERE, NOW + STALE)


def test_the_lease_of_a_process_that_is_gone_is_taken_over_at_once(ledger: Ledger) -> None:
    ledger.take("a", f"{socket.gethostname()}/4194999/aaaa", NOW)  # above the largest process id

    ledger.take("a", new_owner(), NOW)


def test_a_run_that_has_not_ended_is_found_again_with_its_cursor(ledger: Ledger) -> None:
    owner = new_owner()
    ledger.take("a", owner, NOW)
    ledger.save(run("j1", ended=NOW), owner, NOW)
    ledger.save(run("j2", NOW + 1, cursor="s9"), owner, NOW)

    unfinished = ledger.unfinished("decay", "a", "apply")
    assert unfinished is not None
    assert unfinished.cursor == "s9"
    assert ledger.unfinished("decay", "a", "shadow") is None
    assert ledger.last_end("decay", "a") == NOW
    assert [one.id for one in ledger.runs(None, None, 9)] == ["j2", "j1"]
    assert ledger.runs("decay", "b", 9) == []
    ledger.save(run("j2", NOW + 1, ended=NOW + 2), owner, NOW)
    assert ledger.unfinished("decay", "a", "apply") is None


def test_unknown_runs_and_urls_are_refused(ledger: Ledger) -> None:
    with pytest.raises(NotFound, match="jobs history"):
        ledger.run("j1")
    with pytest.raises(InvalidSetting):
        open_ledger("nebula://x")


def test_of_each_job_on_each_bank_the_newest_run_and_the_newest_end_are_told(ledger: Ledger) -> None:
    mine = new_owner()
    ledger.take("a", mine, NOW)
    ledger.take("b", mine, NOW)
    runs = [
        run("j1", NOW, NOW + 5, counts={"slots": 2}),
        run("j2", NOW + 10, NOW + 20, counts={"slots": 3}),
        run("j3", NOW + 30, failed="the store is away"),
        msgspec.structs.replace(run("j4", NOW + 40, NOW + 41), mode="dry run"),
        msgspec.structs.replace(run("j5", NOW + 1, NOW + 2), bank="b"),
        msgspec.structs.replace(run("j6", NOW + 1), job="archive"),
    ]
    for each in runs:
        ledger.save(each, mine, NOW)

    found = [(newest.id, done.id if done else None) for newest, done in ledger.newest()]

    assert found == [("j6", None), ("j3", "j2"), ("j5", "j5")]
    assert [newest.id for newest, _ in ledger.newest("b")] == ["j5"]
