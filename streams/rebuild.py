"""The replay of all observations into a new space, and the place in the log from which its workers go on."""

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from actors.mesh import Mesh
from schemas.instant import Instant
from stores.ports import Log, Record
from streams.repeat import routed
from streams.topics import OBSERVATIONS, Topics
from streams.topology import STAGES, Batch

PASSES = 3
BATCH = 4_000
_PAGE = 500
_BATCH_BYTES = 16 * 1_048_576
_READERS = {stage.source: stage for stage in STAGES}

Progress = Callable[[int, int], None]
"""Takes how many records of the log are behind us, and how many there are."""


class Replayed(msgspec.Struct, frozen=True):
    """What was replayed: observations, their claims, and the messages that could not be used."""

    observations: int
    claims: int
    dead_letters: int


def replay(
    log: Log, topics: Topics, mesh: Mesh, clock: Callable[[], Instant], progress: Progress, batch: int = BATCH
) -> Replayed:
    """Give every observation of the log its effect in `mesh`, and commit for the group of `topics.space`.

    `mesh` stands over the new space, which nobody else writes. The stages run one after the other in memory: nothing
    is appended. A message that cannot be used is counted and not set aside, since it was when the stream met it.
    What was forgotten is not read, so it stays forgotten.

    A running mesh goes on appending meanwhile, so the log is looked at again until a pass finds nothing new, at most
    `PASSES` times; the new group's own workers take the rest. Where they begin, so that nothing is lost:
    - `observations`: behind the last one that was replayed.
    - `claims` and `changes`: where they end now. Whatever lies below came from an observation that was replayed, or
      from one that is still to be read, and extracted again, by the new group. What is appended later it reads.
    What is met twice that way, or announced by the workers of the old space too, is applied once. The claims below
    must not be read again, either: some may be of observations that were forgotten.
    """
    source = topics.name(OBSERVATIONS)
    partitions = {topics.name(stage.sink): log.partitions(topics.name(stage.sink)) for stage in STAGES if stage.sink}
    done: dict[int, int] = {}
    counts: Counter[str] = Counter()
    for _ in range(PASSES):
        ends = log.ends(source)
        behind = {partition: end for partition, end in ends.items() if done.setdefault(partition, 0) < end}
        if not behind:
            break
        for partition, end in behind.items():
            for records in _batches(log, source, partition, done[partition], end, batch):
                counts.update(_apply(mesh, {partition: records}, topics, partitions, clock()))
                done[partition] = records[-1].offset + 1
                progress(sum(done.values()), sum(ends.values()))
            done[partition] = max(done[partition], end)
    mesh.catch_up(clock())
    log.commit(topics.group, source, done)
    for topic in partitions:
        log.commit(topics.group, topic, log.ends(topic))
    return Replayed(counts["observations"], counts["claims"], counts["dead_letters"])


def _apply(mesh: Mesh, batch: Batch, topics: Topics, partitions: dict[str, int], now: Instant) -> Counter[str]:
    """Take one batch of observations through all stages."""
    counts: Counter[str] = Counter()
    stage = STAGES[0]
    while True:
        outcome = stage.handle(mesh, batch, now)
        counts.update({**outcome.counts, "dead_letters": len(outcome.dead)})
        if not outcome.entries:
            return counts
        sink = topics.name(stage.sink)
        batch = routed(sink, outcome.entries, partitions[sink], now)
        stage = _READERS[stage.sink]


def _batches(log: Log, topic: str, partition: int, start: int, end: int, limit: int) -> Iterator[list[Record]]:
    """A partition's records from `start` up to `end`, at most `limit` together, fewer where they are large."""
    records: list[Record] = []
    size = 0
    while start < end and (page := log.read(topic, partition, start, min(_PAGE, limit - len(records)))):
        records += page
        size += sum(len(record.value) for record in page)
        start = page[-1].offset + 1
        if len(records) >= limit or size >= _BATCH_BYTES:
            yield records
            records, size = [], 0
    if records:
        yield records
