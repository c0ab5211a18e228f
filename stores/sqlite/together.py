"""One transaction for what several threads want to write at a time, since each one waits for the disk."""

import sqlite3
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Lock
from typing import Generic, TypeVar

from schemas.errors import StoreUnavailable

_MOST = 256

Result = TypeVar("Result")


class _Waiting(Generic[Result]):
    """What one thread wants to write, and what came of it."""

    def __init__(self, work: Callable[[sqlite3.Connection], Result]) -> None:
        self.done = False
        self.error: Exception | None = None
        self._work = work
        self._results: list[Result] = []

    def run(self, connection: sqlite3.Connection) -> None:
        """Do it; what it raises that is not SQLite's undoes it alone, and is for its own thread."""
        connection.execute("SAVEPOINT work")
        try:
            self._results.append(self._work(connection))
        except sqlite3.Error:
            raise
        except Exception as error:
            connection.execute("ROLLBACK TO work")
            self.error = error
        connection.execute("RELEASE work")

    def result(self) -> Result:
        """What it gave, once it is done. Raises what it raised."""
        if self.error is not None:
            raise self.error
        return self._results[0]


class Together:
    """Gathers writes while one is under way: whoever has the turn next does all that wait, in the order they came.

    `turn` is the lock of whoever writes to the file in other ways, `transaction` begins one that ends with its block.
    """

    def __init__(self, turn: Lock, transaction: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._turn = turn
        self._transaction = transaction
        self._waiting: deque[_Waiting[object]] = deque()

    @property
    def waiting(self) -> int:
        """How many writes wait for their turn."""
        return len(self._waiting)

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """The result of the work, which is as durable on return as the transaction is. Raises what it raises.

        Work that raises is undone alone; what SQLite raises undoes, and fails, all that share the transaction.
        """
        mine = _Waiting(work)
        self._waiting.append(mine)  # type: ignore[arg-type]
        with self._turn:
            while not mine.done:
                self._write_some()
        return mine.result()

    def _write_some(self) -> None:
        some: list[_Waiting[object]] = []
        try:
            while self._waiting and len(some) < _MOST:
                some.append(self._waiting[0])
                self._waiting.popleft()
            with self._transaction() as connection:
                for each in some:
                    each.run(connection)
        except Exception as error:
            for each in some:
                each.error = error
        except BaseException:
            # Somebody ends this thread, and no other that waits for it.
            for each in some:
                each.error = StoreUnavailable("another write of the same transaction was interrupted; repeat the call")
            raise
        finally:
            for each in some:
                each.done = True
