"""What only the embedded graph store does: its file, and the processes that share it."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from schemas.digest import wordless
from schemas.errors import NewerSchema, StoreUnavailable
from schemas.evidence import Evidence
from schemas.slot import Decision
from schemas.wire import dump
from stores.sqlite import file, schema
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


def test_a_file_from_before_digests_is_read_and_takes_voices(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    path = tmp_path / "graph.db"
    old, voice = evidence("e1"), wordless(evidence("e2"))
    with monkeypatch.context() as before:
        before.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:3])
        before.setattr(file, "MIGRATIONS", schema.MIGRATIONS[:3])
        SqliteGraph(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO banks (bank) VALUES ('acme')")
        connection.execute("INSERT INTO entities VALUES ('acme', 'n1', 'report template', 'Report template', 'rule')")
        body = dump(decision(adds=(old,)).slot)
        connection.execute("INSERT INTO slots VALUES (1, 'acme', 's1', 'n1', 1, NULL, ?)", (body,))
        rest = (dump(msgspec.structs.replace(old, ingested_at=0)),)
        connection.execute(
            "INSERT INTO evidence (bank, id, slot, observation_id, session, turn, effective_at, ingested_at, body) "
            "VALUES ('acme', 'e1', 1, 'o1', '', 0, ?, ?, ?)",
            (old.effective_at, old.ingested_at, *rest),
        )
    connection.close()

    store = SqliteGraph(path)

    assert store.load_slots("acme", ["s1"])["s1"].evidence == (old,)
    store.apply([decision(expected=1, adds=(voice,))])
    assert store.load_slots("acme", ["s1"])["s1"].evidence == (old, voice)
    store.close()


def test_what_voices_share_is_kept_once_and_goes_with_the_last(
    tmp_path: Path, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    whole = [evidence(f"e{n}", observation=f"o{n}", statement=f"Said by {n}", at=n) for n in range(15)]
    store = SqliteGraph(tmp_path / "graph.db")
    store.apply([decision(adds=tuple(whole))])
    before = _bytes_of_evidence(tmp_path)

    store.apply([decision(expected=1, adds=tuple(map(wordless, whole)), removes=tuple(piece.id for piece in whole))])
    digests, after = _bytes_of_evidence(tmp_path)
    assert digests == 1
    assert after < 0.45 * before[1]

    store.apply([decision(expected=2, adds=tuple(whole))])
    assert _bytes_of_evidence(tmp_path) == before
    store.close()


def _bytes_of_evidence(folder: Path) -> tuple[int, int]:
    """How many digests there are, and what they and all evidence take."""
    with sqlite3.connect(folder / "graph.db") as connection:
        count, shared = connection.execute("SELECT count(*), coalesce(sum(length(body)), 0) FROM digests").fetchone()
        (own,) = connection.execute("SELECT sum(length(body)) FROM evidence").fetchone()
    connection.close()
    return count, shared + own


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
