"""The archive: evidence in compressed files of JSON lines, and a catalogue of what lies in which, beside the ledger."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence

import msgspec

from schemas.archived import Archived
from schemas.audience import audience_of
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import Instant
from schemas.slot import Change
from schemas.wire import dump, load
from stores.ledger import Ledger
from stores.shelf import Shelf, packed, unpacked

_AT_ONCE = 500
_TABLES = (
    "CREATE TABLE IF NOT EXISTS archived (bank TEXT NOT NULL, id TEXT NOT NULL, observation TEXT NOT NULL, "
    "effective INTEGER NOT NULL, ingested INTEGER NOT NULL, until INTEGER, known_until INTEGER, file TEXT NOT NULL, "
    "restored INTEGER NOT NULL DEFAULT 0, slot TEXT NOT NULL DEFAULT '', readers TEXT NOT NULL DEFAULT '[]', "
    "PRIMARY KEY (bank, id)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS untold (bank TEXT NOT NULL, slot TEXT NOT NULL, change BLOB NOT NULL, "
    "PRIMARY KEY (bank, slot)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS begun (bank TEXT NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL, "
    "PRIMARY KEY (bank, file)) WITHOUT ROWID",
)
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS archived_by_file ON archived (bank, file)",
    "CREATE INDEX IF NOT EXISTS archived_by_slot ON archived (bank, slot)",
)
_WITHOUT_SLOTS = (
    "ALTER TABLE archived ADD COLUMN slot TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE archived ADD COLUMN readers TEXT NOT NULL DEFAULT '[]'",
    "INSERT OR IGNORE INTO begun SELECT DISTINCT bank, file, 0 FROM archived",
)
"""What a catalogue lacks that was begun before it knew of slots."""

_PUT = """
INSERT OR REPLACE INTO archived
    (bank, id, observation, effective, ingested, until, known_until, file, slot, readers)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_STANDS = "UPDATE archived SET until = ?, known_until = ? WHERE (bank, id) = (?, ?)"
_STAYS = "UPDATE archived SET until = effective, known_until = ingested WHERE (bank, id) = (?, ?)"
_ANY = 1 << 62


