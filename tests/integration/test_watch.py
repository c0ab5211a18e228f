"""What operators see of the stream, on either log: what waits and since when, watermarks, freshness, dead letters."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from beliefmesh.http.app import create_health_app
from beliefmesh.memory import Memory
from beliefmesh.movement import Movement
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings, Where
from schemas.dead_letter import DeadLetter
from schemas.instant import MINUTE, SECOND, parse_instant
from schemas.routing import partition_of
from stores.kafka.options import KafkaOptions
from stores.open import open_log
from stores.ports import Entry, Log, Record
from stores.sqlite.log import SqliteLog
from streams.backlog import backlogs, places
from streams.dead_letters import DeadLetters
from streams.topics import Topics
from streams.watermark import low_watermarks

MAY = 1_714_521_600_000_000
PARTITIONS = 2
NOON = parse_instant("2024-06-10T12:00:00Z", "at")


@pytest.fixture(params=["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the log is."""
    if request.param == "kafka":
        return f"kafka://{request.getfixturevalue('kafka')}"
    return f"sqlite:///{tmp_path / 'log.db'}"


@pytest.fixture
def topics() -> Topics:
    """Topics of this test alone."""
    return Topics(f"{uuid4().hex}-", PARTITIONS)


@pytest.fixture
def log(url: str, topics: Topics) -> Iterator[Log]:
    """The log, with the topics."""
    opened = open_log(url, KafkaOptions())
    topics.create(opened)
    yield opened
    opened.close()


def key_of(partition: int, bank: str) -> str:
    """A key of a bank that goes to a partition."""
    return next(key for key in (f"{bank}/{n}" for n in range(100)) if partition_of(key, PARTITIONS) == partition)


def letter(id: str) -> DeadLetter:
    return DeadLetter(id=id, stage="intake", error="malformed_message", reason="is not JSON", at=MAY, original=b"{")


def test_each_stage_and_partition_tells_how_many_wait_and_for_how_long_the_oldest_has(log: Log, topics: Topics) -> None:
    observations, claims = topics.name("observations"), topics.name("claims")
    for second in range(3):
        log.append(observations, [Entry(key_of(1, "b"), b"x")], MAY + second * SECOND)
    log.append(claims, [Entry(key_of(0, "b"), b"x")], MAY + 5 * SECOND)
    log.commit(topics.group, observations, {1: 1})

    waiting = backlogs(log, places(log, topics))

    assert [(each.place.stage, each.place.partition, each.records, each.seconds(MAY + MINUTE)) for each in waiting] == [
        ("extract", 0, 0, 0.0),
        ("extract", 1, 2, 59.0),
        ("decide", 0, 1, 55.0),
        ("decide", 1, 0, 0.0),
        ("index", 0, 0, 0.0),
        ("index", 1, 0, 0.0),
    ]


def test_what_was_forgotten_does_not_wait(log: Log, topics: Topics) -> None:
    observations = topics.name("observations")
    log.append(observations, [Entry(key_of(0, "b"), b"x")], MAY)
    log.forget(observations, 0, [0])

    assert [each.records for each in backlogs(log, places(log, topics))] == [0] * 6


def test_the_head_of_a_long_backlog_is_read_and_no_more(log: Log, topics: Topics) -> None:
    entries = [Entry(key_of(0, "b"), b"x") for _ in range(130)]
    log.append(topics.name("observations"), entries, MAY)

    first = backlogs(log, places(log, topics), limit=120)[0]

    assert (len(first.head), first.more, first.records) == (120, True, 130)


def test_the_watermark_of_a_bank_is_when_the_oldest_that_waits_was_accepted(log: Log, topics: Topics) -> None:
    observations = topics.name("observations")
    log.append(observations, [Entry(key_of(0, "a"), b"x")], MAY)
    log.append(observations, [Entry(key_of(1, "b"), b"x")], MAY + SECOND)

    def marks() -> list[int]:
        return list(low_watermarks(backlogs(log, places(log, topics)), ["a", "b", "c"], MAY + MINUTE).values())

    assert marks() == [MAY, MAY + SECOND, MAY + MINUTE]
    log.commit(topics.group, observations, {0: 1})
    assert marks() == [MAY + MINUTE, MAY + SECOND, MAY + MINUTE]


def test_letters_are_counted_each_once_and_those_that_another_process_took_out_no_more(
    log: Log, topics: Topics
) -> None:
    counting, other = DeadLetters(log, topics), DeadLetters(log, topics)
    counting.add([letter("d1"), letter("d2"), letter("d3")], MAY)
    assert counting.count() == 3

    other.add([letter("d3"), letter("d4")], MAY)
    other.drop("d2")

    assert counting.count() == 3
    assert other.count() == 3
    for id in ("d1", "d3", "d4"):
        other.drop(id)
    assert (counting.count(), other.count()) == (0, 0)


