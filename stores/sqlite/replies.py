"""Replies to writes that carried a key, in one SQLite file, so that the same request again gets the same reply.

A row is claimed before a request runs and holds its reply after it. The claim of a process that died may be taken
over, as may one that is older than any request; so a claim need not outlive the machine, and only replies wait for the
disk, all that come at a time together. Keys, and what was asked, are kept as digests; replies are kept as they were
until their age or a forgetting ends them.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from schemas.errors import InFlight, KeyReused, ReplyErased, StoreUnavailable
from schemas.instant import MINUTE, Instant
from stores.owner import is_dead
from stores.sqlite.file import use_wal
from stores.sqlite.together import Together
from stores.sqlite.transaction import transaction

KEY_FIELD = "Idempotency-Key"
LONGEST: Instant = 60 * MINUTE
"""No request runs for so long; a claim that is older is nobody's."""

_BUSY_SECONDS = 10.0
_PRAGMAS = ("secure_delete = ON", "journal_size_limit = 0")
_TABLES = (
    "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, bank TEXT NOT NULL, asked TEXT NOT NULL, "
    "owner TEXT NOT NULL, at INTEGER NOT NULL, status INTEGER NOT NULL DEFAULT 0, type TEXT NOT NULL DEFAULT '', "
    "body BLOB) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS replies_by_age ON replies (at)",
    "CREATE TABLE IF NOT EXISTS erasures (bank TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
)
_TAKE = (
    "INSERT INTO replies (key, bank, asked, owner, at) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, at = excluded.at"
)
_HELD = "SELECT asked, owner, at, status, type, body FROM replies WHERE key = ?"
_RELEASE = "DELETE FROM replies WHERE key = ? AND owner = ? AND status = 0"
_KEEP = (
    "UPDATE replies SET status = :status, type = :type, body = CASE WHEN NOT :wordless "
    "AND at < (SELECT at FROM erasures WHERE erasures.bank = replies.bank) THEN NULL ELSE :body END "
    "WHERE key = :key AND owner = :owner AND status = 0"
)
_ERASED = "INSERT INTO erasures VALUES (?, ?) ON CONFLICT (bank) DO UPDATE SET at = excluded.at"


class KeptReply(msgspec.Struct, frozen=True):
    """A reply as it left: status, content type, body."""

    status: int
    type: str
    body: bytes


class HeldKey(msgspec.Struct, frozen=True):
    """A request that runs under a key: the digest of the key, and who runs it.

    What a `wordless` one replies repeats nothing that was told, so that no forgetting concerns it.
    """

    key: str
    owner: str
    wordless: bool = False


class Replies:
    """Claims and replies, for several threads and processes; the file is made when first needed.

    Raises StoreUnavailable when it cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        self._opened: sqlite3.Connection | None = None
        self._claims = Together(self._turn, partial(self._writing, "NORMAL"))
        self._kept = Together(self._turn, partial(self._writing, "FULL"))

    def begin(self, held: HeldKey, bank: str, asked: str, now: Instant, age: Instant) -> KeptReply | None:
        """Claim a key for the request whose digest is `asked`; its reply, if it ran before, within `age`.

        Raises KeyReused for another request than the key's, InFlight while it runs, ReplyErased where its reply went
        with what was forgotten.
        """

        def claim(connection: sqlite3.Connection) -> KeptReply | None:
            connection.execute("DELETE FROM replies WHERE at < ? AND status > 0", (now - age,))
            row = connection.execute(_HELD, (held.key,)).fetchone()
            kept = None if row is None else _kept(asked, row, now)
            if kept is None:
                connection.execute(_TAKE, (held.key, bank, asked, held.owner, now))
            return kept

        return self._claims.write(claim)

    def keep(self, held: HeldKey, reply: KeptReply) -> None:
        """Keep the reply of a request, durable on return; without its words if its bank forgot while it ran."""
        row = msgspec.structs.asdict(reply) | msgspec.structs.asdict(held)
        self._kept.write(lambda connection: connection.execute(_KEEP, row))

    def release(self, held: HeldKey) -> None:
        """Give a claim up, of a request that had no effect; the key may be used again."""
        self._claims.write(lambda connection: connection.execute(_RELEASE, (held.key, held.owner)))

    def erase(self, bank: str, now: Instant) -> None:
        """Remove the words of a bank's replies for good, and of those that are on their way; that they ran stays."""
        if self._path.exists():
            with self._turn:
                with self._writing("FULL") as connection:
                    connection.execute("UPDATE replies SET body = NULL WHERE bank = ? AND status > 0", (bank,))
                    connection.execute(_ERASED, (bank, now))
                self._empty_log()

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            if self._opened is not None:
                self._opened.close()

    @contextmanager
    def _writing(self, synchronous: str) -> Iterator[sqlite3.Connection]:
        """A transaction of whoever has the turn; with `FULL` it is durable on leaving, with `NORMAL` it need not be."""
        with self._errors():
            connection = self._connection()
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            with transaction(connection):
                yield connection

    def _empty_log(self) -> None:
        """Move the write-ahead log into the file, so that no words that were erased stay behind in it."""
        with self._errors():
            busy, _, _ = self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreUnavailable(f"the replies in {self._path}: another process holds erased words; repeat the call")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(f"the replies in {self._path} cannot be used: {error}") from error

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            use_wal(self._opened)
            for pragma in _PRAGMAS:
                self._opened.execute(f"PRAGMA {pragma}")
            for statement in _TABLES:
                self._opened.execute(statement)
        return self._opened


def _kept(asked: str, row: tuple[str, str, Instant, int, str, bytes | None], now: Instant) -> KeptReply | None:
    """The reply that a row holds; None for a claim that may be taken over."""
    before, owner, at, status, type, body = row
    if before != asked:
        raise KeyReused(KEY_FIELD, "came with another request before; take a new key for each request")
    if status and body is None:
        raise ReplyErased("the request was done; its reply went when something was forgotten in this bank")
    if status and body is not None:
        return KeptReply(status, type, body)
    if at > now - LONGEST and not is_dead(owner):
        raise InFlight("the same request is still running under this Idempotency-Key; ask again in a second")
    return None
