"""The stages that turn observations into beliefs, written once for every log.

    observations -> extract -> claims -> decide -> changes -> index
                                                      ^          |
                                                      +----------+  what rests on a belief that moved

A stage takes records and gives what to append next and what to set aside; who reads, appends and commits is the
worker's matter. A record that cannot be read or used is set aside alone; a store that fails stops the stage.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from actors.mesh import Mesh
from schemas.dead_letter import DeadLetter
from schemas.entity import entity_key
from schemas.errors import InvalidInput, StoreUnavailable, VersionConflict
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import Instant
from schemas.observation import Observation
from schemas.slot import Change
from schemas.trace import trace_context
from schemas.wire import pack, trace_of, unpack
from stores.ports import Entry, Record
from streams.bundles import messages_of
from streams.screen import screen
from streams.topics import CHANGES, CLAIMS, OBSERVATIONS

_REASON_CHARACTERS = 2_000

Body = TypeVar("Body", Observation, Evidence, Change)


class StageOutput(msgspec.Struct, frozen=True):
    """What a stage made of its records: entries for the next topic, dead letters, and figures to count.

    `recallable` says of what can be recalled now, and could not before, when the log accepted it.
    """

    entries: list[Entry]
    dead: list[DeadLetter]
    counts: dict[str, int]
    recallable: Sequence[Instant] = ()


Batch = Mapping[int, Sequence[Record]]
Handler = Callable[[Mesh, Batch, Instant], StageOutput]


class Stage(msgspec.Struct, frozen=True):
    """One step of the flow: its name, the topic it reads, the topic it writes ("" for none), what it does."""

    name: str
    source: str
    sink: str
    handle: Handler


def extract(mesh: Mesh, batch: Batch, now: Instant) -> StageOutput:
    """Observations to evidence, keyed by bank and entity."""
    records = [record for records in batch.values() for record in records]
    readable, dead = _read(records, Observation, "extract", now)
    results, spoiled = _each(
        lambda some: mesh.extract([(observation, record.at) for record, observation in some]), readable, "extract", now
    )
    entries = [
        Entry(entity_key(piece.bank, piece.entity), pack(piece, piece.id, dict(record.headers)), record.headers)
        for (record, _), evidence in results
        for piece in evidence
    ]
    return StageOutput(entries, dead + spoiled, {"observations": len(results), "claims": len(entries)})


def decide(mesh: Mesh, batch: Batch, now: Instant) -> StageOutput:
    """Evidence to durable decisions, each partition by the shard that owns it, and the changes they made."""
    readable: dict[int, list[tuple[Record, Evidence]]] = {}
    dead: list[DeadLetter] = []
    for partition, records in batch.items():
        readable[partition], unreadable = _read(records, Evidence, "decide", now)
        dead += unreadable
    results = mesh.admit({partition: [piece for _, piece in pairs] for partition, pairs in readable.items()}, now)
    changes: list[Change] = []
    for partition, result in results.items():
        if isinstance(result, Exception):
            kept, spoiled = _one_by_one(mesh, partition, readable[partition], result, now)
            changes += kept
            dead += spoiled
        else:
            changes += result
    traces = _traces(pair for pairs in readable.values() for pair in pairs)
    entries = [entry_of(change, traces.get((change.bank, change.slot), {})) for change in changes]
    added = sum(change.added for change in changes)
    repeated = sum(change.repeated for change in changes)
    return StageOutput(entries, dead, {"evidence": added, "duplicates": repeated, "changes": len(changes)})


def index(mesh: Mesh, batch: Batch, now: Instant) -> StageOutput:
    """Changes to further changes, of what rests on a belief that moved, and to rows of the index.

    A belief is marked as indexed last: until then, a crash leaves it among those whose dependents are decided again.
    """
    records = [record for records in batch.values() for record in records]
    readable, dead = _read(records, Change, "index", now)

    def work(some: Sequence[tuple[Record, Change]]) -> list[list[Change]]:
        changes = [change for _, change in some]
        followed = mesh.cascade(changes, now)
        mesh.index(changes, now)
        return [followed, *([] for _ in some[1:])]

    done, spoiled = _each(work, readable, "index", now)
    further = [entry_of(change) for _, changes in done for change in changes]
    recallable = [change.accepted_at for (_, change), _ in done if change.added and change.accepted_at]
    return StageOutput(further, dead + spoiled, {"indexed": len(done), "cascaded": len(further)}, recallable)


EXTRACT = Stage("extract", OBSERVATIONS, CLAIMS, extract)
DECIDE = Stage("decide", CLAIMS, CHANGES, decide)
STAGES = (EXTRACT, DECIDE, Stage("index", CHANGES, CHANGES, index))
"""In the order in which data passes them."""


def entry_of(change: Change, trace: Mapping[str, str] | None = None) -> Entry:
    """A change as it is announced, keyed by bank and entity, in the trace of what moved it."""
    context = dict(trace or {})
    message = pack(change, f"{change.slot}@{change.slot_version}", context)
    return Entry(entity_key(change.bank, change.entity), message, context)


def _traces(pairs: Iterable[tuple[Record, Evidence]]) -> dict[tuple[str, str], dict[str, str]]:
    """By bank and slot, the trace of the first evidence that bears one."""
    traces: dict[tuple[str, str], dict[str, str]] = {}
    for record, piece in pairs:
        if (piece.bank, piece.slot) not in traces and (context := trace_context(headers_of(record))):
            traces[piece.bank, piece.slot] = context
    return traces


def dead_letter(record: Record, stage: str, error: Exception, now: Instant, attempts: int = 1) -> DeadLetter:
    """Set a message aside with its original bytes, place and reason; a bundle's messages share a place, not bytes."""
    return DeadLetter(
        id="d" + digest(stage, record.topic, str(record.partition), str(record.offset), record.value.hex()),
        stage=stage,
        error=type(error).__name__,
        reason=(str(error) or type(error).__name__)[:_REASON_CHARACTERS],
        at=now,
        original=record.value,
        attempts=attempts,
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        headers=headers_of(record),
    )


