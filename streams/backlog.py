"""What waits at each stage: how far it has come in every partition of its topic, and the records that come next."""

from collections.abc import Iterable

import msgspec

from schemas.instant import SECOND, Instant
from stores.ports import Log, Record
from streams.topics import Topics
from streams.topology import STAGES

_RECORDS = 500
_PAGE = 50
_BYTES = 1_048_576


class Place(msgspec.Struct, frozen=True):
    """Where a stage stands in one partition of its topic (`source` is its plain name), and where that ends."""

    stage: str
    source: str
    topic: str
    partition: int
    committed: int
    end: int


class Backlog(msgspec.Struct, frozen=True):
    """What waits at a place, seen from its head: the first records, and whether `more` lie beyond those.

    A place whose offsets differ may hold nothing to read: forgotten or dropped records, or a producer's marks.
    """

    place: Place
    head: tuple[Record, ...] = ()
    more: bool = False

    @property
    def records(self) -> int:
        """How many wait, by their offsets; 0 where nothing is left to read."""
        return self.place.end - self.place.committed if self.head else 0

    def seconds(self, now: Instant) -> float:
        """How long the oldest has waited."""
        return max(0, now - self.head[0].at) / SECOND if self.head else 0.0


def places(log: Log, topics: Topics) -> list[Place]:
    """Every stage at every partition, in two questions to the log a stage.

    The order is that in which data passes: what leaves one place while this looks is seen at a later one.
    """
    found = []
    for stage in STAGES:
        topic = topics.name(stage.source)
        committed = log.committed(topics.group, topic)
        for partition, end in sorted(log.ends(topic).items()):
            found.append(Place(stage.name, stage.source, topic, partition, committed.get(partition, 0), end))
    return found


def backlogs(log: Log, found: Iterable[Place], limit: int = _RECORDS) -> list[Backlog]:
    """What waits at each place; reads at most `limit` records, or about a megabyte, where any do, else nothing."""
    return [_backlog(log, place, limit) if place.committed < place.end else Backlog(place) for place in found]


def _backlog(log: Log, place: Place, limit: int) -> Backlog:
    head: list[Record] = []
    size = 0
    offset = place.committed
    while offset < place.end and len(head) < limit and size < _BYTES:
        page = log.read(place.topic, place.partition, offset, min(_PAGE, limit - len(head)))
        if not page:
            offset = place.end
            break
        head += page
        size += sum(len(record.value) for record in page)
        offset = page[-1].offset + 1
    return Backlog(place, tuple(head), offset < place.end)