class Counting(SqliteLog):
    """The embedded log, which counts what is asked of it."""

    asked = 0
    read_records = 0

    def committed(self, group: str, topic: str) -> dict[int, int]:
        self.asked += 1
        return super().committed(group, topic)

    def ends(self, topic: str) -> dict[int, int]:
        self.asked += 1
        return super().ends(topic)

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        self.asked += 1
        records = super().read(topic, partition, offset, limit)
        self.read_records += len(records)
        return records


def test_counting_again_reads_what_is_new_and_a_hundred_of_the_rest_and_ends_right(tmp_path: Path) -> None:
    log, topics = Counting(tmp_path / "log.db"), Topics("", 1)
    topics.create(log)
    letters = DeadLetters(log, topics)
    letters.add([letter(f"d{n}") for n in range(1_050)], MAY)
    assert letters.count() == 1_050
    DeadLetters(log, topics).drop("d1040")

    log.read_records = 0
    counts = [letters.count() for _ in range(11)]

    assert log.read_records <= 11 * 100
    assert counts[-1] == 1_049
    log.close()


def test_where_nothing_waits_a_look_asks_two_questions_a_stage(tmp_path: Path) -> None:
    log, topics = Counting(tmp_path / "log.db"), Topics("", 64)
    topics.create(log)

    backlogs(log, places(log, topics))

    assert log.asked == 6
    log.close()


class Ticking:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


def test_statistics_tell_what_waits_up_to_when_all_is_recallable_and_how_fresh_it_was(
    open_memory: Callable[..., Memory],
) -> None:
    clock = Ticking()
    memory = open_memory(clock=clock)
    memory.retain("The shop opens at 9.", session="s1")
    memory.retain("The shop closes at 18.", session="s1", wait=False)
    clock.now += 40 * SECOND

    before = memory.stats()
    memory.home.worker.drain()
    after = memory.stats()

    (lagging,) = [each for each in before["partitions"]["extract"].values() if each["records"]]
    assert lagging == {"records": 1, "seconds": 40.0}
    assert before["lag"] == {"extract": 1, "decide": 0, "index": 0}
    assert before["low_watermark"] == {"default": "2024-06-10T12:00:00Z"}
    assert after["low_watermark"] == {"default": "2024-06-10T12:00:40Z"}
    buckets = after["freshness_seconds"]["buckets"]
    assert (buckets["0.05"], buckets["30.0"], buckets["60.0"], buckets["+Inf"]) == (1, 1, 2, 2)
    assert after["freshness_seconds"]["sum"] == 40.0


def test_what_was_known_already_and_reviews_are_no_fresh_news(open_memory: Callable[..., Memory]) -> None:
    memory = open_memory()
    told = {"id": "o1", "text": "The shop opens at 9."}
    memory.retain(told)
    memory.retain(told)
    memory.home.worker.review([("default", slot) for slot in memory.home.graph.scan("default", "", 10)])
    memory.home.worker.drain()

    assert memory.stats()["freshness_seconds"]["count"] == 1


@pytest.mark.kafka
def test_a_mesh_over_kafka_tells_how_fresh_it_is_and_that_nothing_waits(kafka: str, tmp_path: Path) -> None:
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(embedder="none:", log=f"kafka://{kafka}"),
        streams=StreamSettings(prefix=f"{uuid4().hex}-", partitions=2),
    )
    with Memory(settings=settings) as memory:
        began = memory.home.clock()
        memory.retain([{"text": "The shop opens at 9."}, {"text": "The mill opens at 7."}])
        memory.home.worker.drain()
        stats = memory.stats()

    assert stats["lag"] == {"extract": 0, "decide": 0, "index": 0}
    assert parse_instant(stats["low_watermark"]["default"], "at") > began
    assert stats["freshness_seconds"]["count"] == 2
    assert 0.0 < stats["freshness_seconds"]["sum"] < 60.0


@pytest.mark.kafka
def test_a_process_that_leaves_the_stream_to_others_is_not_ready_while_nobody_moves_it(
    kafka: str, tmp_path: Path
) -> None:
    prefix = f"{uuid4().hex}-"
    seconds = [0.0]

    def opened(folder: str, worker: Where) -> Memory:
        return Memory(
            settings=Settings(
                mesh=MeshSettings(folder=str(tmp_path / folder), runtime="inline"),
                stores=StoreSettings(embedder="none:", log=f"kafka://{kafka}"),
                streams=StreamSettings(prefix=prefix, partitions=2, worker=worker),
            )
        )

    with opened("asking", "elsewhere") as memory:
        app = create_health_app(memory)
        app.state.movement = Movement(lambda: seconds[0])
        memory.home.topics.create(memory.home.log)
        memory.retain("The shop opens at 9.", wait=False)

        before = readiness(app)
        seconds[0] = 75.0
        alone = readiness(app)
        with opened("working", "here") as other:
            other.home.worker.drain()
        after = readiness(app)

    assert before.status_code == 200
    assert alone.status_code == 503
    assert alone.json()["reasons"][0].startswith("nothing has moved for 75 s at stage extract, partition ")
    assert after.status_code == 200


def readiness(app: FastAPI) -> httpx.Response:
    """What an application answers about its readiness."""

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://mesh") as client:
            return await client.get("/health/ready")

    return asyncio.run(ask())
