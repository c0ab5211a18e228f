"""What every log must do, sentence by sentence of the port; each adapter is a parameter."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from msgspec.structs import replace

from schemas.errors import InvalidInput, NotFound, StoreUnavailable
from schemas.routing import partition_of
from stores.kafka.options import KafkaOptions
from stores.open import open_log
from stores.ports import Entry, Log, Record, TopicPlan

MAY = 1_714_521_600_000_000
MILLISECOND = 1_000
"""The finest that every log keeps."""

Opener = Callable[[], Log]


@pytest.fixture(params=["sqlite", pytest.param("kafka", marks=pytest.mark.kafka)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the log under test is."""
    if request.param == "kafka":
        return f"kafka://{request.getfixturevalue('kafka')}"
    return f"sqlite:///{tmp_path / 'log.db'}"


@pytest.fixture
def reopen(url: str) -> Iterator[Opener]:
    """Opens one and the same log again and again, as another process would."""
    opened: list[Log] = []

    def opener() -> Log:
        opened.append(open_log(url, KafkaOptions()))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


@pytest.fixture
def own() -> str:
    """What the names of this test's topics and groups begin with: a broker holds those of many tests."""
    return f"{uuid4().hex}-"


@pytest.fixture
def one(own: str) -> str:
    """The name of a topic of one partition."""
    return f"{own}one"


@pytest.fixture
def claims(own: str) -> str:
    """The name of a topic of four partitions."""
    return f"{own}claims"


@pytest.fixture
def log(reopen: Opener, one: str, claims: str) -> Log:
    """An empty log with these two topics."""
    log = reopen()
    log.create(claims, TopicPlan(4))
    log.create(one, TopicPlan(1))
    return log


def entries(*values: bytes) -> list[Entry]:
    return [Entry("acme/alice", value) for value in values]


def values(log: Log, topic: str, partition: int = 0, offset: int = 0) -> list[bytes]:
    return [record.value for record in log.read(topic, partition, offset, 1000)]


def test_a_topic_keeps_the_partition_count_it_was_made_with(log: Log, claims: str) -> None:
    log.create(claims, TopicPlan(16))
    assert log.partitions(claims) == 4


def test_a_topic_needs_a_partition(log: Log, own: str) -> None:
    with pytest.raises(InvalidInput, match="partitions: is 0"):
        log.create(f"{own}none", TopicPlan(0))


def test_topics_are_listed_sorted(log: Log, own: str, one: str, claims: str) -> None:
    log.create(f"{own}changes", TopicPlan(1))

    listed = log.topics()

    assert [topic for topic in listed if topic.startswith(own)] == [f"{own}changes", claims, one]
    assert listed == sorted(listed)


@pytest.mark.parametrize(
    "use",
    [
        lambda log, one: log.partitions("unknown"),
        lambda log, one: log.append("unknown", entries(b"a"), MAY),
        lambda log, one: log.read("unknown", 0, 0, 1),
        lambda log, one: log.read(one, 1, 0, 1),
        lambda log, one: log.ends("unknown"),
        lambda log, one: log.committed("group", "unknown"),
        lambda log, one: log.commit("group", one, {1: 0}),
        lambda log, one: log.forget(one, -1, [0]),
        lambda log, one: log.drop_before("unknown", MAY),
    ],
)
def test_an_unknown_topic_or_partition_is_not_found(log: Log, one: str, use: Callable[[Log, str], object]) -> None:
    with pytest.raises(NotFound, match="topic"):
        use(log, one)


def test_offsets_are_dense_from_zero_in_each_partition(log: Log, claims: str) -> None:
    places = log.append(claims, [Entry(f"acme/{number}", b"") for number in range(200)], MAY)

    for partition in range(4):
        offsets = [offset for place, offset in places if place == partition]
        assert offsets == list(range(len(offsets)))
        assert log.ends(claims)[partition] == len(offsets) > 0


def test_a_key_goes_where_the_shared_hash_sends_it(log: Log, claims: str) -> None:
    places = log.append(claims, [Entry(f"acme/{number}", b"") for number in range(50)], MAY)
    assert [partition for partition, _ in places] == [partition_of(f"acme/{number}", 4) for number in range(50)]


def test_what_is_appended_is_read_in_order_with_key_headers_and_time(log: Log, one: str) -> None:
    log.append(one, [Entry("acme/ëva", b"\x00\xff", {"trace": "é"}), Entry("acme/bob", b"")], MAY)

    assert log.read(one, 0, 0, 10) == [
        Record(one, 0, 0, "acme/ëva", b"\x00\xff", MAY, {"trace": "é"}),
        Record(one, 0, 1, "acme/bob", b"", MAY, {}),
    ]


