"""How the embedded graph's file is opened and shared: connections, transactions, and errors as ours."""

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import StoreUnavailable
from stores.sqlite.evidence_rows import contents_of
from stores.sqlite.schema import MIGRATIONS, migrate, refuse_newer, schema_version
from stores.sqlite.transaction import transaction

_BUSY_SECONDS = 10.0

_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -32768",
    "PRAGMA mmap_size = 268435456",
    "PRAGMA wal_autocheckpoint = 16000",
    "PRAGMA journal_size_limit = 67108864",
)


class SqliteFile:
    """One database file with as many connections as there are calls at a time; other processes may open it too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False
        # Writers of this process queue here, in turn; only other processes are waited for by SQLite's polling.
        self._writer = threading.Lock()
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the file, however many statements are run."""
        with self._errors(), self._connection() as connection, transaction(connection, "BEGIN"):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that alone may write; all of it is durable on leaving, or none of it after an error."""
        with (
            self._errors(),
            self._writer,
            self._connection() as connection,
            transaction(connection, "BEGIN IMMEDIATE"),
        ):
            yield connection

    def wipe(self) -> None:
        """Write the file anew and empty its write-ahead log; waits for readers, and raises StoreUnavailable at last."""
        with self._errors(), self._writer, self._connection() as connection:
            connection.execute("VACUUM")
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreUnavailable(f"the graph store {self.path.name}: a reader holds removed bytes; repeat the call")

    def close(self) -> None:
        """Close idle connections now and busy ones when their call ends."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _prepare(self) -> None:
        connection = self._open()
        with self._returned(connection):
            if schema_version(connection) < len(MIGRATIONS):
                with transaction(connection, "BEGIN IMMEDIATE"):
                    migrate(connection)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            refuse_newer(schema_version(connection), self.path.name)
            use_wal(connection)
            for pragma in _PRAGMAS:
                connection.execute(pragma)
            connection.create_function("contents", 6, contents_of, deterministic=True)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise StoreUnavailable(f"the graph store {self.path.name} was closed; open it again")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._open()
        with self._returned(connection):
            yield connection

    @contextmanager
    def _returned(self, connection: sqlite3.Connection) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error:
            connection.close()
            raise
        except BaseException:
            self._give_back(connection)
            raise
        self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        self._idle.append(connection)
        if self._closed:
            self.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(f"the graph store {self.path.name} cannot be used: {error}") from error


def use_wal(connection: sqlite3.Connection) -> None:
    """Switch a file to write-ahead logging. Raises OperationalError where it cannot have one."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            # Unlike a transaction, the switch does not wait for another process that opens the file at the same time.
            if time.monotonic() > deadline:
                raise
            with transaction(connection, "BEGIN IMMEDIATE"):
                pass
        else:
            if mode != "wal":
                raise sqlite3.OperationalError("it needs a write-ahead log; put the file on a local disk")
