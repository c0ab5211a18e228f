"""Counts the recall log into the usage of beliefs, a page at a time, going on from where it stopped."""

from collections.abc import Iterator, Sequence

from schemas.errors import MalformedMessage, UnknownSchemaVersion
from schemas.recall_record import Feedback, RecallRecord
from schemas.wire import open_envelope, read_body
from stores.ports import GraphStore, Log, Record
from stores.sqlite.usage import UsageFile

_PAGE = 1_000
_KINDS: dict[str, type[RecallRecord] | type[Feedback]] = {"recallrecord": RecallRecord, "feedback": Feedback}


def count_usage(log: Log, topic: str, usage: UsageFile) -> int:
    """Count what the topic holds since the last time; returns how many records that were. Safe to repeat, and to stop.

    Another process may count at the same time: each record still counts once.
    """
    counted = 0
    while True:
        start = usage.place(topic)
        records = log.read(topic, 0, start, _PAGE)
        if not records:
            return counted
        if usage.count(topic, start, records[-1].offset + 1, _told(records)):
            counted += len(records)


def prune_usage(graph: GraphStore, bank: str, usage: UsageFile) -> int:
    """Forget the use of beliefs that are no more, for good; returns how many those were."""
    gone = 0
    after = ""
    while known := usage.beliefs(bank, after, _PAGE):
        kept = graph.beliefs(bank, known)
        lost = [belief for belief in known if belief not in kept]
        usage.forget(bank, lost)
        gone += len(lost)
        after = known[-1]
    return gone


def _told(records: Sequence[Record]) -> Iterator[RecallRecord | Feedback]:
    """The recalls and verdicts; what cannot be read is passed over, since nothing rests on it."""
    for record in records:
        try:
            envelope = open_envelope(record.value)
            if envelope.type in _KINDS:
                yield read_body(envelope.body, _KINDS[envelope.type])
        except (MalformedMessage, UnknownSchemaVersion):
            continue
