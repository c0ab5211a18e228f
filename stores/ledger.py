"""The ledger of jobs in one SQLite file: who runs one, how far each run is, what every run did.

Several threads and processes may have it open. What is written is durable on return.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from schemas.errors import Busy, InvalidSetting, NotFound, StoreUnavailable
from schemas.instant import MINUTE, Instant
from schemas.job import JobRun, Mode
from schemas.wire import dump, load
from stores.owner import is_dead
from stores.sqlite.tables_file import TablesFile

STALE: Instant = 5 * MINUTE
"""A lease whose owner has not been heard of for so long may be taken over."""

_KEPT_RUNS = 500
_SCHEME = "sqlite:///"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS leases (bank TEXT PRIMARY KEY, owner TEXT NOT NULL, beat INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, job TEXT NOT NULL, bank TEXT NOT NULL, mode TEXT NOT NULL, "
    "started INTEGER NOT NULL, ended INTEGER, body BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS runs_by_job ON runs (job, bank, started)",
)


_NEWEST = """
SELECT json_array(job, bank), body FROM (
    SELECT job, bank, body, max(started) FROM runs
    WHERE {} AND mode != 'dry run' AND (:bank IS NULL OR bank = :bank) GROUP BY job, bank ORDER BY job, bank
)
"""


class Ledger(TablesFile):
    """Leases and runs; raises StoreUnavailable when the file cannot be used."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "the ledger of jobs", _TABLES)

    def take(self, bank: str, owner: str, now: Instant) -> None:
        """Become the one that runs a job on the bank. Raises Busy while another one does, unless dead or silent."""
        with self.writing() as connection:
            held = connection.execute("SELECT owner, beat FROM leases WHERE bank = ?", (bank,)).fetchone()
            if held and held[0] != owner and held[1] > now - STALE and not is_dead(held[0]):
                raise Busy(f"a job runs on bank {bank} already (by {held[0]}); try again when it has ended")
            connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (bank, owner, now))

    def beat(self, bank: str, owner: str, now: Instant) -> None:
        """Be heard of, so that the lease stays; nothing happens if somebody else has taken it over."""
        with self.writing() as connection:
            connection.execute("UPDATE leases SET beat = ? WHERE (bank, owner) = (?, ?)", (now, bank, owner))

    def release(self, bank: str, owner: str) -> None:
        """Give the bank up; nothing happens if somebody else has taken it over."""
        with self.writing() as connection:
            connection.execute("DELETE FROM leases WHERE (bank, owner) = (?, ?)", (bank, owner))

    def save(self, run: JobRun, owner: str, now: Instant) -> None:
        """Keep how far a run is, and the lease with it. Raises Busy if somebody else has taken the bank over."""
        with self.writing() as connection:
            beaten = connection.execute(
                "UPDATE leases SET beat = ? WHERE (bank, owner) = (?, ?)", (now, run.bank, owner)
            ).rowcount
            if not beaten:
                raise Busy(f"another process has taken over the jobs of bank {run.bank}; this run ends here")
            connection.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)",
                (run.id, run.job, run.bank, run.mode, run.started, run.ended, dump(run)),
            )
            if run.ended is not None:
                connection.execute(
                    "DELETE FROM runs WHERE (job, bank) = (?, ?) AND ended IS NOT NULL AND id NOT IN "
                    "(SELECT id FROM runs WHERE (job, bank) = (?, ?) ORDER BY started DESC, id DESC LIMIT ?)",
                    (run.job, run.bank, run.job, run.bank, _KEPT_RUNS),
                )

    def unfinished(self, job: str, bank: str, mode: Mode) -> JobRun | None:
        """The newest run of this kind, if it has not come to its end."""
        with self.reading() as connection:
            row = connection.execute(
                "SELECT body, ended FROM runs WHERE (job, bank, mode) = (?, ?, ?) "
                "ORDER BY started DESC, id DESC LIMIT 1",
                (job, bank, mode),
            ).fetchone()
        return load(row[0], JobRun) if row and row[1] is None else None

    def last_end(self, job: str, bank: str) -> Instant | None:
        """When the job last came to its end on the bank; a dry run does not count."""
        with self.reading() as connection:
            (at,) = connection.execute(
                "SELECT max(ended) FROM runs WHERE (job, bank) = (?, ?) AND mode != 'dry run'", (job, bank)
            ).fetchone()
        return None if at is None else int(at)

    def newest(self, bank: str | None = None) -> list[tuple[JobRun, JobRun | None]]:
        """Of each job on each bank the newest run, and the newest one that came to its end, if any; no dry runs."""
        with self.reading() as connection:
            rows = connection.execute(_NEWEST.format("1"), {"bank": bank}).fetchall()
            ended = dict(connection.execute(_NEWEST.format("ended IS NOT NULL"), {"bank": bank}).fetchall())
        done = {key: load(body, JobRun) for key, body in ended.items()}
        return [(load(body, JobRun), done.get(key)) for key, body in rows]

    def runs(
        self, job: str | None, bank: str | None, limit: int, before: tuple[Instant, str] | None = None
    ) -> list[JobRun]:
        """Runs, newest first; of all jobs and banks where none is named, `before` (start, id) if given."""
        started, id = before or (None, None)
        with self.reading() as connection:
            rows = connection.execute(
                "SELECT body FROM runs WHERE (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR bank = ?2) "
                "AND (?3 IS NULL OR (started, id) < (?3, ?4)) ORDER BY started DESC, id DESC LIMIT ?5",
                (job, bank, started, id, limit),
            ).fetchall()
        return [load(body, JobRun) for (body,) in rows]

    def run(self, id: str) -> JobRun:
        """One run. Raises NotFound."""
        with self.reading() as connection:
            row = connection.execute("SELECT body FROM runs WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise NotFound(f"there is no run {id!r:.80}; `beliefmesh jobs history` lists them")
        return load(row[0], JobRun)

    def wipe(self) -> None:
        """Return once nothing that was removed is in the file."""
        with self.reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with super()._errors():
            try:
                yield
            except msgspec.DecodeError as error:
                raise StoreUnavailable(f"{self._what} holds what is no run: {error}") from error


def open_ledger(url: str) -> Ledger:
    """The ledger at `sqlite:///file.db`. Raises InvalidSetting for another URL."""
    path = Path(url.removeprefix(_SCHEME))
    if not url.startswith(_SCHEME) or not path.name:
        raise InvalidSetting(f"the ledger {url!r} of jobs is not sqlite:///file.db")
    return Ledger(path)
