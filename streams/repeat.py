"""Records that the stages have had, once more: in memory as far as the decision, and only changes are announced."""

from collections.abc import Sequence

from actors.mesh import Mesh
from schemas.instant import Instant
from schemas.routing import partition_of
from stores.ports import Entry, Log, Record
from streams.bundles import bundled
from streams.topics import CHANGES, CLAIMS, Topics
from streams.topology import DECIDE, EXTRACT, Batch, Stage

_NOWHERE = -1


def repeat(
    log: Log, topics: Topics, reader: Mesh, writer: Mesh, first: Stage, records: Sequence[Record], now: Instant
) -> None:
    """Give observations (`first` is EXTRACT) or claims (DECIDE) their effect in the graph, durable on return.

    `reader` extracts, `writer` decides; the stage that indexes reads the changes from the log. A message that cannot
    be used is passed over: it was set aside when the stream met it.
    """
    claims = topics.name(CLAIMS)
    batch: Batch = {0: records}
    if first is EXTRACT:
        batch = routed(claims, EXTRACT.handle(reader, batch, now).entries, log.partitions(claims), now)
    else:
        batch = _by_partition(records)
    changes = DECIDE.handle(writer, batch, now).entries
    if changes:
        log.append(topics.name(CHANGES), bundled(changes), now)


def routed(topic: str, entries: Sequence[Entry], partitions: int, now: Instant) -> dict[int, list[Record]]:
    """Entries as the next stage would read them, by the partitions that they belong to; they lie nowhere."""
    return _by_partition(
        [
            Record(topic, partition_of(entry.key, partitions), _NOWHERE, entry.key, entry.value, now, entry.headers)
            for entry in entries
        ]
    )


def _by_partition(records: Sequence[Record]) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for record in records:
        found.setdefault(record.partition, []).append(record)
    return found
