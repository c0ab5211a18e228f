"""What a worker of Kafka leaves, the next of its group takes up: partitions move, workers stop, a batch is given up."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka_house import NAMES, House, told, until

from schemas.errors import StoreUnavailable
from stores.kafka.options import KafkaOptions
from streams.kafka import KafkaWorker

pytestmark = pytest.mark.kafka


@pytest.fixture
def house(kafka: str, tmp_path: Path) -> Iterator[House]:
    house = House(kafka, tmp_path)
    yield house
    house.close()


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


def test_a_worker_whose_partitions_may_move_keeps_no_slot_that_another_may_write(house: House) -> None:
    house.started()
    house.tell("ada")
    assert until(lambda: house.held() == {"ada"})
    house.started()
    assert until(lambda: len(house.members()) == 2 and house.workers[1].running)

    house.put(told("ada", "blue"))

    assert until(lambda: "blue" in house.values("ada"))
    assert house.mesh.counts().get("cache.slots.hit", 0) == 0


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


def _shares(house: House, second: KafkaWorker, first: KafkaWorker) -> bool:
    """Whether the second worker has had its part of what is told meanwhile."""
    house.tell(*(f"thing {number}" for number in range(0, 400, 7)))
    first.drain()
    return second.counts["observations"] > 0 and first.counts["observations"] > 0
