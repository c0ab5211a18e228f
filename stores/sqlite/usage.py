"""How beliefs were used, counted from the recall log into one SQLite file; derived data, made again from the log.

A page of the log and the place after it are written in one transaction, so each record counts once however often the
fold is stopped. A row is a bank's and a belief's, so what is kept grows with the beliefs and agents, not with recalls.
There is no write-ahead log: of several processes that open the file at once, each can then wait for its turn.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from schemas import wire
from schemas.budget import Use
from schemas.instant import Instant
from schemas.recall_record import Feedback, RecallRecord
from schemas.usage import Outcome, Usage
from stores.sqlite.tables_file import TablesFile

_AT_ONCE = 250
_TABLES = (
    "CREATE TABLE IF NOT EXISTS recalls (bank TEXT NOT NULL, belief TEXT NOT NULL, times INTEGER NOT NULL, "
    "last INTEGER NOT NULL, PRIMARY KEY (bank, belief)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS verdicts (bank TEXT NOT NULL, belief TEXT NOT NULL, verdict TEXT NOT NULL, "
    "agent TEXT NOT NULL, at INTEGER NOT NULL, recalled_at INTEGER NOT NULL, "
    "PRIMARY KEY (bank, belief, verdict, agent)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS places (topic TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS measured (bank TEXT PRIMARY KEY, at INTEGER NOT NULL, use BLOB NOT NULL) WITHOUT ROWID",
)
_RECALLED = """
INSERT INTO recalls VALUES (?, ?, 1, ?)
ON CONFLICT (bank, belief) DO UPDATE SET times = times + 1, last = max(last, excluded.last)
"""
_JUDGED = """
INSERT INTO verdicts
VALUES (:bank, :belief, :verdict, :agent, :at,
    coalesce((SELECT min(last, :at) FROM recalls WHERE bank = :bank AND belief = :belief), 0))
ON CONFLICT (bank, belief, verdict, agent) DO UPDATE SET at = excluded.at, recalled_at = excluded.recalled_at
WHERE excluded.at >= at
"""
_PLACE = "SELECT next FROM places WHERE topic = ?"
_MOVE = "INSERT INTO places VALUES (?, ?) ON CONFLICT (topic) DO UPDATE SET next = excluded.next"
_OUTCOMES = "SELECT belief, verdict, at, recalled_at FROM verdicts WHERE bank = ? ORDER BY at, belief, verdict, agent"
_RECALLED_OF_BANK = "SELECT belief, last FROM recalls WHERE bank = ? AND belief > ? ORDER BY belief LIMIT ?"
_KNOWN = """
SELECT belief FROM recalls WHERE bank = :bank AND belief > :after
UNION SELECT belief FROM verdicts WHERE bank = :bank AND belief > :after ORDER BY belief LIMIT :n
"""
_MEASURED = (
    "INSERT INTO measured VALUES (?, ?, ?) ON CONFLICT (bank) DO UPDATE SET at = excluded.at, use = excluded.use"
)


class UsageFile(TablesFile):
    """Usage of beliefs in one file, for several threads and processes. Raises StoreUnavailable."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "the usage of beliefs in", _TABLES, ("secure_delete = ON",))

    def place(self, topic: str) -> int:
        """The offset from which a topic is still to be counted."""
        with self.reading() as connection:
            return _place(connection, topic)

    def count(self, topic: str, start: int, end: int, told: Iterable[RecallRecord | Feedback]) -> bool:
        """Count what a topic holds from `start` up to `end`, in order, once; False if it was counted already."""
        with self.writing() as connection:
            if _place(connection, topic) != start:
                return False
            for one in told:
                _add(connection, one)
            connection.execute(_MOVE, (topic, end))
        return True

    def usage(self, bank: str, beliefs: Sequence[str]) -> dict[str, Usage]:
        """The usage of those of these beliefs that were ever recalled or judged."""
        found: dict[str, dict[str, int]] = {}
        with self.reading() as connection:
            for at in range(0, len(beliefs), _AT_ONCE):
                some = beliefs[at : at + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                recalls = f"SELECT belief, times, last FROM recalls WHERE bank = ? AND belief IN ({marks})"
                for belief, times, last in connection.execute(recalls, (bank, *some)):
                    found[belief] = {"recalled": times, "last_recalled": last}
                verdicts = (
                    f"SELECT belief, verdict, count(*) FROM verdicts WHERE bank = ? AND belief IN ({marks}) "
                    "GROUP BY belief, verdict"
                )
                for belief, verdict, agents in connection.execute(verdicts, (bank, *some)):
                    found.setdefault(belief, {})[verdict] = agents
        return {belief: Usage(**counts) for belief, counts in found.items()}

    def recalled(self, bank: str, after: str, limit: int) -> list[tuple[str, Instant]]:
        """(belief, when last) of recalled beliefs whose ids are greater than `after`, in order."""
        with self.reading() as connection:
            return list(connection.execute(_RECALLED_OF_BANK, (bank, after, limit)))

    def beliefs(self, bank: str, after: str, limit: int) -> list[str]:
        """Beliefs of a bank of whose use anything is known, by ids greater than `after`, in order."""
        with self.reading() as connection:
            return [belief for (belief,) in connection.execute(_KNOWN, {"bank": bank, "after": after, "n": limit})]

    def outcomes(self, bank: str) -> list[Outcome]:
        """Every verdict on the bank's beliefs, oldest first; of one agent's equal verdicts the newest."""
        with self.reading() as connection:
            return [Outcome(*row) for row in connection.execute(_OUTCOMES, (bank,))]

    def forget(self, bank: str, beliefs: Sequence[str]) -> None:
        """Remove what is counted of these beliefs, for good."""
        with self.writing() as connection:
            for table in ("recalls", "verdicts"):
                sql = f"DELETE FROM {table} WHERE bank = ? AND belief = ?"
                connection.executemany(sql, [(bank, belief) for belief in beliefs])

    def keep_use(self, bank: str, use: Use, at: Instant) -> None:
        """Note how much there is of a bank, as measured at a time."""
        with self.writing() as connection:
            connection.execute(_MEASURED, (bank, at, wire.dump(use)))

    def last_use(self, bank: str) -> tuple[Use, Instant] | None:
        """What was last measured of a bank, and when."""
        with self.reading() as connection:
            row = connection.execute("SELECT use, at FROM measured WHERE bank = ?", (bank,)).fetchone()
        return (wire.load(row[0], Use), row[1]) if row else None


def _place(connection: sqlite3.Connection, topic: str) -> int:
    row = connection.execute(_PLACE, (topic,)).fetchone()
    return int(row[0]) if row else 0


def _add(connection: sqlite3.Connection, told: RecallRecord | Feedback) -> None:
    if isinstance(told, Feedback):
        row = {"bank": told.bank, "belief": told.belief, "verdict": told.verdict, "agent": told.agent}
        connection.execute(_JUDGED, row | {"at": told.at})
    else:
        ids = dict.fromkeys(used.id for used in told.beliefs)
        connection.executemany(_RECALLED, [(told.bank, id, told.at) for id in ids])
