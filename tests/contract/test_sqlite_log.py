"""What the embedded log promises beyond the port: files, processes, and bytes that are gone for good."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import NewerSchema, StoreUnavailable
from stores.ports import Entry, Record, TopicPlan
from stores.sqlite.log import SqliteLog

ROOT = Path(__file__).parents[2]
MAY = 1_714_521_600_000_000


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    """An empty log with the topic `one` of one partition."""
    opened = SqliteLog(tmp_path / "log.db")
    opened.create("one", TopicPlan(1))
    yield opened
    opened.close()


def entries(*values: bytes) -> list[Entry]:
    return [Entry("acme/alice", value) for value in values]


def values(log: SqliteLog) -> list[bytes]:
    return [record.value for record in log.read("one", 0, 0, 1000)]


def test_topics_are_exactly_those_that_were_made(log: SqliteLog) -> None:
    log.create("changes", TopicPlan(4))
    assert log.topics() == ["changes", "one"]


def test_times_are_kept_to_the_microsecond(log: SqliteLog) -> None:
    log.append("one", entries(b"a"), MAY + 1)
    assert log.read("one", 0, 0, 1)[0].at == MAY + 1


def test_a_failed_append_adds_nothing(log: SqliteLog) -> None:
    with pytest.raises(StoreUnavailable):
        log.append("one", [Entry("k", b"a"), Entry("k", {})], MAY)  # type: ignore[arg-type]

    assert log.ends("one") == {0: 0}
    assert log.append("one", entries(b"b"), MAY) == [(0, 0)]


def test_forgotten_bytes_keys_and_headers_are_in_no_file(log: SqliteLog, tmp_path: Path) -> None:
    log.append("one", [Entry("key-canary-771", b"value-canary-771" * 1000, {"note": "header-canary-771"})], MAY)
    log.append("one", entries(b"stays"), MAY)
    assert b"canary-771" in content(tmp_path)

    log.forget("one", 0, [0])

    assert b"canary-771" not in content(tmp_path)
    assert values(log) == [b"stays"]


def test_a_replaced_record_stays_in_its_place_and_its_old_bytes_are_in_no_file(log: SqliteLog, tmp_path: Path) -> None:
    log.append("one", [Entry("key-canary-771", b"value-canary-771" * 1000, {"note": "header-canary-771"})], MAY)
    log.append("one", entries(b"forgotten", b"stays"), MAY)
    log.forget("one", 0, [1])

    log.replace([Record("one", 0, 0, "k", b"shorter", MAY), Record("one", 0, 1, "k", b"told again", MAY)])

    assert b"canary-771" not in content(tmp_path)
    assert [(record.offset, record.value) for record in log.read("one", 0, 0, 9)] == [(0, b"shorter"), (2, b"stays")]


def test_dropped_bytes_are_in_no_file(log: SqliteLog, tmp_path: Path) -> None:
    log.append("one", entries(b"canary-may"), MAY)
    log.append("one", entries(b"june"), MAY + 1)

    assert log.drop_before("one", MAY + 1) == 1

    assert values(log) == [b"june"]
    assert b"canary-may" not in content(tmp_path)


def test_processes_open_and_append_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from stores.sqlite.log import SqliteLog; from stores.ports import Entry, TopicPlan\n"
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
        "import os, sys; from stores.sqlite.log import SqliteLog; from stores.ports import Entry, TopicPlan\n"
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


def content(folder: Path) -> bytes:
    """The bytes of every file below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
