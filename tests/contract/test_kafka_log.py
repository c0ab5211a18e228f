"""What the log on Kafka does beyond the port: plans, foreign records, large ones, and a broker that dies."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from uuid import uuid4

import pytest
from kafka.admin import ConfigResource, ConfigResourceType
from kafka_broker import Broker

from schemas.errors import InvalidInput, InvalidSetting, StoreUnavailable, TooLarge
from stores.kafka.driver import KafkaAdminClient, KafkaConsumer, KafkaProducer
from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions
from stores.ports import Entry, TopicPlan

pytestmark = pytest.mark.kafka

MAY = 1_714_521_600_000_000
MB = 1_000_000
DAY = 86_400_000


@pytest.fixture
def log(kafka: str) -> Iterator[KafkaLog]:
    """The log on the shared broker."""
    opened = KafkaLog(f"kafka://{kafka}", KafkaOptions())
    yield opened
    opened.close()


@pytest.fixture
def own() -> str:
    """What the names of this test's topics and groups begin with."""
    return f"{uuid4().hex}-"


@pytest.fixture
def one(log: KafkaLog, own: str) -> str:
    """A topic of one partition."""
    log.create(f"{own}one", TopicPlan(1))
    return f"{own}one"


@pytest.fixture
def foreign(kafka: str) -> Iterator[KafkaProducer]:
    """Somebody else's producer, whose records are no entries of ours."""
    producer = KafkaProducer(bootstrap_servers=kafka)
    yield producer
    producer.close()


def settings_of(kafka: str, topic: str) -> dict[str, str]:
    """What was set for a topic."""
    admin = KafkaAdminClient(bootstrap_servers=kafka)
    described = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    admin.close()
    return {name: told["value"] for name, told in described["topic"][topic].items()}


def test_a_plan_says_how_long_a_topic_is_kept(log: KafkaLog, kafka: str, own: str) -> None:
    log.create(f"{own}claims", TopicPlan(1, days=30))
    log.create(f"{own}observations", TopicPlan(1))

    assert settings_of(kafka, f"{own}claims")["retention.ms"] == str(30 * DAY)
    assert settings_of(kafka, f"{own}observations")["retention.ms"] == "-1"


def test_a_compacted_plan_keeps_every_record_for_a_week_and_the_newest_for_ever(
    log: KafkaLog, kafka: str, own: str
) -> None:
    log.create(f"{own}changes", TopicPlan(2, compacted=True))

    settings = settings_of(kafka, f"{own}changes")

    assert (settings["cleanup.policy"], settings["retention.ms"]) == ("compact", "-1")
    assert settings["min.compaction.lag.ms"] == str(7 * DAY)


def test_what_is_made_of_an_observation_may_be_larger_and_a_letter_about_that_too(kafka: str, own: str) -> None:
    log = KafkaLog(f"kafka://{kafka}", KafkaOptions(max_message_mb=2))
    log.create(f"{own}observations", TopicPlan(1))
    log.create(f"{own}claims", TopicPlan(1))
    log.create(f"{own}dead-letters", TopicPlan(1))

    log.append(f"{own}dead-letters", [Entry("k", bytes(3 * MB))], MAY)

    assert settings_of(kafka, f"{own}observations")["max.message.bytes"] == str(2 * MB)
    assert settings_of(kafka, f"{own}claims")["max.message.bytes"] == str(6 * MB)
    assert settings_of(kafka, f"{own}dead-letters")["max.message.bytes"] == str(8 * MB)
    assert len(log.read(f"{own}dead-letters", 0, 0, 1)[0].value) == 3 * MB
    log.close()


def test_of_a_batch_with_one_record_too_large_none_is_sent(log: KafkaLog, one: str) -> None:
    with pytest.raises(TooLarge, match=r"entries\[1\]: has over 4000000 bytes, the limit of kafka\.max_message_mb"):
        log.append(one, [Entry("k", b"small"), Entry("k", bytes(4 * MB))], MAY)

    assert log.ends(one) == {0: 0}


def test_a_record_over_the_limit_of_a_topic_that_others_made_is_too_large(kafka: str, own: str) -> None:
    small = KafkaLog(f"kafka://{kafka}", KafkaOptions(max_message_mb=1))
    small.create(f"{own}one", TopicPlan(1))
    small.close()
    log = KafkaLog(f"kafka://{kafka}", KafkaOptions(max_message_mb=4))

    with pytest.raises(TooLarge, match=r"max\.message\.bytes"):
        log.append(f"{own}one", [Entry("k", bytes(2 * MB))], MAY)

    assert log.append(f"{own}one", [Entry("k", b"small")], MAY) == [(0, 0)]
    log.close()


