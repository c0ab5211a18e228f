"""The index's durable truth: rows and vectors in a SQLite file, and how far its derived files have come."""

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from schemas.errors import NewerSchema, StoreUnavailable
from schemas.wire import dump, load
from stores.ports import IndexRow

SCHEMA_VERSION = 1
_BYTES_OF_A_NUMBER = 2

_TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # AUTOINCREMENT: the number of a removed row is never given again, so an old vector file cannot mislead.
    """CREATE TABLE rows (
        number INTEGER PRIMARY KEY AUTOINCREMENT, bank TEXT NOT NULL, belief TEXT NOT NULL, audience TEXT NOT NULL,
        seq INTEGER NOT NULL, version INTEGER, embedded INTEGER NOT NULL, row BLOB NOT NULL, vector BLOB,
        UNIQUE (bank, belief, audience))""",
    "CREATE INDEX rows_by_bank ON rows (bank)",
    "CREATE INDEX rows_by_seq ON rows (seq)",
    # belief '' stands for the whole bank
    "CREATE TABLE removals (seq INTEGER NOT NULL, bank TEXT NOT NULL, belief TEXT NOT NULL)",
    "CREATE TABLE saved (bank TEXT PRIMARY KEY, checksum INTEGER NOT NULL) WITHOUT ROWID",
)
_INSERT = """INSERT INTO rows (number, bank, belief, audience, seq, version, embedded, row, vector)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
    "cache_size = -16384",
    "wal_autocheckpoint = 8000",
)
_ROWS_OF = """
SELECT belief, audience, number, row, vector FROM rows
WHERE bank = ? AND belief IN (SELECT value FROM json_each(?))
"""
_UPDATE = "UPDATE rows SET seq = ?, version = ?, embedded = ?, row = ? WHERE number = ?"
_CHANGED = """SELECT seq, number, row FROM rows WHERE seq > ?1 AND seq <=
    (SELECT max(seq) FROM (SELECT seq FROM rows WHERE seq > ?1 ORDER BY seq LIMIT ?2)) ORDER BY seq, number"""
_PAGE = "SELECT number, row, vector FROM rows WHERE bank = ? AND number > ? ORDER BY number LIMIT ?"
_PAGE_ROWS = 4_096
_LARGEST = "SELECT bank, count(*) AS size FROM rows GROUP BY bank HAVING size >= ? ORDER BY size DESC, bank"
_VERSIONS = "SELECT belief, max(version) FROM rows WHERE bank = ? GROUP BY belief HAVING count(version) = count(*)"

Key = tuple[str, str, str]
"""(bank, belief, audience)"""


class Stored(NamedTuple):
    """A row under its number, with the bytes of its float16 vector."""

    number: int
    row: IndexRow
    vector: bytes | None


class Written(NamedTuple):
    """What an upsert did: the rows now there, and (bank, number) of those that vanished.

    `kept` are the numbers that were there before, `known` the (bank, belief) that had rows. `replaced` says that
    older text was removed.
    """

    seq: int
    stored: list[Stored]
    kept: set[int]
    known: set[tuple[str, str]]
    gone: list[tuple[str, int]]
    replaced: bool


class RowFile:
    """Rows by (bank, belief, audience); a row keeps its number for as long as its vector is the same.

    For one process. `generation` names the life of this file: files derived from another are worthless.
    Opened with another `model_id` or dimension than before, all vectors are dropped, and all rows count as not
    indexed: `versions` is empty, and `model_changed` says so.
    """

    def __init__(self, path: Path, model_id: str, dimensions: int) -> None:
        self._path = path
        self._lock = RLock()
        with self._errors():
            self._connection = _connect(path)
        with self._transaction() as connection:
            _prepare(connection, path)
            facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            self.model_changed = _is_of_another_model(connection, facts["model_id"], model_id, dimensions)
            if facts["model_id"] != model_id or self.model_changed:
                connection.execute("UPDATE rows SET vector = NULL, version = NULL")
                connection.execute("DELETE FROM saved")
                connection.execute("UPDATE facts SET value = ? WHERE name = 'model_id'", (model_id,))
            last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'rows'").fetchone()
        self.generation = facts["generation"]
        self.secret = bytes.fromhex(facts["secret"])
        self.seq = int(facts["seq"])
        self._last = int(last[0]) if last else 0

    def upsert(self, rows: Mapping[Key, tuple[IndexRow, bytes | None]], applied: int) -> Written:
        """Replace all rows of the beliefs named; `applied` is the sequence number the keyword files have reached."""
        kept: set[int] = set()
        stored: list[Stored] = []
        last = self._last
        replaced = False
        with self._change(applied) as (connection, seq):
            before = _rows_of(connection, {(bank, belief) for bank, belief, _ in rows})
            known = {(bank, belief) for bank, belief, _ in before}
            for key, (row, vector) in rows.items():
                number, old, old_vector = before.get(key, (0, b"", None))
                if number and vector == old_vector:
                    del before[key]
                    kept.add(number)
                    replaced = replaced or not _same_text(load(old, IndexRow), row)
                stored.append(Stored(number if number in kept else (last := last + 1), row, vector))
            gone = [(bank, number) for (bank, _, _), (number, _, _) in before.items()]
            connection.executemany("DELETE FROM rows WHERE number = ?", [(number,) for _, number in gone])
            _write(connection, seq, stored, kept)
        self._last = last
        return Written(seq, stored, kept, known, gone, replaced or bool(gone))

    def delete(self, bank: str, beliefs: Sequence[str], applied: int) -> list[int]:
        """Remove every row of these beliefs; returns the numbers that vanished."""
        keys = {(bank, belief) for belief in beliefs}
        with self._change(applied) as (connection, seq):
            gone = [number for number, _, _ in _rows_of(connection, keys).values()]
            connection.executemany("DELETE FROM rows WHERE number = ?", [(number,) for number in gone])
            connection.executemany("INSERT INTO removals VALUES (?, ?, ?)", [(seq, *key) for key in keys])
        return gone

    def drop(self, bank: str, applied: int) -> None:
        """Remove every row of a bank."""
        with self._change(applied) as (connection, seq):
            connection.execute("DELETE FROM rows WHERE bank = ?", (bank,))
            connection.execute("DELETE FROM saved WHERE bank = ?", (bank,))
            connection.execute("INSERT INTO removals VALUES (?, ?, '')", (seq, bank))

    def wipe(self) -> None:
        """Empty the write-ahead log, so that removed or replaced text is in no file any more."""
        with self._statements() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def renew(self) -> None:
        """Write the file anew: SQLite leaves copies of rows that it moved."""
        with self._statements() as connection:
            connection.execute("VACUUM")
        self.wipe()

    def sizes(self, bank: str) -> tuple[int, int]:
        """How many rows and how many vectors a bank has."""
        with self._statements() as connection:
            query = "SELECT count(*), count(vector) FROM rows WHERE bank = ?"
            rows, vectors = connection.execute(query, (bank,)).fetchone()
        return rows, vectors

    def largest(self, least: int, most: int) -> list[str]:
        """Banks of at least so many rows, largest first, as far as they have no more than `most` rows together."""
        with self._statements() as connection:
            found = connection.execute(_LARGEST, (least,)).fetchall()
        sums = accumulate(rows for _, rows in found)
        return [bank for (bank, _), rows in zip(found, sums, strict=True) if rows <= most]

    def bank(self, bank: str) -> Iterator[list[Stored]]:
        """All rows of a bank by number, some at a time."""
        after = 0
        while True:
            with self._statements() as connection:
                found = connection.execute(_PAGE, (bank, after, _PAGE_ROWS)).fetchall()
            if not found:
                return
            yield [Stored(number, load(row, IndexRow), vector) for number, row, vector in found]
            after = found[-1][0]

    def changed(self, after: int, limit: int) -> list[tuple[int, Stored]]:
        """(sequence number, row) written after a sequence number: about `limit`, but never half of a change."""
        with self._statements() as connection:
            found = connection.execute(_CHANGED, (after, limit))
            return [(seq, Stored(number, load(row, IndexRow), None)) for seq, number, row in found]

    def removals(self, after: int) -> list[tuple[str, str]]:
        """(bank, belief or '' for all of it) removed after a sequence number."""
        with self._statements() as connection:
            return connection.execute("SELECT DISTINCT bank, belief FROM removals WHERE seq > ?", (after,)).fetchall()

    def count(self) -> int:
        """The number of rows of all banks."""
        with self._statements() as connection:
            return int(connection.execute("SELECT count(*) FROM rows").fetchone()[0])

    def versions(self, bank: str) -> dict[str, int]:
        """The indexed version of every belief of the bank."""
        with self._statements() as connection:
            return dict(connection.execute(_VERSIONS, (bank,)).fetchall())

    def saved(self, bank: str) -> int | None:
        """The checksum of the bank's vector file, if one was saved."""
        with self._statements() as connection:
            found = connection.execute("SELECT checksum FROM saved WHERE bank = ?", (bank,)).fetchone()
        return int(found[0]) if found else None

    def set_saved(self, bank: str, checksum: int) -> None:
        """Note the checksum of the bank's vector file."""
        with self._statements() as connection:
            connection.execute("INSERT OR REPLACE INTO saved (bank, checksum) VALUES (?, ?)", (bank, checksum))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreUnavailable(
                f"index {self._path}: {error}. If it is damaged, remove its folder: it is made again from the graph"
            ) from error

    @contextmanager
    def _statements(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            yield self._connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._statements() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _change(self, applied: int) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction under the next sequence number; removals that the keyword files have applied are let go."""
        with self._transaction() as connection:
            seq = self.seq + 1
            connection.execute("UPDATE facts SET value = ? WHERE name = 'seq'", (str(seq),))
            connection.execute("DELETE FROM removals WHERE seq <= ?", (applied,))
            yield connection, seq
        self.seq = seq


def _is_of_another_model(connection: sqlite3.Connection, before: str, model_id: str, dimensions: int) -> bool:
    """Whether there are vectors of another model, or of one of this name that gives another dimension."""
    found = connection.execute("SELECT length(vector) FROM rows WHERE vector IS NOT NULL LIMIT 1").fetchone()
    return found is not None and (before != model_id or found[0] != dimensions * _BYTES_OF_A_NUMBER)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise NewerSchema(f"index {path} has schema {version}, this release knows {SCHEMA_VERSION}; upgrade Beliefmesh")
    if version == 0:
        for statement in _TABLES:
            connection.execute(statement)
        facts = {"generation": secrets.token_hex(8), "secret": secrets.token_hex(16), "seq": "0", "model_id": ""}
        connection.executemany("INSERT INTO facts (name, value) VALUES (?, ?)", facts.items())
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _rows_of(
    connection: sqlite3.Connection, beliefs: set[tuple[str, str]]
) -> dict[Key, tuple[int, bytes, bytes | None]]:
    by_bank: dict[str, list[str]] = {}
    for bank, belief in beliefs:
        by_bank.setdefault(bank, []).append(belief)
    return {
        (bank, belief, audience): (number, row, vector)
        for bank, wanted in by_bank.items()
        for belief, audience, number, row, vector in connection.execute(_ROWS_OF, (bank, json.dumps(wanted)))
    }


def _write(connection: sqlite3.Connection, seq: int, stored: Sequence[Stored], kept: set[int]) -> None:
    connection.executemany(
        _UPDATE,
        [(seq, row.version, row.embedded, dump(row), number) for number, row, _ in stored if number in kept],
    )
    connection.executemany(
        _INSERT,
        [
            (number, row.bank, row.belief, row.audience, seq, row.version, row.embedded, dump(row), vector)
            for number, row, vector in stored
            if number not in kept
        ],
    )


def _same_text(old: IndexRow, new: IndexRow) -> bool:
    return (old.text, old.keywords) == (new.text, new.keywords)
