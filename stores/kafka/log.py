"""The log on Apache Kafka: topics, records and group offsets through kafka-python, for several threads."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.errors import InvalidInput, NotFound, StoreUnavailable, TooLarge
from schemas.instant import Instant
from schemas.routing import partition_of
from stores.kafka.client import DELIVERY_SECONDS, Clients, SharedClient, largest, meaning
from stores.kafka.driver import KafkaError, NewTopic, OffsetAndMetadata, TopicPartition, errors
from stores.kafka.marks import SUFFIX, Marks
from stores.kafka.options import KafkaOptions
from stores.kafka.readers import Readers
from stores.kafka.records import headers_of, key_of, time_of
from stores.ports import Entry, Record, TopicPlan

_DAY_MS = 86_400_000
_COMPACT_AFTER_MS = 7 * _DAY_MS
_OVERHEAD = 128
_KNOWN_SECONDS = 60.0
"""How long a partition count is believed: an operator may add some."""
_MS = 1_000


class KafkaLog:
    """A `Log` in Kafka. `at` is kept to the millisecond; a forgotten record is skipped, its bytes go with the topic."""

    def __init__(self, url: str, options: KafkaOptions) -> None:
        self._clients = Clients(url, options)
        self._admin: SharedClient[Any] = SharedClient(self._clients.admin)
        self._producer: SharedClient[Any] = SharedClient(self._clients.producer)
        self._asking: SharedClient[Any] = SharedClient(self._clients.consumer)
        self._readers = Readers(self._clients.consumer)
        self._marks = Marks(self._has, self._ends, self._readers)
        self._known: dict[str, tuple[int, float]] = {}
        self._clients.knock()

    def create(self, topic: str, plan: TopicPlan) -> None:
        """Make a topic if it is not there; an existing one stays as it is."""
        if plan.partitions < 1:
            raise InvalidInput("partitions", f"is {plan.partitions}; a topic has at least one")
        if not self._has(topic):
            self._make(topic, plan)

    def partitions(self, topic: str) -> int:
        """The partition count; raises NotFound for an unknown topic."""
        count, until = self._known.get(topic, (0, 0.0))
        return count if time.monotonic() < until else self._count(topic)

    def topics(self) -> list[str]:
        """Names of all topics, sorted; without Kafka's own and those that hold marks."""
        names = self._admin.ask("listing topics", lambda admin: admin.list_topics())
        return sorted(name for name in names if not name.startswith("__") and not name.endswith(SUFFIX))

    def append(self, topic: str, entries: Sequence[Entry], at: Instant) -> list[tuple[int, int]]:
        """Add entries, durable on return; returns each one's (partition, offset).

        On an error some may be in the log: to repeat the call is harmless. Raises TooLarge before any is.
        """
        count = self.partitions(topic)
        if not entries:
            return []
        limit = self._clients.largest(topic)
        for at_place, entry in enumerate(entries):
            if len(entry.value) + _OVERHEAD > limit or _size(entry) > limit:
                raise TooLarge(f"entries[{at_place}]", f"has over {limit} bytes, the limit of kafka.max_message_mb")
        return self._deliver(topic, [(partition_of(entry.key, count), entry) for entry in entries], at)

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Up to `limit` records from `offset` on, in order; none at the end."""
        place = self._place(topic, partition)
        end = self._ends([place])[place]
        if offset >= end or limit < 1:
            return []
        marks = self._marks.of(topic)
        found = self._readers.read(place, max(offset, 0), end, limit, lambda one: (partition, one) not in marks)
        return [_record(each) for each in found]

    def committed(self, group: str, topic: str) -> dict[int, int]:
        """The next offset to read for each partition (0 where nothing was committed)."""
        places = self._places(topic)
        kept = self._admin.ask("reading offsets", lambda admin: admin.list_group_offsets({group: places}))
        offsets = {place.partition: found.offset for place, found in kept.get(group, {}).items()}
        return {place.partition: max(offsets.get(place.partition, 0), 0) for place in places}

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Note the next offsets to read, durable on return. Going back is allowed: it replays.

        Raises StoreUnavailable while workers of the group run: their offsets are theirs.
        """
        for partition, offset in offsets.items():
            if offset < 0:
                raise InvalidInput(f"offsets[{partition}]", f"is {offset}; offsets begin at 0")
        wanted = {self._place(topic, one): OffsetAndMetadata(offset, "", -1) for one, offset in offsets.items()}
        if wanted:
            self._admin.ask(f"keeping offsets of {group}", lambda admin: _commit(admin, group, wanted))

    def ends(self, topic: str) -> dict[int, int]:
        """The offset that the next entry of each partition will get."""
        return {place.partition: end for place, end in self._ends(self._places(topic)).items()}

    def forgotten(self, topic: str) -> frozenset[tuple[int, int]]:
        """(partition, offset) of every record that readers skip; cheap where nothing was added."""
        return self._marks.of(topic)

    def forget(self, topic: str, partition: int, offsets: Sequence[int]) -> None:
        """Mark single records for good: every reader skips them. Kafka keeps their bytes as long as all others."""
        self._place(topic, partition)
        known = self._marks.of(topic)
        marks = self._marks.entries(partition, [offset for offset in offsets if (partition, offset) not in known])
        if marks:
            sibling = topic + SUFFIX
            if not self._has(sibling):
                self._make(sibling, TopicPlan(1, compacted=True))
            self._deliver(sibling, [(0, mark) for mark in marks], 0)

    def replace(self, records: Sequence[Record]) -> None:
        """Append records, accepted when those at their topic, partition and offset were, and forget those."""
        appended: dict[tuple[str, Instant], list[Entry]] = {}
        forgotten: dict[tuple[str, int], list[int]] = {}
        for record in records:
            entry = Entry(record.key, record.value, record.headers)
            appended.setdefault((record.topic, record.at), []).append(entry)
            forgotten.setdefault((record.topic, record.partition), []).append(record.offset)
        for (topic, at), entries in appended.items():
            self.append(topic, entries, at)
        for (topic, partition), offsets in forgotten.items():
            self.forget(topic, partition, offsets)

    def wipe(self) -> None:
        """Does nothing: what is forgotten is marked, and its bytes go when Kafka drops the segment that holds them."""

    def drop_before(self, topic: str, before: Instant) -> int:
        """Drop each partition's records up to the first that was accepted at or after a time; returns how many."""
        places = self._places(topic)
        moment = -(-before // _MS)
        asked = dict.fromkeys(places, moment)
        later = self._asking.ask("finding a time", lambda consumer: consumer.offsets_for_times(asked))
        starts = self._asking.ask("finding the start", lambda consumer: consumer.beginning_offsets(places))
        ends = self._ends(places)
        cuts = {place: later[place].offset if later.get(place) else ends[place] for place in places}
        cuts = {place: cut for place, cut in cuts.items() if cut > starts[place]}
        if cuts:
            self._admin.ask("dropping records", lambda admin: admin.delete_records(cuts))
        return sum(cut - starts[place] for place, cut in cuts.items())

    def close(self) -> None:
        """Release everything."""
        for each in (self._readers, self._producer, self._asking, self._admin):
            each.close()

    def _count(self, topic: str) -> int:
        doing = f"looking for topic {topic!r}"
        (described,) = self._admin.ask(doing, lambda admin: admin.describe_topics([topic]))
        failed, count = errors.for_code(described["error_code"]), len(described["partitions"])
        if failed is errors.UnknownTopicOrPartitionError:
            raise NotFound(f"there is no topic {topic!r}; create it first")
        if not count:
            raise meaning(failed(), doing)
        self._known[topic] = count, time.monotonic() + _KNOWN_SECONDS
        return count

    def _has(self, topic: str) -> bool:
        try:
            return self.partitions(topic) > 0
        except NotFound:
            return False

    def _make(self, topic: str, plan: TopicPlan) -> None:
        options = self._clients.options
        settings = topic_settings(topic, plan, options)
        new = NewTopic(topic, plan.partitions, options.replication, topic_configs=settings)
        self._admin.ask(f"making topic {topic}", lambda admin: _create(admin, new))

    def _place(self, topic: str, partition: int) -> TopicPartition:
        count = self.partitions(topic)
        if not 0 <= partition < count:
            raise NotFound(f"topic {topic!r} has partitions 0 to {count - 1}, not {partition}")
        return TopicPartition(topic, partition)

    def _places(self, topic: str) -> list[TopicPartition]:
        return [TopicPartition(topic, partition) for partition in range(self.partitions(topic))]

    def _ends(self, places: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        try:
            found: dict[TopicPartition, int] = self._asking.ask("finding the end", lambda one: one.end_offsets(places))
        except StoreUnavailable:
            for place in places:
                self._known.pop(place.topic, None)
            raise
        return found

    def _deliver(self, topic: str, routed: Sequence[tuple[int, Entry]], at: Instant) -> list[tuple[int, int]]:
        producer = self._producer.get()
        moment = at // _MS
        try:
            sent = [
                producer.send(
                    topic,
                    entry.value,
                    entry.key.encode(),
                    [(name, value.encode()) for name, value in entry.headers.items()],
                    partition,
                    moment,
                )
                for partition, entry in routed
            ]
            places = [(done.partition, done.offset) for done in (one.get(2 * DELIVERY_SECONDS) for one in sent)]
        except (KafkaError, RuntimeError) as error:
            self._producer.drop(producer)
            self._known.pop(topic, None)
            raise meaning(error, f"appending to {topic}") from error
        if any(offset < 0 for _, offset in places):
            raise StoreUnavailable(f"Kafka took records into {topic} but did not say where; append them again")
        return places


def topic_settings(topic: str, plan: TopicPlan, options: KafkaOptions) -> dict[str, str]:
    """Kafka's settings of a topic that is made by a plan."""
    settings = {
        "max.message.bytes": str(largest(topic, options)),
        "retention.ms": str(plan.days * _DAY_MS if plan.days else -1),
    }
    if plan.compacted:
        settings |= {"cleanup.policy": "compact", "min.compaction.lag.ms": str(_COMPACT_AFTER_MS)}
    return settings


def _create(admin: Any, new: NewTopic) -> None:
    try:
        admin.create_topics([new], wait_for_metadata=True)
    except errors.TopicAlreadyExistsError:
        return


def _commit(admin: Any, group: str, wanted: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
    """Raises kafka-python's error for the first partition that was refused."""
    for refused in admin.alter_group_offsets(group, wanted).values():
        if refused.errno:
            raise refused


def _size(entry: Entry) -> int:
    headers = sum(len(name.encode()) + len(value.encode()) for name, value in entry.headers.items())
    return len(entry.key.encode()) + len(entry.value) + headers + _OVERHEAD


def _record(found: Any) -> Record:
    return Record(
        found.topic,
        found.partition,
        found.offset,
        key_of(found.key),
        bytes(found.value or b""),
        time_of(found.timestamp),
        headers_of(found.headers),
    )