class Archive:
    """Files on a shelf, packed alike; for several threads. Raises StoreUnavailable.

    A shelf belongs to one catalogue alone: only the files that it began are ever read or removed.
    """

    def __init__(self, shelf: Shelf, ledger: Ledger, suffix: str) -> None:
        self._shelf = shelf
        self._ledger = ledger
        self._suffix = suffix
        with ledger.writing() as connection:
            for statement in _TABLES:
                connection.execute(statement)
            if "slot" not in {row[1] for row in connection.execute("PRAGMA table_info(archived)")}:
                for statement in _WITHOUT_SLOTS:
                    connection.execute(statement)
            for statement in _INDEXES:
                connection.execute(statement)

    def put(self, bank: str, pieces: Sequence[Archived], changes: Sequence[Change]) -> int:
        """Keep the pieces in one file, durable on return; returns its bytes.

        First it is noted that the file is begun, so that `sweep` finds what a kill leaves; then the file is written,
        then the catalogue, with `changes`, which are to be told once the pieces have left their slots, and are kept
        until they were (`told`). The same pieces give the same file again, so that the call may be repeated. Of the
        voices of a digest that leave, the words lie here already: those stay, and only what stands for them is noted.
        """
        worded = self._worded(bank, [piece.evidence.id for piece in pieces if piece.evidence.digest])
        fresh = [piece for piece in pieces if piece.evidence.id not in worded]
        name, written = self._written(bank, fresh) if fresh else ("", 0)
        with self._ledger.writing() as connection:
            connection.executemany(_PUT, [_row(bank, piece, name) for piece in fresh])
            stand = [piece for piece in pieces if piece.evidence.id in worded]
            connection.executemany(_STANDS, [(one.until, one.known_until, bank, one.evidence.id) for one in stand])
            _note(connection, bank, changes)
        return written

    def _written(self, bank: str, pieces: Sequence[Archived]) -> tuple[str, int]:
        """The name of a file with the pieces, and its bytes."""
        name = digest(*(piece.evidence.id for piece in pieces)) + self._suffix
        data = packed(b"".join(msgspec.json.encode(piece) + b"\n" for piece in pieces), name)
        with self._ledger.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO begun VALUES (?, ?, ?)", (bank, name, len(data)))
        self._shelf.write(bank, name, data)
        return name, len(data)

    def _worded(self, bank: str, ids: Sequence[str]) -> set[str]:
        """Those of these pieces that lie here. Raises StoreUnavailable where the file of any is gone or damaged."""
        if not ids:
            return set()
        with self._ledger.reading() as connection:
            rows = connection.execute(
                "SELECT id, file FROM archived WHERE bank = ? AND restored = 0 "
                "AND id IN (SELECT value FROM json_each(?))",
                (bank, msgspec.json.encode(ids).decode()),
            ).fetchall()
        for name in sorted({name for _, name in rows}):
            self.read(bank, name)
        return {id for id, _ in rows}

    def note(self, bank: str, changes: Sequence[Change]) -> None:
        """Keep changes that are to be told, although nothing goes into the archive."""
        with self._ledger.writing() as connection:
            _note(connection, bank, changes)

    def untold(self, bank: str) -> list[Change]:
        """Changes that were kept and may not have been told."""
        with self._ledger.reading() as connection:
            rows = connection.execute("SELECT change FROM untold WHERE bank = ?", (bank,)).fetchall()
        return [load(body, Change) for (body,) in rows]

    def told(self, bank: str) -> None:
        """Note that all changes of the bank were told."""
        with self._ledger.writing() as connection:
            connection.execute("DELETE FROM untold WHERE bank = ?", (bank,))

    def disown(self, bank: str, pieces: Sequence[Evidence]) -> None:
        """Take pieces out of the catalogue that did not leave their slots after all; of voices the words stay here."""
        voices = [(bank, piece.id) for piece in pieces if piece.digest]
        whole = [(bank, piece.id) for piece in pieces if not piece.digest]
        with self._ledger.writing() as connection:
            connection.executemany("DELETE FROM archived WHERE (bank, id) = (?, ?)", whole)
            connection.executemany(_STAYS, voices)

    def files(self, bank: str, after: str, limit: int) -> list[str]:
        """Names of files greater than `after` that hold something, in order."""
        with self._ledger.reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT file FROM archived WHERE bank = ? AND file > ? ORDER BY file LIMIT ?",
                (bank, after, limit),
            ).fetchall()
        return [name for (name,) in rows]

    def read(self, bank: str, name: str) -> list[Archived]:
        """What the catalogue says lies in a file. Raises StoreUnavailable where the file is gone or damaged."""
        with self._ledger.reading() as connection:
            rows = connection.execute(
                "SELECT id FROM archived WHERE (bank, file) = (?, ?) AND restored = 0", (bank, name)
            ).fetchall()
        wanted = {id for (id,) in rows}
        if not wanted:
            return []
        data, place = self._shelf.read(bank, name), self._shelf.place(bank, name)
        try:
            pieces = [msgspec.json.decode(line, type=Archived) for line in unpacked(data, name).splitlines()]
        except (ValueError, msgspec.DecodeError) as error:
            raise StoreUnavailable(f"the archive {place} cannot be read ({error}); put it back from a copy") from error
        if missing := wanted - {piece.evidence.id for piece in pieces}:
            raise StoreUnavailable(f"the archive {place} lacks {len(missing)} pieces; put it back from a copy")
        return [piece for piece in pieces if piece.evidence.id in wanted]

    def drop(self, bank: str, name: str) -> None:
        """Remove a file whose pieces are in their slots again; what a kill cuts short, the next call completes."""
        with self._ledger.writing() as connection:
            connection.execute("UPDATE archived SET restored = 1 WHERE (bank, file) = (?, ?)", (bank, name))
        self._shelf.remove(bank, name)
        with self._ledger.writing() as connection:
            for table in ("archived", "begun"):
                connection.execute(f"DELETE FROM {table} WHERE (bank, file) = (?, ?)", (bank, name))

    def sweep(self, bank: str) -> int:
        """Remove files that were begun and of which the catalogue knows nothing, left by a kill; returns how many."""
        with self._ledger.reading() as connection:
            begun = connection.execute("SELECT file FROM begun WHERE bank = ? ORDER BY file", (bank,)).fetchall()
        known = set(self.files(bank, "", -1))
        strange = [name for (name,) in begun if name not in known]
        for name in strange:
            self.drop(bank, name)
        return len(strange)

    def beneath(self, bank: str, slots: Collection[str], readers: Sequence[str]) -> int:
        """How many archived pieces these slots have that may be read with these tokens."""
        found = 0
        for slot in slots:
            with self._ledger.reading() as connection:
                rows = connection.execute(
                    "SELECT readers FROM archived WHERE (bank, slot) = (?, ?) AND restored = 0", (bank, slot)
                ).fetchall()
            found += sum(not set(msgspec.json.decode(row)).isdisjoint(readers) for (row,) in rows)
        return found

    def lacking(self, bank: str, as_of: Instant | None, known_at: Instant | None) -> int:
        """How many archived pieces would count for a question about that time, where nothing stands for them."""
        at, known = _ANY if as_of is None else as_of, _ANY if known_at is None else known_at
        with self._ledger.reading() as connection:
            (count,) = connection.execute(
                "SELECT count(*) FROM archived WHERE bank = ? AND effective <= ? AND ingested <= ? AND restored = 0 "
                "AND (until IS NULL OR until > ? OR known_until > ?)",
                (bank, at, known, at, known),
            ).fetchone()
        return int(count)

    def everything(self) -> Iterator[tuple[str, str, str]]:
        """(bank, evidence, observation) of every archived piece of every bank, in order."""
        after = ("", "")
        while True:
            with self._ledger.reading() as connection:
                rows = connection.execute(
                    "SELECT bank, id, observation FROM archived WHERE (bank, id) > (?, ?) AND restored = 0 "
                    "ORDER BY bank, id LIMIT ?",
                    (*after, _AT_ONCE),
                ).fetchall()
            yield from rows
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1][:2]

    def banks(self) -> list[str]:
        """The banks of which anything is archived, by name."""
        with self._ledger.reading() as connection:
            rows = connection.execute("SELECT DISTINCT bank FROM archived WHERE restored = 0 ORDER BY bank").fetchall()
        return [bank for (bank,) in rows]

    def size(self, bank: str) -> int:
        """How many pieces of the bank are archived."""
        with self._ledger.reading() as connection:
            (count,) = connection.execute(
                "SELECT count(*) FROM archived WHERE bank = ? AND restored = 0", (bank,)
            ).fetchone()
        return int(count)

    def takes(self, bank: str) -> int:
        """Bytes of the bank's files."""
        with self._ledger.reading() as connection:
            (taken,) = connection.execute(
                "SELECT coalesce(sum(bytes), 0) FROM begun WHERE bank = ?", (bank,)
            ).fetchone()
        return int(taken)


def _row(bank: str, piece: Archived, name: str) -> tuple[object, ...]:
    evidence = piece.evidence
    return (
        bank,
        evidence.id,
        evidence.observation_id,
        evidence.effective_at,
        evidence.ingested_at,
        piece.until,
        piece.known_until,
        name,
        evidence.slot,
        msgspec.json.encode(audience_of(evidence)).decode(),
    )


def _note(connection: sqlite3.Connection, bank: str, changes: Sequence[Change]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO untold VALUES (?, ?, ?)", [(bank, change.slot, dump(change)) for change in changes]
    )
