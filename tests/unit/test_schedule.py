"""When jobs run, and on which banks."""

from threading import Event

from jobs.schedule import Scheduler, due_jobs, is_treated
from schemas.instant import HOUR


def test_what_never_ran_is_due_and_what_ran_waits_its_interval_from_its_end() -> None:
    ended = {("decay", "a"): 10 * HOUR, ("decay", "b"): 9 * HOUR}
    intervals = {"decay": HOUR, "reindex": 0}

    def due(now: int) -> list[tuple[str, str]]:
        return list(due_jobs(intervals, ["a", "b", "c"], lambda job, bank: ended.get((job, bank)), now))

    assert due(10 * HOUR) == [("decay", "b"), ("decay", "c")]
    assert due(11 * HOUR) == [("decay", "a"), ("decay", "b"), ("decay", "c")]


def test_banks_are_treated_by_name_and_by_a_share_that_stays_the_same() -> None:
    banks = [f"bank-{number}" for number in range(1_000)]

    assert is_treated("support", "", 1.0)
    assert is_treated("support", "sales, supp*", 1.0)
    assert not is_treated("support", "sales", 1.0)
    assert not is_treated("support", "", 0.0)
    half = [bank for bank in banks if is_treated(bank, "", 0.5)]
    assert 400 < len(half) < 600
    assert set(half) <= {bank for bank in banks if is_treated(bank, "", 0.8)}


def test_a_job_that_fails_takes_no_turn_from_the_next() -> None:
    done = Event()

    def run(job: str, bank: str, _: object) -> None:
        if job == "first":
            raise RuntimeError("broken")
        done.set()

    scheduler = Scheduler(lambda: [("first", "a"), ("second", "a")], run)
    scheduler.start()
    assert done.wait(10)
    scheduler.stop()


def test_a_scheduler_that_is_told_to_stop_tells_the_job_in_hand() -> None:
    running, told = Event(), []

    def run(job: str, bank: str, enough) -> None:
        running.set()
        while not enough():
            Event().wait(0.001)
        told.append(job)

    scheduler = Scheduler(lambda: [("first", "a"), ("second", "a")], run)
    scheduler.start()
    assert running.wait(10)
    scheduler.stop()
    assert told == ["first"]
