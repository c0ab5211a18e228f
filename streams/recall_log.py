"""The recall log: each answer with its beliefs and evidence, written in the background so that recall does not wait."""

import threading
from collections.abc import Callable

import structlog

from schemas.answer import Answer
from schemas.errors import NotFound, StoreUnavailable
from schemas.instant import Instant
from schemas.query import Query
from schemas.recall_record import Feedback, RecallRecord, UsedBelief
from schemas.wire import open_envelope, pack, read_body
from stores.ports import Entry, Log
from streams.topics import RECALL_LOG, Topics

_FLUSH_SECONDS = 0.25
_MAX_WAITING = 10_000
_PAGE = 500
_LOOK_BACK = 10_000

log_events = structlog.get_logger("streams")


class RecallLog:
    """Collects records and appends them in batches; at most 10,000 wait, then the oldest are dropped and counted."""

    def __init__(self, log: Log, topics: Topics, clock: Callable[[], Instant]) -> None:
        self._log = log
        self._topic = topics.name(RECALL_LOG)
        self._clock = clock
        self._waiting: list[Entry] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def note(self, query: Query, answer: Answer) -> None:
        """Remember one recall; written within a quarter of a second, and on close."""
        self.keep(record_of(query, answer))

    def keep(self, record: RecallRecord) -> None:
        """Remember one answer by its record."""
        self._add(Entry(record.bank, pack(record, record.id)))

    def note_feedback(self, feedback: Feedback) -> None:
        """Remember what became of a recalled belief."""
        self._add(Entry(feedback.bank, pack(feedback, feedback.belief)))

    def flush(self) -> None:
        """Write everything that waits; on return all that was noted before is in the log."""
        with self._writing:
            with self._lock:
                entries, self._waiting = self._waiting, []
            if entries:
                self._log.append(self._topic, entries, self._clock())

    def read(self, limit: int = 100) -> list[RecallRecord]:
        """The recalls among the newest `limit` records, oldest first."""
        self.flush()
        end = self._log.ends(self._topic).get(0, 0)
        records = self._log.read(self._topic, 0, max(0, end - limit), limit)
        envelopes = (open_envelope(record.value) for record in records)
        return [read_body(found.body, RecallRecord) for found in envelopes if found.type == "recallrecord"]

    def find(self, bank: str, id: str) -> RecallRecord:
        """The record of one answer among the newest 10,000 lines. Raises NotFound."""
        self.flush()
        end = self._log.ends(self._topic).get(0, 0)
        for start in range(end - _PAGE, end - _LOOK_BACK, -_PAGE):
            for record in reversed(self._log.read(self._topic, 0, max(0, start), min(_PAGE, start + _PAGE))):
                envelope = open_envelope(record.value)
                if record.key == bank and envelope.id == id and envelope.type == "recallrecord":
                    return read_body(envelope.body, RecallRecord)
            if start <= 0:
                break
        raise NotFound(f"no answer {id:.80} among the last {_LOOK_BACK:,} recalls; name the belief itself instead")

    def close(self) -> None:
        """Write what waits and stop."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self._try_flush()

    def _add(self, entry: Entry) -> None:
        with self._lock:
            self._waiting.append(entry)
            if len(self._waiting) > _MAX_WAITING:
                del self._waiting[0]
                self.dropped += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="recall-log", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(_FLUSH_SECONDS):
            self._try_flush()

    def _try_flush(self) -> None:
        """Write what waits; where that fails it is said and lost, since no answer depends on it."""
        try:
            self.flush()
        except StoreUnavailable as error:
            log_events.error("recall_log.not_written", reason=str(error))


def record_of(query: Query, answer: Answer) -> RecallRecord:
    """What is kept of a recall."""
    used = (
        UsedBelief(
            found.belief.id,
            found.belief.version,
            found.belief.status,
            found.confidence,
            tuple(term.evidence.id for term in found.evidence),
        )
        for found in answer.found
    )
    return RecallRecord(
        id=answer.id,
        bank=answer.bank,
        question=answer.question,
        principal=query.principal,
        at=query.now,
        moment=answer.moment,
        beliefs=tuple(used),
        left_out=answer.left_out,
        degraded=tuple(report.name for report in answer.reports if report.state in ("late", "failed")),
    )
