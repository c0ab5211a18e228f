"""The embedded log: topics, records and group offsets in one SQLite file, for several threads and processes."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import msgspec

from schemas.errors import InvalidInput, NewerSchema, NotFound, StoreUnavailable
from schemas.instant import Instant
from schemas.routing import partition_of
from stores.ports import Entry, Record, TopicPlan
from stores.sqlite.together import Together

_SCHEMA_VERSION = 1
_BUSY_SECONDS = 10.0
_SWITCH_TRIES = 100

# The step at place n leads from schema version n to n + 1; `log_schema` holds the version reached.
_STEPS = (
    (
        """CREATE TABLE log_topics (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, partitions INTEGER NOT NULL)""",
        """CREATE TABLE log_ends (
            topic INTEGER NOT NULL REFERENCES log_topics, partition INTEGER NOT NULL, next INTEGER NOT NULL,
            PRIMARY KEY (topic, partition)) WITHOUT ROWID""",
        """CREATE TABLE log_records (
            topic INTEGER NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL, at INTEGER NOT NULL,
            key TEXT, value BLOB, headers BLOB, PRIMARY KEY (topic, partition, "offset")) WITHOUT ROWID""",
        """CREATE TABLE log_offsets (
            name TEXT NOT NULL, topic INTEGER NOT NULL REFERENCES log_topics, partition INTEGER NOT NULL,
            next INTEGER NOT NULL, PRIMARY KEY (name, topic, partition)) WITHOUT ROWID""",
    ),
)

_READ = """SELECT "offset", key, value, at, headers FROM log_records
    WHERE topic = ? AND partition = ? AND "offset" >= ? AND value IS NOT NULL ORDER BY "offset" LIMIT ?"""
_APPEND = 'INSERT INTO log_records (topic, partition, "offset", at, key, value, headers) VALUES (?, ?, ?, ?, ?, ?, ?)'
_BLANK = """UPDATE log_records SET key = NULL, value = NULL, headers = NULL
    WHERE topic = ? AND partition = ? AND "offset" = ?"""
_REPLACE = """UPDATE log_records SET key = ?, value = ?, headers = ?
    WHERE topic = ? AND partition = ? AND "offset" = ? AND value IS NOT NULL"""
_COMMIT = """INSERT INTO log_offsets (name, topic, partition, next) VALUES (?, ?, ?, ?)
    ON CONFLICT (name, topic, partition) DO UPDATE SET next = excluded.next"""

_write_headers = msgspec.json.Encoder().encode
_read_headers = msgspec.json.Decoder(dict[str, str]).decode

_PRAGMAS = (
    "synchronous = FULL",
    "secure_delete = ON",
    "foreign_keys = ON",
    "cache_size = -16384",
    "wal_autocheckpoint = 8000",
)


class SqliteLog:
    """A `Log` in a SQLite file. A forgotten record keeps its row, without key, bytes and headers."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._idle: list[sqlite3.Connection] = []
        self._known: dict[str, tuple[int, int]] = {}
        self._closed = False
        # Threads queue here, in turn; SQLite's own waiting, by polling, is left for other processes.
        self._turn = Lock()
        self._together = Together(self._turn, self._transaction)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"log {self._path}: {error}") from error
        with self._writing() as connection:
            _migrate(connection, self._path)

    def create(self, topic: str, plan: TopicPlan) -> None:
        """Make a topic if it is not there; an existing one stays as it is. Records go by `drop_before` only."""
        if plan.partitions < 1:
            raise InvalidInput("partitions", f"is {plan.partitions}; a topic has at least one")
        with self._writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO log_topics (name, partitions) VALUES (?, ?)", (topic, plan.partitions)
            )

    def partitions(self, topic: str) -> int:
        """The partition count; raises NotFound for an unknown topic."""
        with self._reading() as connection:
            return self._topic(connection, topic)[1]

    def topics(self) -> list[str]:
        """Names of all topics, sorted."""
        with self._reading() as connection:
            return sorted(name for (name,) in connection.execute("SELECT name FROM log_topics"))

    def append(self, topic: str, entries: Sequence[Entry], at: Instant) -> list[tuple[int, int]]:
        """Add entries, all or none, durable on return; returns each one's (partition, offset)."""

        def append(connection: sqlite3.Connection) -> list[tuple[int, int]]:
            return _append(connection, self._topic(connection, topic), entries, at)

        return self._together.write(append)

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Up to `limit` records from `offset` on, in order; none at the end."""
        with self._reading() as connection:
            id = self._partition(connection, topic, partition)
            rows = connection.execute(_READ, (id, partition, offset, limit)).fetchall()
        return [
            Record(topic, partition, place, key, value, at, _read_headers(headers) if headers else {})
            for place, key, value, at, headers in rows
        ]

    def committed(self, group: str, topic: str) -> dict[int, int]:
        """The next offset to read for each partition (0 where nothing was committed)."""
        with self._reading() as connection:
            id, count = self._topic(connection, topic)
            query = "SELECT partition, next FROM log_offsets WHERE name = ? AND topic = ?"
            return dict.fromkeys(range(count), 0) | dict(connection.execute(query, (group, id)))

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Note the next offsets to read, durable on return. Going back is allowed: it replays."""
        for partition, offset in offsets.items():
            if offset < 0:
                raise InvalidInput(f"offsets[{partition}]", f"is {offset}; offsets begin at 0")
        with self._writing() as connection:
            rows = [
                (group, self._partition(connection, topic, partition), partition, offset)
                for partition, offset in offsets.items()
            ]
            connection.executemany(_COMMIT, rows)

    def ends(self, topic: str) -> dict[int, int]:
        """The offset that the next entry of each partition will get."""
        with self._reading() as connection:
            id, count = self._topic(connection, topic)
            return dict.fromkeys(range(count), 0) | _ends(connection, id)

    def forget(self, topic: str, partition: int, offsets: Sequence[int]) -> None:
        """Blank the bytes of single records for good; their offsets stay and are skipped by readers.

        On return the records' own bytes are overwritten; copies from where SQLite once moved them go with `wipe`.
        Raises StoreUnavailable when a long read of another process hindered it; a repeat finishes the work.
        """
        with self._writing() as connection:
            id = self._partition(connection, topic, partition)
            connection.executemany(_BLANK, [(id, partition, offset) for offset in offsets])
        self._truncate()

    def replace(self, records: Sequence[Record]) -> None:
        """Put records in the place of those at their topic, partition and offset; what was forgotten stays so.

        The old bytes are overwritten as `forget` does it.
        """
        with self._writing() as connection:
            rows = [
                (
                    record.key,
                    record.value,
                    _stored_headers(record.headers),
                    self._partition(connection, record.topic, record.partition),
                    record.partition,
                    record.offset,
                )
                for record in records
            ]
            connection.executemany(_REPLACE, rows)
        self._truncate()

    def wipe(self) -> None:
        """Write the file anew, since SQLite leaves copies of rows that it moved, and empty the write-ahead log."""
        with self._turn, self._reading() as connection:
            connection.execute("VACUUM")
        self._truncate()

    def drop_before(self, topic: str, before: Instant) -> int:
        """Drop records accepted before a time; returns how many. Offsets never move."""
        with self._writing() as connection:
            id, _ = self._topic(connection, topic)
            dropped = connection.execute("DELETE FROM log_records WHERE topic = ? AND at < ?", (id, before)).rowcount
        if dropped:
            self._truncate()
        return dropped

    def close(self) -> None:
        """Release everything."""
        self._closed = True
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _topic(self, connection: sqlite3.Connection, topic: str) -> tuple[int, int]:
        """(id, partition count), remembered: neither ever changes."""
        found = self._known.get(topic)
        if found is None:
            found = connection.execute("SELECT id, partitions FROM log_topics WHERE name = ?", (topic,)).fetchone()
            if found is None:
                raise NotFound(f"there is no topic {topic!r}; create it first")
            self._known[topic] = found
        return found

    def _partition(self, connection: sqlite3.Connection, topic: str, partition: int) -> int:
        """The topic's id, if it has this partition."""
        id, count = self._topic(connection, topic)
        if not 0 <= partition < count:
            raise NotFound(f"topic {topic!r} has partitions 0 to {count - 1}, not {partition}")
        return id

    def _truncate(self) -> None:
        """Move the write-ahead log into the file and empty it, so that no old bytes stay behind in it."""
        with self._reading() as connection:
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreUnavailable(f"log {self._path}: another reader holds the old bytes; repeat the call")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile; sqlite3's errors leave as StoreUnavailable."""
        if self._closed:
            raise StoreUnavailable(f"log {self._path} is closed; open it again")
        try:
            connection = self._take()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise StoreUnavailable(f"log {self._path}: {error}") from error
        self._idle.append(connection)
        if self._closed:
            self.close()

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return _connect(self._path)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; it ends with the block, and is undone by an exception."""
        with self._turn, self._transaction() as connection:
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """The same, of whoever has the turn."""
        with self._reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")


def _append(
    connection: sqlite3.Connection, topic: tuple[int, int], entries: Sequence[Entry], at: Instant
) -> list[tuple[int, int]]:
    id, count = topic
    ends = _ends(connection, id)
    places: list[tuple[int, int]] = []
    for entry in entries:
        partition = partition_of(entry.key, count)
        offset = ends.get(partition, 0)
        ends[partition] = offset + 1
        places.append((partition, offset))
    connection.executemany(
        _APPEND,
        [
            (id, *place, at, entry.key, entry.value, _stored_headers(entry.headers))
            for place, entry in zip(places, entries, strict=True)
        ],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO log_ends (topic, partition, next) VALUES (?, ?, ?)",
        [(id, partition, ends[partition]) for partition in {partition for partition, _ in places}],
    )
    return places


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    _use_wal(connection)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch a new file to write-ahead logging, which, unlike a transaction, does not wait for another opener."""
    for _ in range(_SWITCH_TRIES):
        with suppress(sqlite3.OperationalError):
            if connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",):
                return
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    raise sqlite3.OperationalError("the file does not take a write-ahead log; put it on a local disk")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the tables to our schema version, inside the caller's transaction."""
    connection.execute("CREATE TABLE IF NOT EXISTS log_schema (version INTEGER NOT NULL)")
    version: int = connection.execute("SELECT coalesce(max(version), 0) FROM log_schema").fetchone()[0]
    if version > _SCHEMA_VERSION:
        raise NewerSchema(f"log {path} has schema {version}, this release knows {_SCHEMA_VERSION}; upgrade Beliefmesh")
    for step in _STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    if version < _SCHEMA_VERSION:
        connection.execute("INSERT INTO log_schema (version) VALUES (?)", (_SCHEMA_VERSION,))


def _stored_headers(headers: dict[str, str]) -> bytes | None:
    return _write_headers(headers) if headers else None


def _ends(connection: sqlite3.Connection, topic: int) -> dict[int, int]:
    return dict(connection.execute("SELECT partition, next FROM log_ends WHERE topic = ?", (topic,)).fetchall())