def test_times_are_kept_to_the_millisecond(log: Log, one: str) -> None:
    log.append(one, entries(b"a"), MAY + 7 * MILLISECOND)
    assert log.read(one, 0, 0, 1)[0].at == MAY + 7 * MILLISECOND


def test_reading_begins_at_the_offset_and_stops_at_the_limit(log: Log, one: str) -> None:
    log.append(one, entries(b"a", b"b", b"c", b"d"), MAY)
    assert [record.offset for record in log.read(one, 0, 1, 2)] == [1, 2]


def test_reading_goes_on_where_it_ended_and_begins_again_at_will(log: Log, one: str) -> None:
    log.append(one, entries(b"a", b"b", b"c", b"d"), MAY)

    pages = [[record.value for record in log.read(one, 0, offset, 2)] for offset in (0, 2, 0, 3)]

    assert pages == [[b"a", b"b"], [b"c", b"d"], [b"a", b"b"], [b"d"]]


def test_there_is_nothing_at_the_end(log: Log, one: str) -> None:
    log.append(one, entries(b"a"), MAY)
    assert log.read(one, 0, 1, 10) == []


def test_what_comes_after_the_end_was_read_is_read_next(log: Log, one: str) -> None:
    log.append(one, entries(b"a"), MAY)
    assert (values(log, one), values(log, one, offset=1)) == ([b"a"], [])
    log.append(one, entries(b"b"), MAY)
    assert values(log, one, offset=1) == [b"b"]


def test_appending_nothing_is_allowed(log: Log, one: str) -> None:
    assert log.append(one, [], MAY) == []


def test_a_group_starts_at_zero_everywhere(log: Log, own: str, claims: str) -> None:
    assert log.committed(f"{own}shards", claims) == {0: 0, 1: 0, 2: 0, 3: 0}


def test_committed_offsets_are_kept_by_group_and_topic(log: Log, own: str, one: str, claims: str) -> None:
    log.commit(f"{own}shards", claims, {0: 7, 3: 2})

    assert log.committed(f"{own}shards", claims) == {0: 7, 1: 0, 2: 0, 3: 2}
    assert log.committed(f"{own}indexers", claims) == {0: 0, 1: 0, 2: 0, 3: 0}
    assert log.committed(f"{own}shards", one) == {0: 0}


def test_going_back_replays(log: Log, own: str, one: str) -> None:
    log.append(one, entries(b"a", b"b"), MAY)
    log.commit(f"{own}shards", one, {0: 2})
    log.commit(f"{own}shards", one, {0: 0})
    assert values(log, one, offset=log.committed(f"{own}shards", one)[0]) == [b"a", b"b"]


def test_a_negative_offset_is_refused(log: Log, own: str, one: str) -> None:
    with pytest.raises(InvalidInput, match=r"offsets\[0\]: is -1"):
        log.commit(f"{own}shards", one, {0: -1})


def test_a_forgotten_record_is_skipped_and_the_others_stay_in_place(log: Log, one: str) -> None:
    log.append(one, entries(b"a", b"b", b"c"), MAY)
    log.forget(one, 0, [1])

    assert [(record.offset, record.value) for record in log.read(one, 0, 0, 2)] == [(0, b"a"), (2, b"c")]
    assert log.append(one, entries(b"d"), MAY) == [(0, 3)]


def test_what_was_forgotten_is_skipped_by_those_who_had_the_log_open(log: Log, reopen: Opener, one: str) -> None:
    log.append(one, entries(b"a", b"b", b"c"), MAY)
    other = reopen()
    assert values(other, one) == [b"a", b"b", b"c"]

    log.forget(one, 0, [0])
    assert values(other, one) == [b"b", b"c"]
    log.forget(one, 0, [1])
    assert values(other, one) == [b"c"]


def test_forgetting_again_or_what_is_not_there_does_nothing(log: Log, one: str) -> None:
    log.append(one, entries(b"a", b"b"), MAY)
    log.forget(one, 0, [0])
    log.forget(one, 0, [0, 99])
    assert values(log, one) == [b"b"]


def test_forgetting_makes_no_topic_that_is_listed(log: Log, one: str) -> None:
    log.append(one, entries(b"a"), MAY)
    before = log.topics()
    log.forget(one, 0, [0])
    assert log.topics() == before


