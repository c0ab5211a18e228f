"""What the log events of the stream tell: which message, of which bank and entity, from which place, in which trace."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from schemas.dead_letter import DeadLetter
from schemas.errors import MalformedMessage
from schemas.observation import Observation
from schemas.slot import Change
from schemas.trace import trace_id
from schemas.wire import Envelope, open_envelope, unpack
from stores.ports import Entry

_MOST_IDS = 20
_NOT_READ = Envelope(major=0, minor=0, id="", type="", body={})


def acceptance(observations: Sequence[Observation], places: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Of what the log took in one call, and in which partitions it lies; of a single observation, all of it."""
    if len(observations) == 1:
        (observation,), ((partition, offset), *_) = observations, places
        entity = observation.entity.name if observation.entity else ""
        return _told(event_id=observation.id, bank=observation.bank, entity=entity, partition=partition, offset=offset)
    return {
        "event_ids": [observation.id for observation in observations[:_MOST_IDS]],
        "observations": len(observations),
        "banks": sorted({observation.bank for observation in observations}),
        "partitions": sorted({partition for partition, _ in places}),
    }


def dead_lettered(letter: DeadLetter) -> dict[str, Any]:
    """Of a message that was set aside: what can be read of it, where it lay, and why."""
    envelope = _opened(letter.original)
    entity = envelope.body.get("entity")
    return _told(
        letter=letter.id,
        event_id=envelope.id,
        bank=letter.headers.get("bank") or letter.key.partition("/")[0],
        entity=entity.get("name", "") if isinstance(entity, dict) else "",
        topic=letter.topic,
        partition=letter.partition if letter.topic else None,
        offset=letter.offset if letter.topic else None,
        trace_id=trace_id(letter.headers),
        stage=letter.stage,
        error=letter.error,
        reason=letter.reason,
        attempts=letter.attempts,
    )


def revisions(entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    """Of every belief that moved: from what to what, at which version, by which observations."""
    for entry in entries:
        change = unpack(entry.value, Change)
        for moved in change.beliefs:
            yield _told(
                bank=change.bank,
                entity=change.entity.name,
                slot=change.slot,
                belief=moved.id,
                before=moved.before,
                status=moved.status,
                version=moved.version,
                event_ids=list(change.observation_ids),
                trace_id=trace_id(entry.headers),
            )


def _opened(message: bytes) -> Envelope:
    try:
        return open_envelope(message)
    except MalformedMessage:
        return _NOT_READ


def _told(**values: Any) -> dict[str, Any]:
    """Without what is not known."""
    return {name: value for name, value in values.items() if value not in ("", None)}
