"""The archive: evidence in compressed files of JSON lines, and a catalogue of what lies in which, beside the ledger."""

import gzip
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from schemas.archived import Archived
from schemas.errors import StoreUnavailable
from schemas.identity import digest
from schemas.instant import Instant
from schemas.slot import Change
from schemas.wire import dump, load
from stores.ledger import Ledger

_SUFFIX = ".jsonl.gz"
_LEVEL = 6
_AT_ONCE = 500
_TABLES = (
    "CREATE TABLE IF NOT EXISTS archived (bank TEXT NOT NULL, id TEXT NOT NULL, observation TEXT NOT NULL, "
    "effective INTEGER NOT NULL, ingested INTEGER NOT NULL, until INTEGER, known_until INTEGER, file TEXT NOT NULL, "
    "restored INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (bank, id)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS untold (bank TEXT NOT NULL, slot TEXT NOT NULL, change BLOB NOT NULL, "
    "PRIMARY KEY (bank, slot)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS archived_by_file ON archived (bank, file)",
)
_ANY = 1 << 62


class Archive:
    """Files in a folder, one folder a bank; for several threads. Raises StoreUnavailable."""

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        self._folder = folder
        self._ledger = ledger
        with ledger.writing() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    def put(self, bank: str, pieces: Sequence[Archived], changes: Sequence[Change]) -> int:
        """Keep the pieces in one file, durable on return, the file before the catalogue; returns its bytes.

        `changes` are to be told once the pieces have left their slots, and are kept until they were (`told`). The same
        pieces give the same file again, so that the call may be repeated.
        """
        lines = b"".join(msgspec.json.encode(piece) + b"\n" for piece in pieces)
        name = digest(*(piece.evidence.id for piece in pieces)) + _SUFFIX
        size = self._write(bank, name, gzip.compress(lines, _LEVEL, mtime=0))
        with self._ledger.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO archived VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
                [
                    (
                        bank,
                        piece.evidence.id,
                        piece.evidence.observation_id,
                        piece.evidence.effective_at,
                        piece.evidence.ingested_at,
                        piece.until,
                        piece.known_until,
                        name,
                    )
                    for piece in pieces
                ],
            )
            _note(connection, bank, changes)
        return size

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

    def disown(self, bank: str, ids: Sequence[str]) -> None:
        """Take pieces out of the catalogue that did not leave their slots after all."""
        with self._ledger.writing() as connection:
            connection.executemany("DELETE FROM archived WHERE (bank, id) = (?, ?)", [(bank, id) for id in ids])

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
        path = self._folder / bank / name
        try:
            pieces = [
                msgspec.json.decode(line, type=Archived) for line in gzip.decompress(path.read_bytes()).splitlines()
            ]
        except (OSError, EOFError, ValueError, msgspec.DecodeError) as error:
            raise StoreUnavailable(f"the archive {path} cannot be read ({error}); put it back from a copy") from error
        if missing := wanted - {piece.evidence.id for piece in pieces}:
            raise StoreUnavailable(f"the archive {path} lacks {len(missing)} pieces; put it back from a copy")
        return [piece for piece in pieces if piece.evidence.id in wanted]

    def drop(self, bank: str, name: str) -> None:
        """Remove a file whose pieces are in their slots again; what a kill cuts short, the next call completes."""
        with self._ledger.writing() as connection:
            connection.execute("UPDATE archived SET restored = 1 WHERE (bank, file) = (?, ?)", (bank, name))
        try:
            (self._folder / bank / name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"the archive {self._folder / bank / name} cannot be removed ({error})") from error
        with self._ledger.writing() as connection:
            connection.execute("DELETE FROM archived WHERE (bank, file) = (?, ?)", (bank, name))

    def sweep(self, bank: str) -> int:
        """Remove files of which the catalogue knows nothing, left by a kill; returns how many. For a job alone."""
        folder = self._folder / bank
        known = set(self.files(bank, "", -1))
        strange = [path for path in folder.glob("*") if path.name not in known] if folder.is_dir() else []
        try:
            for path in strange:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"the archive {folder} cannot be cleared ({error})") from error
        return len(strange)

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

    def size(self, bank: str) -> int:
        """How many pieces of the bank are archived."""
        with self._ledger.reading() as connection:
            (count,) = connection.execute(
                "SELECT count(*) FROM archived WHERE bank = ? AND restored = 0", (bank,)
            ).fetchone()
        return int(count)

    def takes(self, bank: str) -> int:
        """Bytes of the bank's files."""
        folder = self._folder / bank
        try:
            return sum(path.stat().st_size for path in folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else 0
        except OSError as error:
            raise StoreUnavailable(f"the archive {folder} cannot be read ({error})") from error

    def _write(self, bank: str, name: str, data: bytes) -> int:
        """Write a file so that it is there whole or not at all, whatever happens."""
        folder = self._folder / bank
        try:
            folder.mkdir(parents=True, exist_ok=True)
            coming = folder / f"{name}.new"
            with coming.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            coming.replace(folder / name)
            for place in (folder, self._folder, self._folder.parent):
                _keep_names(place)
        except OSError as error:
            raise StoreUnavailable(f"the archive {folder} cannot be written ({error})") from error
        return len(data)


def _note(connection: sqlite3.Connection, bank: str, changes: Sequence[Change]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO untold VALUES (?, ?, ?)", [(bank, change.slot, dump(change)) for change in changes]
    )


def _keep_names(folder: Path) -> None:
    """Make the names in a folder durable."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
