"""What a language model said of each observation, kept for good: what was read once is read so again on every replay.

A model's answer to the same question differs from time to time, beliefs must not. So the first outcome that is written
for an observation stays, an answer as well as a failure, and an answer to an equal question is used again.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from schemas.errors import InvalidSetting
from stores.sqlite.tables_file import TablesFile

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


class LanguageRecord(TablesFile):
    """Outcomes in one SQLite file, for several threads and processes; raises StoreUnavailable."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "the record of the language model", _TABLES)

    def outcomes(self, told: Sequence[TextKey]) -> dict[TextKey, ModelOutcome]:
        """What is recorded of these observations."""
        with self.reading() as connection:
            found = ((one, connection.execute(_GET, msgspec.structs.astuple(one)).fetchone()) for one in told)
            return {one: ModelOutcome(*row) for one, row in found if row}

    def answered(self, question: str) -> ModelOutcome | None:
        """An answer that was once given to this question (a hash of model, prompt and text)."""
        with self.reading() as connection:
            row = connection.execute(_ANSWERED, (question,)).fetchone()
        return ModelOutcome(*row) if row else None

    def keep(self, asked: Mapping[TextKey, tuple[str, ModelOutcome]]) -> dict[TextKey, ModelOutcome]:
        """Write outcomes with their questions, durable on return, and give those that stand: earlier ones stay."""
        stands: dict[TextKey, ModelOutcome] = {}
        if not asked:
            return stands
        with self.writing() as connection:
            for told, (question, outcome) in asked.items():
                key = msgspec.structs.astuple(told)
                connection.execute(_PUT, (*key, question, *msgspec.structs.astuple(outcome)))
                stands[told] = ModelOutcome(*connection.execute(_GET, key).fetchone())
        return stands

    def forget(self, bank: str, observations: Sequence[str]) -> int:
        """Remove what was said of these observations for good; returns how many outcomes that were."""
        gone = 0
        with self.writing() as connection:
            for at in range(0, len(observations), _AT_ONCE):
                some = observations[at : at + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                sql = f"DELETE FROM outcomes WHERE bank = ? AND observation IN ({marks})"
                gone += connection.execute(sql, (bank, *some)).rowcount
        with self.reading() as connection:
            if gone:  # SQLite leaves copies of rows that it moved
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone


def open_record(url: str, *, wanted: bool) -> LanguageRecord | None:
    """The record at `sqlite:///file.db`; None without a URL, or where nothing was recorded and none is `wanted`."""
    if not url:
        return None
    path = Path(url.removeprefix(_SCHEME))
    if not url.startswith(_SCHEME) or not path.name:
        raise InvalidSetting(f"the record {url!r} of the language model is not sqlite:///file.db")
    return LanguageRecord(path) if wanted or path.exists() else None
