"""What only the embedded graph store does: its file, and the processes that share it."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.errors import NewerSchema, StoreUnavailable
from schemas.evidence import Evidence
from schemas.slot import Decision
from stores.sqlite.graph import SqliteGraph

ROOT = Path(__file__).parents[2]


RIVAL = """
import sys
from schemas.entity import Entity
from schemas.errors import VersionConflict
from schemas.slot import Decision, Slot
from stores.sqlite.graph import SqliteGraph

store = SqliteGraph(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
try:
    slot = Slot(id="s1", bank="acme", entity=Entity("Report template", "rule"), version=2)
    store.apply([Decision(slot=slot, expected_version=1)])
    print("won")
except VersionConflict:
    print("lost")
store.close()
"""


def test_of_two_processes_at_one_version_exactly_one_succeeds(
    tmp_path: Path, decision: Callable[..., Decision]
) -> None:
    path = tmp_path / "graph.db"
    store = SqliteGraph(path)
    store.apply([decision()])
    rivals = [
        subprocess.Popen(
            [sys.executable, "-c", RIVAL, str(path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    assert [rival.stdout.readline() for rival in rivals if rival.stdout] == ["ready\n", "ready\n"]

    for rival in rivals:
        assert rival.stdin
        rival.stdin.write("go\n")
        rival.stdin.flush()

    assert sorted(rival.communicate()[0] for rival in rivals) == ["lost\n", "won\n"]
    assert store.slots("acme", ["s1"])["s1"].version == 2
    store.close()


def test_a_file_of_a_newer_release_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    SqliteGraph(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(NewerSchema, match=r"graph\.db has schema version 99"):
        SqliteGraph(path)

    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    path.write_bytes(b"this is a text file, not a database" * 100)

    with pytest.raises(StoreUnavailable, match=r"graph\.db"):
        SqliteGraph(path)


def test_a_failing_statement_is_unavailable_and_the_next_call_works(
    tmp_path: Path, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    store = SqliteGraph(tmp_path / "graph.db")
    with sqlite3.connect(tmp_path / "graph.db") as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON aliases BEGIN SELECT RAISE(ABORT, 'disk full'); END")
    connection.close()

    with pytest.raises(StoreUnavailable, match="disk full"):
        store.apply([decision(aliases={"b1": "b2"}, adds=(evidence("e1"),))])

    assert store.banks() == []
    store.apply([decision(adds=(evidence("e1"),))])
    assert store.counts("acme")["evidence"] == 1
    store.close()


def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    store = SqliteGraph(str(tmp_path / "deep" / "er" / "graph.db"))

    assert store.banks() == []
    store.close()
