"""The worker of Kafka against a real broker: each fact about its client that the guarantee rests on has its test."""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from kafka_broker import Broker

from actors.inline import InlineMesh
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation, Source, observation_key
from schemas.slot import Change
from schemas.wire import pack
from stores.kafka.driver import KafkaAdminClient
from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions
from stores.local.index import LocalIndex
from stores.ports import Entry
from stores.sqlite.graph import SqliteGraph
from streams.dead_letters import DeadLetters
from streams.freshness import lag
from streams.kafka import KafkaWorker
from streams.topics import Topics

pytestmark = pytest.mark.kafka

NOW: Instant = 1_718_020_800_000_000
NAMES = ("ada", "ben", "chen", "dora", "emil", "fatima", "goran", "hana", "ivo", "jing", "karim", "lena")
QUICK = KafkaOptions(session_timeout=6.0, drain_timeout=20.0)


class Gated(InlineMesh):
    """The real mesh; `decide` fails while `failing` holds an error, and waits while the gate is closed."""

    def __init__(self, *stores: object) -> None:
        super().__init__(*stores)  # type: ignore[arg-type]
        self.failing: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.waiting = threading.Event()

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: Instant) -> dict[int, list[Change] | Exception]:
        self.waiting.set()
        self.gate.wait(60)
        if self.failing is not None:
            return dict.fromkeys(batches, self.failing)
        return super().apply(batches, now)


class Stumbling(KafkaLog):
    """The real log, which fails the first times that the worker asks it what was forgotten."""

    stumbles = 3

    def forgotten(self, topic: str) -> frozenset[tuple[int, int]]:
        if self.stumbles:
            self.stumbles -= 1
            raise StoreUnavailable("the broker is away")
        return super().forgotten(topic)


class House:
    """Workers of one group over a real broker, with the embedded graph and index behind them."""

    def __init__(self, address: str, folder: Path, log: type[KafkaLog] = KafkaLog) -> None:
        self.url = f"kafka://{address}"
        self.topics = Topics(f"t{secrets.token_hex(6)}-", 4)
        self.log = log(self.url, QUICK)
        self.graph = SqliteGraph(folder / "graph.db")
        self.index = LocalIndex(folder / "index", 1, "none")
        self.mesh = Gated(self.graph, self.index, None)
        self.letters = DeadLetters(self.log, self.topics)
        self.workers: list[KafkaWorker] = []

    def worker(self, options: KafkaOptions = QUICK) -> KafkaWorker:
        now, due = (lambda: NOW), self.graph.due
        self.workers.append(KafkaWorker(self.log, self.mesh, self.topics, now, due, 100, url=self.url, options=options))
        return self.workers[-1]

    def members(self) -> list[str | None]:
        """The names of the group's workers, as the broker knows them."""
        admin = KafkaAdminClient(bootstrap_servers=self.url.removeprefix("kafka://"))
        (group,) = admin.describe_groups([self.topics.group]).values()
        admin.close()
        return [member["group_instance_id"] for member in group["members"]]

    def started(self) -> KafkaWorker:
        worker = self.worker()
        worker.start()
        return worker

    def tell(self, *names: str) -> None:
        self.put(*(told(name) for name in names))

    def put(self, *entries: Entry) -> None:
        self.log.append(self.topics.name("observations"), entries, NOW)

    def held(self) -> set[str]:
        slots = self.graph.slots("b", self.graph.scan("b", "", 10_000))
        return {belief.entity.name for slot in slots.values() for belief in slot.beliefs}

    def waiting(self) -> dict[str, int]:
        return {stage: sum(partitions.values()) for stage, partitions in lag(self.log, self.topics).items()}

    def close(self) -> None:
        self.mesh.gate.set()
        for worker in self.workers:
            worker.stop()
        self.mesh.close()
        self.index.close()
        self.graph.close()
        self.log.close()


@pytest.fixture
def house(kafka: str, tmp_path: Path) -> Iterator[House]:
    house = House(kafka, tmp_path)
    yield house
    house.close()


def told(name: str, value: object = "red", **fields: object) -> Entry:
    observation = Observation(
        id=f"o-{name}-{value}",
        bank="b",
        source=Source("cam"),
        observed_at=NOW,
        entity=Entity(name),
        claims=(Claim(entity=Entity(name), attribute="colour", value=value),),
        **fields,
    )
    return Entry(observation_key(observation), pack(observation, observation.id))