def test_a_record_is_replaced_by_another_one_that_keeps_its_time(log: Log, one: str) -> None:
    log.append(one, [Entry("a", b"a1a2", {"n": "1"})], MAY)
    log.append(one, entries(b"b", b"c"), MAY + 60 * MILLISECOND)
    log.forget(one, 0, [1])

    log.replace([replace(log.read(one, 0, 0, 1)[0], key="a2", value=b"a2")])

    left = {record.value: record for record in log.read(one, 0, 0, 9)}
    assert left.keys() == {b"a2", b"c"}
    assert (left[b"a2"].key, left[b"a2"].at, left[b"a2"].headers) == ("a2", MAY, {"n": "1"})


def test_replacing_nothing_is_allowed(log: Log, one: str) -> None:
    log.append(one, entries(b"a"), MAY)
    log.replace([])
    assert values(log, one) == [b"a"]


def test_retaining_drops_only_what_was_accepted_before_the_time(log: Log, one: str, claims: str) -> None:
    log.append(one, entries(b"may"), MAY)
    log.append(one, entries(b"june"), MAY + MILLISECOND)
    log.append(claims, entries(b"other topic"), MAY)

    assert log.drop_before(one, MAY + MILLISECOND) == 1

    assert [(record.offset, record.value) for record in log.read(one, 0, 0, 10)] == [(1, b"june")]
    assert sum(log.ends(claims).values()) == 1


def test_retaining_twice_drops_nothing_more(log: Log, claims: str) -> None:
    log.append(claims, [Entry(f"acme/{number}", b"") for number in range(20)], MAY)
    assert log.drop_before(claims, MAY + MILLISECOND) == 20
    assert log.drop_before(claims, MAY + MILLISECOND) == 0


def test_offsets_go_on_after_everything_was_dropped(log: Log, reopen: Opener, one: str) -> None:
    log.append(one, entries(b"a", b"b"), MAY)
    assert log.drop_before(one, MAY + MILLISECOND) == 2
    assert reopen().append(one, entries(b"c"), MAY) == [(0, 2)]
    assert values(log, one) == [b"c"]


def test_everything_is_there_after_a_restart(log: Log, reopen: Opener, own: str, one: str) -> None:
    log.append(one, entries(b"a", b"b"), MAY)
    log.forget(one, 0, [0])
    log.commit(f"{own}shards", one, {0: 1})
    log.close()

    again = reopen()

    assert values(again, one) == [b"b"]
    assert again.ends(one) == {0: 2}
    assert again.committed(f"{own}shards", one) == {0: 1}


def test_threads_appending_at_once_lose_nothing_and_share_no_offset(log: Log, claims: str) -> None:
    def append(writer: int) -> list[tuple[int, int]]:
        return [
            place
            for turn in range(10)
            for place in log.append(claims, [Entry(f"{writer}-{turn}-{at}", b"x") for at in range(10)], MAY)
        ]

    with ThreadPoolExecutor(8) as pool:
        places = [place for part in pool.map(append, range(8)) for place in part]

    assert len(set(places)) == 800
    assert sum(log.ends(claims).values()) == 800


def test_threads_reading_at_once_each_read_everything(log: Log, claims: str) -> None:
    log.append(claims, [Entry(f"acme/{number}", b"%d" % number) for number in range(200)], MAY)

    def read(_: int) -> set[bytes]:
        return {value for partition in range(4) for value in values(log, claims, partition)}

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(read, range(12))) == [{b"%d" % number for number in range(200)}] * 12


def test_entries_of_one_key_stay_in_order_under_concurrent_writers(log: Log, claims: str) -> None:
    def append(writer: int) -> None:
        for turn in range(20):
            log.append(claims, [Entry(f"writer-{writer}", f"{writer}:{turn}".encode())], MAY)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(4)))

    for writer in range(4):
        partition = partition_of(f"writer-{writer}", 4)
        written = [value for value in values(log, claims, partition) if value.startswith(b"%d:" % writer)]
        assert written == [b"%d:%d" % (writer, turn) for turn in range(20)]


@pytest.mark.parametrize(
    "use",
    [
        lambda log, one: log.topics(),
        lambda log, one: log.append(one, entries(b"a"), MAY),
        lambda log, one: log.read(one, 0, 0, 1),
        lambda log, one: log.ends(one),
    ],
)
def test_a_closed_log_says_so(log: Log, one: str, use: Callable[[Log, str], object]) -> None:
    log.append(one, entries(b"a"), MAY)
    log.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        use(log, one)