def headers_of(record: Record) -> dict[str, str]:
    """The headers of a message; in a bundle of several traces, the one that it carries itself is all that is left."""
    return record.headers or trace_of(record.value)


def _read(
    records: Sequence[Record], kind: type[Body], stage: str, now: Instant
) -> tuple[list[tuple[Record, Body]], list[DeadLetter]]:
    readable: list[tuple[Record, Body]] = []
    dead = []
    for message in chain.from_iterable(map(messages_of, records)):
        try:
            body = unpack(message.value, kind)
            screen(body)
        except InvalidInput as error:
            dead.append(dead_letter(message, stage, error, now))
        else:
            readable.append((message, body))
    return readable, dead


Item = TypeVar("Item")
Result = TypeVar("Result")


def _each(
    work: Callable[[Sequence[tuple[Record, Item]]], Sequence[Result]],
    items: Sequence[tuple[Record, Item]],
    stage: str,
    now: Instant,
) -> tuple[list[tuple[tuple[Record, Item], Result]], list[DeadLetter]]:
    """Do the work on all items at once; if that fails, on halves, until the items that spoil it stand alone."""
    if not items:
        return [], []
    try:
        return list(zip(items, work(items), strict=True)), []
    except (StoreUnavailable, VersionConflict):
        raise
    except Exception as error:
        if len(items) == 1:
            return [], [dead_letter(items[0][0], stage, error, now, attempts=2)]
    middle = len(items) // 2
    first, first_dead = _each(work, items[:middle], stage, now)
    second, second_dead = _each(work, items[middle:], stage, now)
    return first + second, first_dead + second_dead


def _one_by_one(
    mesh: Mesh, partition: int, pairs: Sequence[tuple[Record, Evidence]], error: Exception, now: Instant
) -> tuple[list[Change], list[DeadLetter]]:
    """A partition's batch that failed, again in parts; a failing store stops the stage instead."""
    if isinstance(error, StoreUnavailable | VersionConflict):
        raise error

    def work(some: Sequence[tuple[Record, Evidence]]) -> list[list[Change]]:
        result = mesh.admit({partition: [piece for _, piece in some]}, now)[partition]
        if isinstance(result, Exception):
            raise result
        return [result, *([] for _ in some[1:])]

    done, dead = _each(work, pairs, "decide", now)
    return [change for _, changes in done for change in changes], dead
