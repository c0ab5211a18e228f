"""What a run of the budget job has weighed and planned, and what was erased for a budget; beside the ledger."""

from collections.abc import Iterator, Sequence

from schemas.budget import Use, added, less
from schemas.identity import digest
from schemas.job import Mode
from schemas.plan import BudgetCandidate, BudgetPlan, BudgetStep
from schemas.wire import dump, load
from stores.ledger import Ledger

_AT_ONCE = 5_000
_TABLES = (
    "CREATE TABLE IF NOT EXISTS weighed (bank TEXT NOT NULL, mode TEXT NOT NULL, slot TEXT NOT NULL, "
    "body BLOB NOT NULL, PRIMARY KEY (bank, mode, slot)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS planned (bank TEXT NOT NULL, mode TEXT NOT NULL, place INTEGER NOT NULL, "
    "body BLOB NOT NULL, done INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (bank, mode, place)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS planned_from (bank TEXT NOT NULL, mode TEXT NOT NULL, use BLOB NOT NULL, "
    "PRIMARY KEY (bank, mode)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS erased (bank TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (bank, mark)) "
    "WITHOUT ROWID",
)


class Plans:
    """Weights and steps by bank and mode of the run, for several threads. Raises StoreUnavailable."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        with ledger.writing() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    def clear(self, bank: str, mode: Mode) -> None:
        """Begin anew."""
        with self._ledger.writing() as connection:
            for table in ("weighed", "planned"):
                connection.execute(f"DELETE FROM {table} WHERE (bank, mode) = (?, ?)", (bank, mode))

    def weigh(self, bank: str, mode: Mode, candidates: Sequence[BudgetCandidate]) -> None:
        """Keep what slots are worth and take; of a slot that is weighed twice the later weight stays."""
        with self._ledger.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO weighed VALUES (?, ?, ?, ?)",
                [(bank, mode, each.slot, dump(each)) for each in candidates],
            )

    def weighed(self, bank: str, mode: Mode) -> Iterator[BudgetCandidate]:
        """Every slot that was weighed, in id order."""
        after = ""
        while True:
            with self._ledger.reading() as connection:
                rows = connection.execute(
                    "SELECT slot, body FROM weighed WHERE (bank, mode) = (?, ?) AND slot > ? ORDER BY slot LIMIT ?",
                    (bank, mode, after, _AT_ONCE),
                ).fetchall()
            yield from (load(body, BudgetCandidate) for _, body in rows)
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1][0]

    def plan(self, bank: str, mode: Mode, made: BudgetPlan) -> None:
        """Keep a plan in place of any former one; the weights stay, so that it may be made again."""
        with self._ledger.writing() as connection:
            connection.execute("DELETE FROM planned WHERE (bank, mode) = (?, ?)", (bank, mode))
            connection.executemany(
                "INSERT INTO planned (bank, mode, place, body) VALUES (?, ?, ?, ?)",
                [(bank, mode, place, dump(step)) for place, step in enumerate(made.steps)],
            )
            connection.execute("INSERT OR REPLACE INTO planned_from VALUES (?, ?, ?)", (bank, mode, dump(made.before)))

    def steps(self, bank: str, mode: Mode, start: int, limit: int) -> list[BudgetStep]:
        """Some of the steps from a place on, in order."""
        with self._ledger.reading() as connection:
            rows = connection.execute(
                "SELECT body FROM planned WHERE (bank, mode) = (?, ?) AND place >= ? ORDER BY place LIMIT ?",
                (bank, mode, start, limit),
            ).fetchall()
        return [load(body, BudgetStep) for (body,) in rows]

    def did(self, bank: str, mode: Mode, places: Sequence[int]) -> None:
        """Note that the steps at these places were done."""
        with self._ledger.writing() as connection:
            connection.executemany(
                "UPDATE planned SET done = 1 WHERE (bank, mode, place) = (?, ?, ?)",
                [(bank, mode, place) for place in places],
            )

    def left(self, bank: str, mode: Mode) -> Use:
        """The use that was planned from, without what the steps that were done freed."""
        with self._ledger.reading() as connection:
            (before,) = connection.execute(
                "SELECT use FROM planned_from WHERE (bank, mode) = (?, ?)", (bank, mode)
            ).fetchone()
            done = connection.execute(
                "SELECT body FROM planned WHERE (bank, mode) = (?, ?) AND done", (bank, mode)
            ).fetchall()
        freed = Use()
        for (body,) in done:
            freed = added(freed, load(body, BudgetStep).frees)
        return less(load(before, Use), freed)

    def erase(self, bank: str, ids: Sequence[str]) -> None:
        """Note what is erased for a budget, by digests of its ids, so that nobody takes it for lost."""
        with self._ledger.writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO erased VALUES (?, ?)", [(bank, digest(bank, id)) for id in ids]
            )

    def erased(self) -> Iterator[tuple[str, str]]:
        """(bank, digest of bank and id) of everything that was erased for a budget."""
        after = ("", "")
        while True:
            with self._ledger.reading() as connection:
                rows = connection.execute(
                    "SELECT bank, mark FROM erased WHERE (bank, mark) > (?, ?) ORDER BY bank, mark LIMIT ?",
                    (*after, _AT_ONCE),
                ).fetchall()
            yield from rows
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1]
