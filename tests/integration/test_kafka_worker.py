"""The worker of Kafka against a real broker: each fact about its client that the guarantee rests on has its test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kafka_broker import Broker
from kafka_house import NAMES, NOW, House, Stumbling, told, until

from schemas.errors import StoreUnavailable
from schemas.observation import Observation, Source
from schemas.wire import pack
from stores.ports import Entry

pytestmark = pytest.mark.kafka


@pytest.fixture
def house(kafka: str, tmp_path: Path) -> Iterator[House]:
    house = House(kafka, tmp_path)
    yield house
    house.close()


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


def test_a_log_that_fails_before_a_batch_begins_stops_no_stage_for_good(kafka: str, tmp_path: Path) -> None:
    house = House(kafka, tmp_path, Stumbling)
    worker = house.worker()
    house.tell(*NAMES)

    worker.start()
    worker.drain()

    assert house.held() == set(NAMES)
    assert worker.stopped_by == ""
    house.close()


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