def until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Wait for what another thread brings about."""
    waited = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if condition():
            return True
        waited.wait(0.05)
    return False


def test_what_is_in_the_topic_is_believed_and_nothing_waits_any_more(house: House) -> None:
    worker = house.worker()
    house.tell(*NAMES)

    worker.start()
    worker.drain()

    assert house.held() == set(NAMES)
    assert house.waiting() == {"extract": 0, "decide": 0, "index": 0}
    assert worker.counts["evidence"] == 12
    assert len(house.index.versions("b")) == 12
    assert until(lambda: worker.caught_up)


def test_of_twelve_messages_the_poisoned_one_is_set_aside_whole_and_the_rest_is_applied(house: House) -> None:
    worker = house.worker()
    entries = [told(name) for name in NAMES]
    poison = Entry(entries[4].key, b"\xffnot an envelope\x00", {"traceparent": "00-1-2-01"})

    house.put(*entries[:4], poison, *entries[5:])
    worker.start()
    worker.drain()

    assert house.held() == set(NAMES) - {"emil"}
    (letter,) = house.letters.all()
    assert letter.original == poison.value
    assert letter.headers == poison.headers
    assert (letter.stage, letter.error, letter.attempts) == ("extract", "MalformedMessage", 1)
    assert (letter.topic, letter.key) == (house.topics.name("observations"), poison.key)
    (record,) = house.log.read(letter.topic, letter.partition, letter.offset, 1)
    assert record.value == poison.value


def test_an_unknown_major_version_garbage_no_bytes_and_two_megabytes_end_aside_and_the_partition_moves_on(
    house: House,
) -> None:
    worker = house.worker()
    good = told("ada")
    unknown = good.value.replace(b"\xa1v\x92\x01", b"\xa1v\x92\x63", 1)
    large = Observation(id="large", bank="b", source=Source("cam"), observed_at=NOW, text="x" * 2_000_000)
    key = good.key

    house.put(Entry(key, unknown), Entry(key, b"garbage"), Entry(key, b""), Entry(key, pack(large, "large")), good)
    worker.start()
    worker.drain()

    assert house.held() == {"ada"}
    assert sorted(letter.error for letter in house.letters.all()) == [
        "MalformedMessage",
        "MalformedMessage",
        "TooLarge",
        "UnknownSchemaVersion",
    ]
    assert {len(letter.original) for letter in house.letters.all()} >= {0, 7, len(pack(large, "large"))}


def test_a_store_that_fails_acknowledges_nothing_and_loses_nothing(house: House) -> None:
    """An exception that left an agent's body would leave a gap behind the next commit."""
    house.mesh.failing = StoreUnavailable("the graph is away")
    worker = house.started()
    house.tell(*NAMES[:6])
    assert until(lambda: worker.stopped_by == "the graph is away")
    house.tell(*NAMES[6:])

    assert house.held() == set()
    assert house.waiting()["decide"] > 0
    assert set(house.log.committed(house.topics.group, house.topics.name("claims")).values()) == {0}
    house.mesh.failing = None
    worker.drain()

    assert worker.stopped_by == ""
    assert house.held() == set(NAMES)
    assert house.letters.all() == []


def test_a_worker_that_is_told_to_stop_finishes_and_commits_what_it_has_in_hand(house: House) -> None:
    house.mesh.gate.clear()
    worker = house.started()
    house.tell(*NAMES)
    assert house.mesh.waiting.wait(60)

    stopping = threading.Thread(target=worker.stop)
    stopping.start()
    house.mesh.gate.set()
    stopping.join(30)

    assert not stopping.is_alive()
    assert len(house.held()) > 0
    committed = house.log.committed(house.topics.group, house.topics.name("claims"))
    assert sum(committed.values()) > 0
    assert not worker.unfinished


def test_a_worker_that_is_told_to_stop_while_a_store_fails_says_that_a_batch_is_left(house: House) -> None:
    house.mesh.failing = StoreUnavailable("the graph is away")
    worker = house.started()
    house.tell("ada")
    assert until(lambda: worker.stopped_by == "the graph is away")

    worker.stop()

    assert worker.unfinished
    assert house.held() == set()


def test_what_arrives_while_a_worker_stops_is_left_to_the_next(house: House) -> None:
    house.mesh.gate.clear()
    first = house.started()
    house.tell(*NAMES[:4])
    assert house.mesh.waiting.wait(60)
    before = house.log.committed(house.topics.group, house.topics.name("observations"))
    stopping = threading.Thread(target=first.stop)
    stopping.start()

    for name in NAMES[4:]:
        house.tell(name)
        until(lambda: house.log.committed(house.topics.group, house.topics.name("observations")) != before, 0.4)
    house.mesh.gate.set()
    stopping.join(30)
    second = house.started()
    second.drain()

    assert not stopping.is_alive()
    assert house.held() == set(NAMES)


def test_the_next_worker_begins_where_the_last_one_committed(house: House) -> None:
    first = house.started()
    house.tell(*NAMES[:6])
    first.drain()
    first.stop()
    house.tell(*NAMES[6:])

    second = house.started()
    second.drain()

    assert house.held() == set(NAMES)
    assert second.counts["evidence"] == 6
    assert second.counts["duplicates"] == 0


def test_partitions_move_to_a_second_worker_and_nothing_is_lost_on_the_way(house: House) -> None:
    first = house.started()
    for number in range(0, 400, 20):
        house.tell(*(f"thing {each}" for each in range(number, number + 20)))
        if number == 200:
            second = house.started()
    first.drain()
    assert until(lambda: _shares(house, second, first))

    assert len(house.held()) == 400
    assert house.letters.all() == []


