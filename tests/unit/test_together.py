"""Writes of several threads in one transaction."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import pytest

from schemas.errors import StoreUnavailable
from stores.sqlite.together import Together
from stores.sqlite.transaction import transaction


class Numbers:
    """A table of numbers, and how many transactions wrote it."""

    def __init__(self, path: Path) -> None:
        self.turn = Lock()
        self.transactions = 0
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
        self.together = Together(self.turn, self._transaction)

    def add(self, *numbers: int) -> int:
        """Write some, and give the last; none may be 13."""

        def work(connection: sqlite3.Connection) -> int:
            for number in numbers:
                connection.execute("INSERT INTO numbers VALUES (?)", (number,))
                if number == 13:
                    raise ValueError("13")
            return numbers[-1]

        return self.together.write(work)

    def kept(self) -> list[int]:
        """What is written."""
        return [number for (number,) in self.connection.execute("SELECT number FROM numbers ORDER BY number")]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self.transactions += 1
        with transaction(self.connection):
            yield self.connection


def until_they_wait(numbers: Numbers, count: int) -> None:
    """Return once so many writes wait for their turn."""
    while numbers.together.waiting < count:
        time.sleep(0.001)


@pytest.fixture
def numbers(tmp_path: Path) -> Iterator[Numbers]:
    """An empty table."""
    opened = Numbers(tmp_path / "numbers.db")
    yield opened
    opened.connection.close()


def test_what_comes_while_another_writes_is_written_together(numbers: Numbers) -> None:
    with ThreadPoolExecutor(8) as pool, numbers.turn:
        given = [pool.submit(numbers.add, number) for number in range(8)]
        until_they_wait(numbers, 8)

    assert [one.result() for one in given] == list(range(8))
    assert numbers.kept() == list(range(8))
    assert numbers.transactions == 1


def test_work_that_fails_is_undone_alone_and_tells_its_own_caller(numbers: Numbers) -> None:
    with ThreadPoolExecutor(3) as pool, numbers.turn:
        first, bad, last = (pool.submit(numbers.add, *some) for some in ((1, 2), (12, 13), (20,)))
        until_they_wait(numbers, 3)

    assert (first.result(), last.result()) == (2, 20)
    with pytest.raises(ValueError, match="13"):
        bad.result()
    assert numbers.kept() == [1, 2, 20]


def test_whoever_is_interrupted_takes_no_other_thread_along(numbers: Numbers) -> None:
    def interrupted(_: sqlite3.Connection) -> int:
        raise KeyboardInterrupt

    with ThreadPoolExecutor(3) as pool, numbers.turn:
        given = [pool.submit(numbers.add, 1), pool.submit(numbers.together.write, interrupted)]
        until_they_wait(numbers, 2)
        given.append(pool.submit(numbers.add, 2))
        until_they_wait(numbers, 3)

    raised = [type(one.exception()) for one in given]
    assert raised.count(KeyboardInterrupt) == 1
    assert raised.count(StoreUnavailable) == 2
    assert numbers.kept() == []
    assert numbers.add(3) == 3


def test_what_the_file_refuses_fails_all_that_share_the_transaction(numbers: Numbers) -> None:
    numbers.add(5)
    with ThreadPoolExecutor(2) as pool, numbers.turn:
        given = [pool.submit(numbers.add, *some) for some in ((1,), (5,))]
        until_they_wait(numbers, 2)

    assert {type(one.exception()) for one in given} == {sqlite3.IntegrityError}
    assert numbers.kept() == [5]
    assert numbers.add(6) == 6