def test_keys_headers_and_values_of_others_are_read_whatever_they_are(
    log: KafkaLog, one: str, foreign: KafkaProducer
) -> None:
    foreign.send(one, b"\xff", key=None, timestamp_ms=5)
    foreign.send(one, None, key=b"\xffk", headers=[("trace", b"\xfe"), ("trace", b"last")], timestamp_ms=5)
    foreign.flush()

    first, second = log.read(one, 0, 0, 10)

    assert (first.key, first.value, first.at) == ("", b"\xff", 5_000)
    assert (second.key, second.value, second.headers) == ("\\xffk", b"", {"trace": "last"})


def test_headers_of_others_that_are_too_large_to_go_along_are_left_out(
    log: KafkaLog, one: str, foreign: KafkaProducer
) -> None:
    foreign.send(one, b"v", headers=[("large", b"\xff" * 5_000), ("trace", b"small")], timestamp_ms=5)
    foreign.flush()

    (record,) = log.read(one, 0, 0, 10)

    assert record.headers == {"trace": "small"}


def test_a_transaction_of_others_leaves_gaps_that_are_stepped_over(
    log: KafkaLog, kafka: str, one: str, own: str
) -> None:
    log.append(one, [Entry("k", b"ours")], MAY)
    producer = KafkaProducer(bootstrap_servers=kafka, transactional_id=f"{own}other")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(one, b"theirs")
    producer.commit_transaction()
    producer.close()

    assert log.ends(one) == {0: 3}
    assert [record.value for record in log.read(one, 0, 0, 10)] == [b"ours", b"theirs"]
    assert log.read(one, 0, 2, 10) == []


def test_reading_from_before_the_beginning_begins_at_the_beginning(log: KafkaLog, one: str) -> None:
    log.append(one, [Entry("k", b"%d" % number) for number in range(5)], MAY)
    log.append(one, [Entry("k", b"late")], MAY + 1_000)
    log.drop_before(one, MAY + 1_000)

    assert [(record.offset, record.value) for record in log.read(one, 0, 2, 10)] == [(5, b"late")]


def test_offsets_of_a_group_with_members_are_left_to_them(log: KafkaLog, kafka: str, one: str, own: str) -> None:
    member = KafkaConsumer(one, bootstrap_servers=kafka, group_id=f"{own}shards")
    while not member.assignment():
        member.poll(100)

    with pytest.raises(StoreUnavailable, match=f"workers of the group run.*{own}shards.*stop them first"):
        log.commit(f"{own}shards", one, {0: 1})
    member.close()

    log.commit(f"{own}shards", one, {0: 1})
    assert log.committed(f"{own}shards", one) == {0: 1}


def test_more_replicas_than_brokers_are_a_wrong_setting(kafka: str, own: str) -> None:
    log = KafkaLog(f"kafka://{kafka}", KafkaOptions(replication=32))
    with pytest.raises(InvalidSetting, match=r"kafka\.replication"):
        log.create(f"{own}one", TopicPlan(1))
    log.close()


def test_a_name_that_kafka_does_not_take_is_refused_with_what_it_takes(log: KafkaLog) -> None:
    with pytest.raises(InvalidInput, match="topic: Kafka takes up to 249 letters"):
        log.create("two words", TopicPlan(1))


def test_a_port_where_no_broker_is_is_told_at_once() -> None:
    with pytest.raises(StoreUnavailable, match=r"no Kafka broker answers at 127\.0\.0\.1:9; is it running"):
        KafkaLog("kafka://127.0.0.1:9", KafkaOptions())


def test_nothing_acknowledged_is_lost_when_the_broker_is_killed_while_it_is_written_to(
    start_broker: Callable[..., Broker], caplog: pytest.LogCaptureFixture
) -> None:
    broker = start_broker()
    caplog.set_level(logging.DEBUG)
    log = KafkaLog(f"kafka://{broker.bootstrap}", KafkaOptions())
    log.create("one", TopicPlan(1))
    log.append("one", [Entry("k", b"before")], MAY)
    assert [record.value for record in log.read("one", 0, 0, 10)] == [b"before"]
    acknowledged: list[bytes] = []
    enough, stop = Event(), Event()

    def write() -> None:
        turn = 0
        while not stop.is_set():
            values = [b"%d-%d" % (turn, at) for at in range(50)]
            try:
                log.append("one", [Entry("k", value) for value in values], MAY)
            except StoreUnavailable:
                continue
            acknowledged.extend(values)
            turn += 1
            if turn % 20 == 0:
                enough.set()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        for _ in range(2):
            enough.wait(60)
            broker.kill()
            broker.start()
            enough.clear()
        assert enough.wait(60)
        stop.set()
        writing.result()

    found = {
        record.value for offset in range(0, log.ends("one")[0], 1000) for record in log.read("one", 0, offset, 1000)
    }
    assert set(acknowledged) | {b"before"} <= found
    log.commit("shards", "one", {0: 1})
    assert log.committed("shards", "one") == {0: 1}
    log.close()
    assert [record for record in caplog.records if record.name.startswith("kafka")] == []
