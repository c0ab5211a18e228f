"""What a language model said of each observation, kept for good: what was read once is read so again on every replay.

A model's answer to the same question differs from time to time, beliefs must not. So the first outcome that is written
for an observation stays, an answer as well as a failure, and an answer to an equal question is used again.
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from schemas.errors import InvalidSetting, StoreUnavailable
from stores.sqlite.transaction import transaction

_BUSY_SECONDS = 10.0
_AT_ONCE = 250
_SCHEME = "sqlite:///"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS outcomes ("
    "bank TEXT NOT NULL, observation TEXT NOT NULL, said TEXT NOT NULL, question TEXT NOT NULL, "
    "answer TEXT NOT NULL, extractor TEXT NOT NULL, failed TEXT NOT NULL, "
    "PRIMARY KEY (bank, observation, said)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS outcomes_by_question ON outcomes (question) WHERE failed = ''",
)
_PUT = "INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?)"
_GET = "SELECT answer, extractor, failed FROM outcomes WHERE (bank, observation, said) = (?, ?, ?)"
_ANSWERED = "SELECT answer, extractor, failed FROM outcomes WHERE question = ? AND failed = '' LIMIT 1"


class TextKey(msgspec.Struct, frozen=True):
    """Whose text a question is about: bank, id and a hash of what was said under that id."""

    bank: str
    observation: str
    said: str


class ModelOutcome(msgspec.Struct, frozen=True):
    """What came of asking: an answer and who gave it, or in `failed` one word why there is none."""

    answer: str = ""
    extractor: str = ""
    failed: str = ""


class LanguageRecord:
    """Outcomes in one SQLite file, for several threads and processes; raises StoreUnavailable."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        with self._writing():
            for statement in _TABLES:
                self._connection.execute(statement)

    def outcomes(self, told: Sequence[TextKey]) -> dict[TextKey, ModelOutcome]:
        """What is recorded of these observations."""
        with self._turn, self._errors():
            found = ((one, self._connection.execute(_GET, msgspec.structs.astuple(one)).fetchone()) for one in told)
            return {one: ModelOutcome(*row) for one, row in found if row}

    def answered(self, question: str) -> ModelOutcome | None:
        """An answer that was once given to this question (a hash of model, prompt and text)."""
        with self._turn, self._errors():
            row = self._connection.execute(_ANSWERED, (question,)).fetchone()
        return ModelOutcome(*row) if row else None

    def keep(self, asked: Mapping[TextKey, tuple[str, ModelOutcome]]) -> dict[TextKey, ModelOutcome]:
        """Write outcomes with their questions, durable on return, and give those that stand: earlier ones stay."""
        stands: dict[TextKey, ModelOutcome] = {}
        if not asked:
            return stands
        with self._writing():
            for told, (question, outcome) in asked.items():
                key = msgspec.structs.astuple(told)
                self._connection.execute(_PUT, (*key, question, *msgspec.structs.astuple(outcome)))
                stands[told] = ModelOutcome(*self._connection.execute(_GET, key).fetchone())
        return stands

    def forget(self, bank: str, observations: Sequence[str]) -> int:
        """Remove what was said of these observations for good; returns how many outcomes that were."""
        gone = 0
        with self._writing():
            for at in range(0, len(observations), _AT_ONCE):
                some = observations[at : at + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                sql = f"DELETE FROM outcomes WHERE bank = ? AND observation IN ({marks})"
                gone += self._connection.execute(sql, (bank, *some)).rowcount
        with self._turn, self._errors():
            if gone:  # SQLite leaves copies of rows that it moved
                self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._turn, self._errors():
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
            with transaction(self._connection):
                yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreUnavailable(f"the record of the language model {self._path} cannot be used: {error}") from error


def open_record(url: str, *, wanted: bool) -> LanguageRecord | None:
    """The record at `sqlite:///file.db`; None without a URL, or where nothing was recorded and none is `wanted`."""
    if not url:
        return None
    path = Path(url.removeprefix(_SCHEME))
    if not url.startswith(_SCHEME) or not path.name:
        raise InvalidSetting(f"the record {url!r} of the language model is not sqlite:///file.db")
    return LanguageRecord(path) if wanted or path.exists() else None
