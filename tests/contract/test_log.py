"""What every log must do, sentence by sentence of the port; each adapter is a parameter."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import InvalidInput, NewerSchema, NotFound, StoreUnavailable
from schemas.routing import partition_of
from stores.ports import Entry, Log, Record, TopicPlan
from stores.sqlite_log import SqliteLog

ROOT = Path(__file__).parents[2]
MAY = 1_714_521_600_000_000

Opener = Callable[[], Log]


@pytest.fixture(params=["sqlite"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens one and the same log again and again, as another process would."""
    opened: list[Log] = []

    def opener() -> Log:
        opened.append(SqliteLog(tmp_path / "log.db"))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


@pytest.fixture
def log(reopen: Opener) -> Log:
    """An empty log with the topic `claims` of four partitions and `one` of one."""
    log = reopen()
    log.create("claims", TopicPlan(4))
    log.create("one", TopicPlan(1))
    return log


def entries(*values: bytes) -> list[Entry]:
    return [Entry("acme/alice", value) for value in values]


def values(log: Log, topic: str = "one", partition: int = 0, offset: int = 0) -> list[bytes]:
    return [record.value for record in log.read(topic, partition, offset, 1000)]


def test_a_topic_keeps_the_partition_count_it_was_made_with(log: Log) -> None:
    log.create("claims", TopicPlan(16))
    assert log.partitions("claims") == 4


def test_a_topic_needs_a_partition(log: Log) -> None:
    with pytest.raises(InvalidInput, match="partitions: is 0"):
        log.create("none", TopicPlan(0))


def test_topics_are_listed_sorted(log: Log) -> None:
    log.create("changes", TopicPlan(1))
    assert log.topics() == ["changes", "claims", "one"]


@pytest.mark.parametrize(
    "use",
    [
        lambda log: log.partitions("unknown"),
        lambda log: log.append("unknown", entries(b"a"), MAY),
        lambda log: log.read("unknown", 0, 0, 1),
        lambda log: log.read("one", 1, 0, 1),
        lambda log: log.ends("unknown"),
        lambda log: log.committed("group", "unknown"),
        lambda log: log.commit("group", "one", {1: 0}),
        lambda log: log.forget("one", -1, [0]),
        lambda log: log.drop_before("unknown", MAY),
    ],
)
def test_an_unknown_topic_or_partition_is_not_found(log: Log, use: Callable[[Log], object]) -> None:
    with pytest.raises(NotFound, match="topic"):
        use(log)


def test_offsets_are_dense_from_zero_in_each_partition(log: Log) -> None:
    places = log.append("claims", [Entry(f"acme/{number}", b"") for number in range(200)], MAY)

    for partition in range(4):
        offsets = [offset for place, offset in places if place == partition]
        assert offsets == list(range(len(offsets)))
        assert log.ends("claims")[partition] == len(offsets) > 0


def test_a_key_goes_where_the_shared_hash_sends_it(log: Log) -> None:
    places = log.append("claims", [Entry(f"acme/{number}", b"") for number in range(50)], MAY)
    assert [partition for partition, _ in places] == [partition_of(f"acme/{number}", 4) for number in range(50)]


def test_what_is_appended_is_read_in_order_with_key_headers_and_time(log: Log) -> None:
    log.append("one", [Entry("acme/ëva", b"\x00\xff", {"trace": "é"}), Entry("acme/bob", b"")], MAY)

    assert log.read("one", 0, 0, 10) == [
        Record("one", 0, 0, "acme/ëva", b"\x00\xff", MAY, {"trace": "é"}),
        Record("one", 0, 1, "acme/bob", b"", MAY, {}),
    ]


def test_reading_begins_at_the_offset_and_stops_at_the_limit(log: Log) -> None:
    log.append("one", entries(b"a", b"b", b"c", b"d"), MAY)
    assert [record.offset for record in log.read("one", 0, 1, 2)] == [1, 2]


def test_there_is_nothing_at_the_end(log: Log) -> None:
    log.append("one", entries(b"a"), MAY)
    assert log.read("one", 0, 1, 10) == []


def test_appending_nothing_is_allowed(log: Log) -> None:
    assert log.append("one", [], MAY) == []


def test_a_failed_append_adds_nothing(log: Log) -> None:
    with pytest.raises(StoreUnavailable):
        log.append("one", [Entry("k", b"a"), Entry("k", {})], MAY)  # type: ignore[arg-type]

    assert log.ends("one") == {0: 0}
    assert log.append("one", entries(b"b"), MAY) == [(0, 0)]


def test_a_group_starts_at_zero_everywhere(log: Log) -> None:
    assert log.committed("shards", "claims") == {0: 0, 1: 0, 2: 0, 3: 0}


def test_committed_offsets_are_kept_by_group_and_topic(log: Log) -> None:
    log.commit("shards", "claims", {0: 7, 3: 2})

    assert log.committed("shards", "claims") == {0: 7, 1: 0, 2: 0, 3: 2}
    assert log.committed("indexers", "claims") == {0: 0, 1: 0, 2: 0, 3: 0}
    assert log.committed("shards", "one") == {0: 0}


def test_going_back_replays(log: Log) -> None:
    log.append("one", entries(b"a", b"b"), MAY)
    log.commit("shards", "one", {0: 2})
    log.commit("shards", "one", {0: 0})
    assert values(log, offset=log.committed("shards", "one")[0]) == [b"a", b"b"]


def test_a_negative_offset_is_refused(log: Log) -> None:
    with pytest.raises(InvalidInput, match=r"offsets\[0\]: is -1"):
        log.commit("shards", "one", {0: -1})


