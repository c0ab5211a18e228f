"""A graph, an index or a log that is an older copy than the others: the doctor says so, and reads the log again."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
from restored import EARLY, LATE, evidence, lose

from beliefmesh.memory import Memory
from schemas.entity import entity_key
from schemas.evidence import Evidence
from schemas.wire import pack
from stores.ports import Entry


def told_again(
    open_memory: Callable[..., Memory], tmp_path: Path, name: str
) -> tuple[Memory, str, dict[str, Evidence]]:
    """A memory in which one file is as it was before the later half was told; what it was with both halves."""
    with open_memory() as memory:
        memory.retain(EARLY)
    shutil.copytree(tmp_path / "mesh", tmp_path / "copy")
    with open_memory() as memory:
        memory.retain(LATE)
        whole, pieces = memory.state_hash(), evidence(memory)
    for path in (tmp_path / "mesh").glob(f"{name}*"):
        path.unlink()
    for path in (tmp_path / "copy").glob(f"{name}*"):
        shutil.copy(path, tmp_path / "mesh" / path.name)
    return open_memory(), whole, pieces


def test_a_graph_of_an_older_copy_is_brought_up_from_the_log_to_the_last_bit(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    memory, whole, pieces = told_again(open_memory, tmp_path, "graph.db")
    assert memory.state_hash() != whole
    logged = memory.home.log.ends("observations")

    report = memory.doctor()
    assert sorted(one for one in report.differences if "evidence" in one) == [
        "observation o7 of bank default has no evidence",
        "observation o8 of bank default has no evidence",
    ]
    assert memory.doctor(fix=True).healthy

    assert memory.doctor().differences == ()
    assert memory.state_hash() == whole
    assert evidence(memory) == pieces
    assert memory.home.log.ends("observations") == logged
    assert {one.belief.entity.name for one in memory.recall("what is green?").found} >= {"barn"}


def test_a_graph_that_was_emptied_is_filled_from_the_log(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.retain([*EARLY, *LATE])
        whole = memory.state_hash()
    for path in (tmp_path / "mesh").glob("graph.db*"):
        path.unlink()
    memory = open_memory()

    assert len(memory.doctor().differences) >= len(EARLY) + len(LATE)
    assert memory.doctor(fix=True).healthy
    assert memory.state_hash() == whole


def test_evidence_that_is_missing_in_part_is_read_again_as_it_was_accepted(memory: Memory) -> None:
    memory.retain([*EARLY, *LATE])
    whole, pieces = memory.state_hash(), evidence(memory)
    lose(memory, "o7", ("colour",))
    assert memory.state_hash() != whole

    report = memory.doctor()
    assert report.differences[0] == "observation o7 of bank default lacks 1 of its pieces of evidence"
    assert memory.doctor(fix=True).healthy

    assert memory.doctor().differences == ()
    assert memory.state_hash() == whole
    assert evidence(memory) == pieces


def test_what_reading_again_decides_is_announced(memory: Memory) -> None:
    memory.retain([*EARLY, *LATE])
    lose(memory, "o7", ("width",))
    before = sum(memory.home.log.ends("changes").values())

    memory.doctor(fix=True)

    assert sum(memory.home.log.ends("changes").values()) > before


def test_claims_of_an_earlier_reading_are_not_missed_where_the_graph_has_all_of_todays(memory: Memory) -> None:
    """As after a rebuild by a release that reads less in an observation: the topic of claims still has the rest."""
    memory.retain([*EARLY, *LATE])
    piece = msgspec.structs.replace(_of(memory, "o8"), id="e" + "0" * 32, attribute="age")
    entry = Entry(entity_key("default", piece.entity), pack(piece, piece.id))
    memory.home.log.append("claims", [entry], memory.home.clock())
    memory.home.log.commit("beliefmesh", "claims", memory.home.log.ends("claims"))

    assert memory.doctor().differences == ()


def test_a_log_of_an_older_copy_is_told_and_nothing_is_deleted(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    memory, whole, _ = told_again(open_memory, tmp_path, "log.db")

    report = memory.doctor(fix=True)

    assert (report.differences, report.healthy) == ((), True)
    (note,) = report.notes
    assert note.startswith("bank default holds 3 pieces of evidence of 2 observations that the log does not have")
    assert "a rebuild would be without them" in note
    assert memory.state_hash() == whole


def test_an_index_of_an_older_copy_is_brought_up(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.retain(EARLY)
    shutil.copytree(tmp_path / "mesh" / "index", tmp_path / "index")
    with open_memory() as memory:
        memory.retain(LATE)
    shutil.rmtree(tmp_path / "mesh" / "index")
    shutil.copytree(tmp_path / "index", tmp_path / "mesh" / "index")
    memory = open_memory()

    differences = memory.doctor().differences
    assert any("is not in the index" in one for one in differences)
    assert any("at version 1, not 2" in one for one in differences)
    assert memory.doctor(fix=True).healthy
    assert memory.doctor().differences == ()


def test_an_index_with_nothing_in_it_comes_with_what_that_means(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    with open_memory() as memory:
        memory.retain(EARLY)
    with sqlite3.connect(tmp_path / "mesh" / "index" / "index.db") as connection:
        connection.execute("UPDATE facts SET value = 'another' WHERE name = 'model_id'")
    connection.close()

    (note,) = open_memory().doctor().notes
    assert note.startswith("the index has none of the 3 beliefs of bank default")
    assert "`beliefmesh doctor --fix`" in note


def _of(memory: Memory, observation: str) -> Evidence:
    return next(piece for piece in evidence(memory).values() if piece.observation_id == observation)
