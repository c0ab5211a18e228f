"""Whatever is lost between log, graph and index is found by the doctor and repaired from what stands before it."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.shard import EntityShard
from beliefmesh.memory import Memory
from beliefs.attest import attest
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.observation import Observation, Source, observation_key
from schemas.slot import slot_id
from schemas.wire import pack
from stores.ports import Entry

DOOR = slot_id("default", Entity("door"), "colour")


def tell(memory: Memory, *names: str) -> None:
    memory.retain(
        [{"entity": name, "agent": "ann", "claims": [{"attribute": "colour", "value": "red"}]} for name in names]
    )


def found(memory: Memory) -> set[str]:
    return {one.belief.entity.name for one in memory.recall("colour", attribute="colour", limit=50).found}


def repaired(memory: Memory) -> tuple[str, ...]:
    """What the doctor finds, repairs, and then finds no more."""
    before = memory.doctor()
    assert before.differences
    assert not before.healthy
    report = memory.doctor(fix=True)
    assert report.healthy
    assert set(report.fixed) == set(report.differences)
    after = memory.doctor()
    assert (after.differences, after.healthy) == ((), True)
    return before.differences


def test_a_mesh_in_order_is_healthy_and_counted(memory: Memory) -> None:
    tell(memory, "door", "gate")
    report = memory.doctor()
    assert (report.observations, report.slots, report.beliefs, report.differences) == (2, 2, 2, ())
    assert report.healthy


def test_rows_missing_from_the_index_are_found_and_made_again(memory: Memory) -> None:
    tell(memory, "door", "gate", "mill")
    assert memory.home.index is not None
    lost = memory.home.graph.slots("default", [DOOR])[DOOR].beliefs[0].id
    memory.home.index.delete("default", [lost])
    assert found(memory) == {"gate", "mill"}

    (difference,) = repaired(memory)

    assert difference == f"belief {lost} of bank default is not in the index"
    assert found(memory) == {"door", "gate", "mill"}


def test_a_whole_index_that_was_deleted_is_made_again(open_memory, tmp_path: Path) -> None:
    memory = open_memory()
    tell(memory, "door", "gate")
    memory.close()
    shutil.rmtree(tmp_path / "mesh" / "index")
    again = open_memory()
    assert len(repaired(again)) == 2
    assert found(again) == {"door", "gate"}


def test_an_index_of_another_model_is_made_again(open_memory) -> None:
    memory = open_memory(embedder="hashing:256")
    tell(memory, "door", "gate")
    memory.close()
    again = open_memory(embedder="hashing:64")
    repaired(again)
    assert {one.belief.entity.name for one in again.recall("colour", retrievers=("semantic",)).found} == {
        "door",
        "gate",
    }


def test_an_index_entry_of_an_older_version_is_brought_up(memory: Memory) -> None:
    tell(memory, "door")
    shard = EntityShard(memory.home.graph)
    shard.apply(list(attest(sighting("o2", "door", "blue"), memory.home.clock())), memory.home.clock())
    append(memory, sighting("o2", "door", "blue"), drained=True)
    differences = repaired(memory)
    assert any("at version 1, not 2" in difference for difference in differences)
    assert {one.belief.value for one in memory.recall("colour of the door", attribute="colour").found} == {
        "red",
        "blue",
    }


def test_an_entry_for_a_belief_that_is_no_more_is_taken_out(open_memory, tmp_path: Path) -> None:
    """As after a restore of an older graph: the index knows more than the graph."""
    memory = open_memory()
    tell(memory, "door")
    memory.close()
    for name in ("graph.db", "log.db"):
        shutil.copy(tmp_path / "mesh" / name, tmp_path / name)
    ahead = open_memory()
    tell(ahead, "gate")
    ahead.close()
    for name in ("graph.db", "log.db"):
        shutil.copy(tmp_path / name, tmp_path / "mesh" / name)
    again = open_memory()
    (difference,) = repaired(again)
    assert difference.startswith("the index holds b")
    assert found(again) == {"door"}


def test_marks_set_back_do_no_harm(memory: Memory) -> None:
    tell(memory, "door")
    memory.home.graph.mark_unindexed("default")
    assert memory.stats("default")["banks"]["default"]["unindexed"] == 1
    assert memory.doctor().healthy
    assert memory.home.mesh.catch_up(memory.home.clock()) == 1
    assert memory.stats("default")["banks"]["default"]["unindexed"] == 0


def test_change_events_lost_after_the_graph_was_written_are_made_good(memory: Memory) -> None:
    """As if the process had died there and the claims were lost, so that nobody repeats the step."""
    tell(memory, "gate")
    told = sighting("o1", "door", "red")
    append(memory, told, drained=True)
    EntityShard(memory.home.graph).apply(list(attest(told, memory.home.clock())), memory.home.clock())
    assert found(memory) == {"gate"}
    assert len(repaired(memory)) == 1
    assert found(memory) == {"gate", "door"}


def test_an_observation_without_effect_is_sent_again(memory: Memory) -> None:
    """As if claims had been lost: the log has the observation, and every offset is past it."""
    tell(memory, "gate")
    append(memory, sighting("o1", "door", "red"), drained=True)
    (difference,) = repaired(memory)
    assert difference == "observation o1 of bank default has no evidence"
    assert found(memory) == {"gate", "door"}
    assert memory.stats("default")["banks"]["default"]["evidence"] == 2


def test_what_still_waits_in_the_log_is_told_and_drained(memory: Memory) -> None:
    tell(memory, "gate")
    memory.retain({"entity": "door", "agent": "ann", "claims": [{"attribute": "colour", "value": "red"}]}, wait=False)
    report = memory.doctor()
    assert report.differences == ("1 record waits for the stage extract",)
    assert not report.healthy
    assert memory.doctor(fix=True).healthy
    assert found(memory) == {"gate", "door"}


def test_a_slot_that_does_not_follow_from_its_evidence_is_decided_again(open_memory, tmp_path: Path) -> None:
    memory = open_memory()
    tell(memory, "door", "gate")
    memory.close()
    with sqlite3.connect(tmp_path / "mesh" / "graph.db") as connection:
        body = connection.execute("SELECT body FROM beliefs WHERE no = 1").fetchone()[0]
        spoiled = body.replace(b"\xa6active", b"\xa5stale")
        connection.execute("UPDATE beliefs SET body = ?, status = 'stale' WHERE no = 1", (spoiled,))
    connection.close()
    again = open_memory()
    (difference,) = repaired(again)
    assert "does not follow from its evidence" in difference
    assert found(again) == {"door", "gate"}


def test_a_repair_of_one_bank_leaves_the_others_alone(memory: Memory) -> None:
    tell(memory, "door")
    memory.retain({"entity": "gate", "agent": "ann", "claims": [{"attribute": "colour", "value": "red"}]}, bank="south")
    assert memory.home.index is not None
    before = memory.state_hash("south"), memory.home.index.versions("south")
    memory.home.index.drop("default")
    repaired(memory)
    assert (memory.state_hash("south"), memory.home.index.versions("south")) == before


def test_the_state_after_repairs_is_that_of_an_undisturbed_memory(open_memory, sample_lines: list[bytes]) -> None:
    plain, hurt = open_memory("plain"), open_memory("hurt")
    for memory in (plain, hurt):
        memory.import_lines(sample_lines[:60])
    hurt.home.index.drop("default")
    hurt.home.log.commit("beliefmesh", "observations", dict.fromkeys(hurt.home.log.ends("observations"), 0))
    repaired(hurt)
    assert hurt.state_hash() == plain.state_hash()
    question = "From what amount is shipping free?"
    assert [one.belief.id for one in hurt.recall(question).found] == [
        one.belief.id for one in plain.recall(question).found
    ]


@pytest.mark.parametrize("times", [1, 2])
def test_a_repair_may_be_repeated(memory: Memory, times: int) -> None:
    tell(memory, "door")
    append(memory, sighting("o1", "gate", "red"), drained=True)
    for _ in range(times):
        assert memory.doctor(fix=True).healthy
    assert memory.doctor(fix=True).differences == ()
    assert memory.stats("default")["banks"]["default"]["evidence"] == 2


def sighting(id: str, entity: str, value: str) -> Observation:
    claim = Claim(entity=Entity(entity), attribute="colour", value=value)
    return Observation(id=id, bank="default", source=Source("cam"), observed_at=1_718_020_800_000_000, claims=(claim,))


def append(memory: Memory, told: Observation, *, drained: bool) -> None:
    """Put an observation on the log, with the stages' offsets past it if `drained`."""
    memory.home.log.append("observations", [Entry(observation_key(told), pack(told, told.id))], memory.home.clock())
    if drained:
        memory.home.log.commit("beliefmesh", "observations", memory.home.log.ends("observations"))


def test_a_lost_index_is_made_again_before_the_next_answer(open_memory: Callable[..., Memory]) -> None:
    with open_memory() as memory:
        memory.retain("The lake is cold.")
        folder = memory.home.folder.path
    shutil.rmtree(folder / "index")

    with open_memory() as memory:
        answer = memory.recall("How is the lake?")

        assert [found.belief.statement for found in answer.found] == ["The lake is cold."]
        assert memory.doctor().healthy