def test_a_forgotten_record_is_skipped_and_the_others_stay_in_place(log: Log) -> None:
    log.append("one", entries(b"a", b"b", b"c"), MAY)
    log.forget("one", 0, [1])

    assert [(record.offset, record.value) for record in log.read("one", 0, 0, 2)] == [(0, b"a"), (2, b"c")]
    assert log.append("one", entries(b"d"), MAY) == [(0, 3)]


def test_forgetting_again_or_what_is_not_there_does_nothing(log: Log) -> None:
    log.append("one", entries(b"a", b"b"), MAY)
    log.forget("one", 0, [0])
    log.forget("one", 0, [0, 99])
    assert values(log) == [b"b"]


def test_forgotten_bytes_keys_and_headers_are_in_no_file(log: Log, tmp_path: Path) -> None:
    log.append("one", [Entry("key-canary-771", b"value-canary-771" * 1000, {"note": "header-canary-771"})], MAY)
    log.append("one", entries(b"stays"), MAY)
    assert b"canary-771" in content(tmp_path)

    log.forget("one", 0, [0])

    assert b"canary-771" not in content(tmp_path)
    assert values(log) == [b"stays"]


def test_retaining_drops_only_what_was_accepted_before_the_time(log: Log, tmp_path: Path) -> None:
    log.append("one", entries(b"canary-may"), MAY)
    log.append("one", entries(b"june"), MAY + 1)
    log.append("claims", entries(b"other topic"), MAY)

    assert log.drop_before("one", MAY + 1) == 1

    assert [(record.offset, record.value) for record in log.read("one", 0, 0, 10)] == [(1, b"june")]
    assert sum(log.ends("claims").values()) == 1
    assert b"canary-may" not in content(tmp_path)


def test_offsets_go_on_after_everything_was_dropped(log: Log, reopen: Opener) -> None:
    log.append("one", entries(b"a", b"b"), MAY)
    assert log.drop_before("one", MAY + 1) == 2
    assert reopen().append("one", entries(b"c"), MAY) == [(0, 2)]


def test_everything_is_there_after_a_restart(log: Log, reopen: Opener) -> None:
    log.append("one", entries(b"a", b"b"), MAY)
    log.forget("one", 0, [0])
    log.commit("shards", "one", {0: 1})
    log.close()

    again = reopen()

    assert values(again) == [b"b"]
    assert again.ends("one") == {0: 2}
    assert again.committed("shards", "one") == {0: 1}


def test_threads_appending_at_once_lose_nothing_and_share_no_offset(log: Log) -> None:
    def append(writer: int) -> list[tuple[int, int]]:
        return [
            place
            for turn in range(10)
            for place in log.append("claims", [Entry(f"{writer}-{turn}-{at}", b"x") for at in range(10)], MAY)
        ]

    with ThreadPoolExecutor(8) as pool:
        places = [place for part in pool.map(append, range(8)) for place in part]

    assert len(set(places)) == 800
    assert sum(log.ends("claims").values()) == 800


def test_entries_of_one_key_stay_in_order_under_concurrent_writers(log: Log) -> None:
    def append(writer: int) -> None:
        for turn in range(20):
            log.append("claims", [Entry(f"writer-{writer}", f"{writer}:{turn}".encode())], MAY)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(4)))

    for writer in range(4):
        partition = partition_of(f"writer-{writer}", 4)
        own = [value for value in values(log, "claims", partition) if value.startswith(b"%d:" % writer)]
        assert own == [b"%d:%d" % (writer, turn) for turn in range(20)]


def test_processes_open_and_append_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from stores.sqlite_log import SqliteLog; from stores.ports import Entry, TopicPlan\n"
        "log = SqliteLog(sys.argv[1]); log.create('one', TopicPlan(1))\n"
        "for turn in range(20): log.append('one', [Entry('k', sys.argv[2].encode())] * 5, 1)\n"
        "log.close()"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "log.db"), str(number)], cwd=ROOT)
        for number in range(4)
    ]
    assert [worker.wait(120) for worker in workers] == [0, 0, 0, 0]

    log = SqliteLog(tmp_path / "log.db")
    records = log.read("one", 0, 0, 1000)
    log.close()
    assert [record.offset for record in records] == list(range(400))
    assert {record.value for record in records} == {b"0", b"1", b"2", b"3"}


def test_what_was_acknowledged_survives_a_killed_process(tmp_path: Path) -> None:
    script = (
        "import os, sys; from stores.sqlite_log import SqliteLog; from stores.ports import Entry, TopicPlan\n"
        "log = SqliteLog(sys.argv[1]); log.create('one', TopicPlan(1))\n"
        "log.append('one', [Entry('k', b'acknowledged')], 1); log.commit('g', 'one', {0: 1})\n"
        "os.kill(os.getpid(), 9)"
    )
    died = subprocess.run([sys.executable, "-c", script, str(tmp_path / "log.db")], cwd=ROOT, check=False)
    assert died.returncode == -9

    log = SqliteLog(tmp_path / "log.db")
    found = values(log), log.committed("g", "one")
    log.close()
    assert found == ([b"acknowledged"], {0: 1})


def test_a_file_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    SqliteLog(tmp_path / "log.db").close()
    connection = sqlite3.connect(tmp_path / "log.db")
    with connection:
        connection.execute("INSERT INTO log_schema (version) VALUES (99)")
    connection.close()

    with pytest.raises(NewerSchema, match="schema 99"):
        SqliteLog(tmp_path / "log.db")


def test_a_file_that_is_no_database_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(StoreUnavailable, match=r"log\.db"):
        SqliteLog(tmp_path / "log.db")


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable):
        SqliteLog(tmp_path / "file" / "log.db")


def test_a_closed_log_says_so(log: Log) -> None:
    log.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        log.topics()


def content(folder: Path) -> bytes:
    """The bytes of every file below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
