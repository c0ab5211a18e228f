"""A few tables in one SQLite file that several threads and processes have open: how it is opened, read and written."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import StoreUnavailable
from stores.sqlite.transaction import transaction

DURABLE = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON")
"""What is written is on the disk when the call returns, and what is deleted is overwritten."""

_BUSY_SECONDS = 10.0


class TablesFile:
    """The file, made with its tables where it is not there yet. Raises StoreUnavailable.

    `what` says in errors whose file it is; `pragmas` hold for all that is written.
    """

    def __init__(self, path: Path, what: str, tables: Sequence[str], pragmas: Sequence[str] = DURABLE) -> None:
        self._what = f"{what} {path}"
        self._pragmas = pragmas
        self._turn = threading.Lock()
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        with self.writing() as connection:
            for statement in tables:
                connection.execute(statement)

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone."""
        with self._turn, self._errors():
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The connection in a transaction: all of it is kept on leaving, or none of it after an error."""
        with self.reading() as connection:
            for pragma in self._pragmas:
                connection.execute(f"PRAGMA {pragma}")
            with transaction(connection):
                yield connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(f"{self._what} cannot be used: {error}") from error