def test_a_batch_that_cannot_be_applied_is_left_to_whoever_gets_its_partition_next(house: House) -> None:
    house.mesh.failing = StoreUnavailable("the graph is away")
    first = house.started()
    house.tell(*NAMES)
    assert until(lambda: first.stopped_by != "")

    second = house.started()
    first.stop()
    house.mesh.failing = None
    second.drain()

    assert house.held() == set(NAMES)


def test_a_batch_given_up_when_partitions_moved_is_applied_by_the_worker_that_kept_them(house: House) -> None:
    """Given up and never delivered again, it would be a gap that only a restart closes."""
    house.mesh.failing = StoreUnavailable("the graph is away")
    first = house.started()
    house.tell(*NAMES)
    assert until(lambda: first.stopped_by != "")

    second = house.started()
    assert until(lambda: second.stopped_by != "")
    second.stop()
    house.mesh.failing = None
    first.drain()

    assert house.held() == set(NAMES)


def test_nothing_behind_a_batch_that_was_given_up_is_committed_over_it(house: House) -> None:
    """One that was fetched with it may still be at hand when the graph is back."""
    house.mesh.failing = StoreUnavailable("the graph is away")
    first = house.started()
    house.put(told("ada", "v0"))
    assert until(lambda: first.stopped_by != "")
    for number in range(1, 7):
        house.put(told("ada", f"v{number}"))
    assert until(lambda: house.waiting()["extract"] == 0)

    second = house.started()
    assert until(lambda: first.stopped_by == "" or second.stopped_by != "")
    house.mesh.failing = None
    second.drain()
    first.stop()
    second.stop()
    third = house.started()
    third.drain()

    (stored,) = house.graph.load_slots("b", house.graph.scan("b", "", 10)).values()
    assert len(stored.evidence) == 7


def test_a_log_that_fails_before_a_batch_begins_stops_no_stage_for_good(kafka: str, tmp_path: Path) -> None:
    house = House(kafka, tmp_path, Stumbling)
    worker = house.worker()
    house.tell(*NAMES)

    worker.start()
    worker.drain()

    assert house.held() == set(NAMES)
    assert worker.stopped_by == ""
    house.close()


def test_a_named_worker_that_is_back_in_time_is_the_same_member_and_goes_on(house: House) -> None:
    named = KafkaOptions(session_timeout=30.0, drain_timeout=20.0, instance="worker-a")
    first = house.worker(named)
    house.tell(*NAMES[:6])
    first.start()
    first.drain()
    assert house.members() == ["worker-a"]
    first.stop()
    house.tell(*NAMES[6:])

    second = house.worker(named)
    second.start()
    second.drain()

    assert house.members() == ["worker-a"]
    assert house.held() == set(NAMES)
    assert second.counts["duplicates"] == 0


def test_headers_and_times_that_no_topic_could_take_again_stop_nothing(house: House) -> None:
    worker = house.worker()
    ada = told("ada")
    house.put(Entry(ada.key, ada.value, {"note": "x" * 2_100_000}), told("ben"))

    worker.start()
    worker.drain()

    assert house.held() == {"ada", "ben"}


def test_a_broker_that_is_killed_and_comes_back_costs_nothing_but_time(
    start_broker: Callable[..., Broker], tmp_path: Path
) -> None:
    broker = start_broker()
    house = House(broker.bootstrap, tmp_path)
    worker = house.started()
    house.tell(*NAMES[:6])
    worker.drain()

    broker.kill()
    broker.start()
    house.tell(*NAMES[6:])
    worker.drain()

    assert house.held() == set(NAMES)
    assert house.letters.all() == []
    house.close()


def test_a_replay_from_the_beginning_changes_nothing_and_is_counted(house: House) -> None:
    first = house.started()
    house.tell(*NAMES)
    first.drain()
    first.stop()
    before = house.graph.load_slots("b", house.graph.scan("b", "", 100))

    for topic in ("observations", "claims", "changes"):
        name = house.topics.name(topic)
        house.log.commit(house.topics.group, name, dict.fromkeys(house.log.ends(name), 0))
    second = house.started()
    second.drain()

    assert second.counts["evidence"] == 0
    assert second.counts["duplicates"] == 24  # the claims that lie there, and those extracted again
    assert house.graph.load_slots("b", house.graph.scan("b", "", 100)) == before


def test_forgotten_messages_stay_forgotten_on_a_replay(house: House) -> None:
    worker = house.worker()
    house.tell(*NAMES)
    topic = house.topics.name("observations")
    forgotten = next(
        record
        for partition in range(4)
        for record in house.log.read(topic, partition, 0, 100)
        if record.value == told("hana").value
    )

    house.log.forget(topic, forgotten.partition, [forgotten.offset])
    worker.start()
    worker.drain()

    assert house.held() == set(NAMES) - {"hana"}


def _shares(house: House, second: KafkaWorker, first: KafkaWorker) -> bool:
    """Whether the second worker has had its part of what is told meanwhile."""
    house.tell(*(f"thing {number}" for number in range(0, 400, 7)))
    first.drain()
    return second.counts["observations"] > 0 and first.counts["observations"] > 0
