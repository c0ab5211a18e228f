"""From observations on the log to beliefs in an answer: one state, whatever the way there; meaning over time."""

import random
from pathlib import Path

import pytest

from beliefmesh.memory import Memory
from schemas.answer import Answer
from schemas.errors import VersionConflict
from schemas.instant import Instant, parse_instant

ASKED: Instant = parse_instant("2024-06-10T12:00:00Z", "asked")
NOTES = ("note-ana-private", "note-li-private")


def values(answer: Answer) -> list[object]:
    return [one.belief.value for one in answer.found]


def limit(day: str, value: int, **more: object) -> dict[str, object]:
    claim = {"attribute": "upload limit", "value": value, "value_type": "number", "kind": "instruction"}
    return {"entity": "gateway", "observed_at": day, "agent": "ops", "claims": [claim | more]}


def colour(value: str, **more: object) -> dict[str, object]:
    return {"entity": "door", "claims": [{"attribute": "colour", "value": value}], "agent": "ann", **more}


def shuffled(lines: list[bytes], seed: int) -> list[bytes]:
    """The lines in another order, a fifth of them twice."""
    dice = random.Random(seed)
    told = lines + dice.sample(lines, len(lines) // 5)
    dice.shuffle(told)
    return told


@pytest.mark.slow
def test_the_state_is_one_whatever_the_order_the_repeats_and_the_batches(open_memory, sample_lines) -> None:
    plain = open_memory("plain", embedder="none:")
    plain.import_lines(sample_lines)
    for seed, batch in ((1, 1), (2, 7), (3, 100)):
        other = open_memory(f"seed-{seed}", embedder="none:", batch=batch)
        imported = other.import_lines(shuffled(sample_lines, seed))
        assert imported.accepted > 390
        assert other.state_hash(now=ASKED) == plain.state_hash(now=ASKED)
        assert other.stats("default")["banks"]["default"] == plain.stats("default")["banks"]["default"]


def test_a_replay_of_the_whole_log_changes_nothing(memory: Memory, sample_lines: list[bytes]) -> None:
    memory.import_lines(sample_lines)
    before = memory.state_hash(now=ASKED)
    counts = memory.stats("default")["banks"]["default"]

    for topic in ("observations", "claims", "changes"):
        memory.home.log.commit("beliefmesh", topic, dict.fromkeys(memory.home.log.ends(topic), 0))
    memory.home.worker.drain()

    assert memory.state_hash(now=ASKED) == before
    assert memory.stats("default")["banks"]["default"] == counts
    report = memory.doctor()
    assert report.differences == ()
    assert report.observations >= 300


def test_the_log_replayed_into_an_empty_graph_gives_the_same_state(open_memory, tmp_path: Path, sample_lines) -> None:
    first = open_memory("first", embedder="none:")
    first.import_lines(sample_lines)
    second = open_memory("second", embedder="none:")
    for partition in first.home.log.ends("observations"):
        records = first.home.log.read("observations", partition, 0, 10_000)
        second.home.log.append("observations", records, second.home.clock())
    second.home.worker.drain()
    assert second.state_hash(now=ASKED) == first.state_hash(now=ASKED)


def test_one_id_told_with_two_contents_gives_one_state_in_either_order(open_memory) -> None:
    door = colour("red", id="o1", observed_at="2024-05-01")
    gate = {"entity": "gate", "claims": [{"attribute": "colour", "value": "green"}], "id": "o1", "agent": "ann",
            "observed_at": "2024-05-02"}  # fmt: skip
    memories = [open_memory("one"), open_memory("two")]
    memories[0].retain(door)
    memories[0].retain(gate)
    memories[1].retain(gate)
    memories[1].retain(door)
    assert memories[0].state_hash() == memories[1].state_hash()
    assert [memory.doctor().differences for memory in memories] == [(), ()]


def test_what_was_learned_is_there_after_a_restart(open_memory) -> None:
    memory = open_memory()
    memory.retain(colour("red"))
    before, id = memory.state_hash(), memory.recall("colour of the door").found[0].belief.id
    memory.close()
    again = open_memory()
    assert again.state_hash() == before
    assert values(again.recall("colour of the door")) == ["red"]
    assert again.belief(id).value == "red"


def test_as_of_asks_what_held_and_known_at_what_was_known(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    clock.set("2024-05-21T00:00:00Z")
    memory.retain(limit("2024-05-20", 200))
    clock.set("2024-06-01T00:00:00Z")
    memory.retain(limit("2024-03-01", 100))
    clock.set("2024-06-10T00:00:00Z")

    question = "upload limit of the gateway"
    assert values(memory.recall(question)) == [200]
    assert values(memory.recall(question, as_of="2024-04-01")) == [100]
    assert values(memory.recall(question, as_of="2024-02-01")) == []
    assert values(memory.recall(question, known_at="2024-05-25")) == [200]
    assert values(memory.recall(question, as_of="2024-04-01", known_at="2024-05-25")) == []
    assert [(turn.at, [belief.value for belief in turn.beliefs if belief.status == "active"])
            for turn in memory.history(entity="gateway", attribute="upload limit").turns] == [
        (parse_instant("2024-03-01", ""), [100]),
        (parse_instant("2024-05-20", ""), [200]),
    ]  # fmt: skip


def test_a_scheduled_rule_takes_over_when_its_date_comes(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    memory.retain([limit("2024-06-01", 100), limit("2024-06-02", 500, effective_at="2024-07-01")])
    assert values(memory.recall("upload limit of the gateway")) == [100]
    clock.set("2024-07-01T00:00:00Z")
    assert values(memory.recall("upload limit of the gateway")) == [500]
    assert values(memory.recall("upload limit of the gateway", as_of="2024-06-30T23:59:59Z")) == [100]
    assert memory.doctor().differences == ()


def test_the_first_thing_ever_told_of_a_slot_may_be_scheduled(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    memory.retain(limit("2024-06-02", 500, effective_at="2024-07-01"))
    assert values(memory.recall("upload limit of the gateway")) == []
    clock.set("2024-07-02T00:00:00Z")
    assert values(memory.recall("upload limit of the gateway")) == [500]


def test_a_date_that_came_while_nothing_ran_has_come_after_a_restart(open_memory) -> None:
    memory = open_memory(at="2024-06-10")
    memory.retain([limit("2024-06-01", 100), limit("2024-06-02", 500, effective_at="2024-07-01")])
    memory.close()
    assert values(open_memory(at="2024-07-02").recall("upload limit of the gateway")) == [500]


def test_what_expires_is_stale_and_the_rule_before_it_holds_again(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    memory.retain([limit("2024-06-01", 100), limit("2024-06-02", 500, valid_until="2024-06-20")])
    assert values(memory.recall("upload limit of the gateway")) == [500]
    clock.set("2024-06-20T00:00:00Z")
    assert values(memory.recall("upload limit of the gateway")) == [100]


def test_a_belief_whose_only_support_expired_is_not_recalled_but_kept(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    memory.retain(limit("2024-06-02", 500, valid_until="2024-06-20"))
    held = memory.recall("upload limit of the gateway").found[0].belief.id
    clock.set("2024-06-21T00:00:00Z")
    assert values(memory.recall("upload limit of the gateway")) == []
    assert values(memory.recall("upload limit of the gateway", statuses=("stale",))) == [500]
    assert (memory.belief(held).status, memory.belief(held).reason) == ("stale", "expired")
    assert memory.home.graph.beliefs("default", [held])[held].status == "stale"


def test_time_alone_makes_a_sighting_stale_and_the_worker_notes_it(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    memory.retain(colour("red", observed_at="2024-06-10"))
    held = memory.recall("colour of the door").found[0].belief.id
    clock.set("2024-12-10T00:00:00Z")
    memory.home.worker.drain()
    assert memory.home.graph.beliefs("default", [held])[held].status == "stale"
    assert memory.home.worker.counts["reviews"] == 1
    assert values(memory.recall("colour of the door")) == []
    assert values(memory.recall("colour of the door", as_of="2024-06-11")) == ["red"]


def test_feedback_moves_the_confidence_up_and_down(memory: Memory) -> None:
    memory.retain(colour("red"))
    held = memory.recall("colour of the door").found[0]
    memory.feedback(held.belief.id, "right", agent="bea")
    surer = memory.recall("colour of the door").found[0]
    memory.feedback(held.belief.id, "wrong", agent="cid")
    less_sure = memory.recall("colour of the door").found[0]
    assert less_sure.confidence < surer.confidence
    assert surer.confidence > held.confidence
    assert surer.belief.statement == held.belief.statement
    assert memory.feedback(held.belief.id, "used", agent="bea").ids == ()


def test_feedback_that_outweighs_its_belief_revokes_it_and_says_by_what(memory: Memory) -> None:
    memory.retain(colour("red", observed_at="2024-05-01"))
    held = memory.recall("colour of the door").found[0].belief.id
    memory.feedback(held, "wrong", agent="bea")
    assert values(memory.recall("colour of the door")) == []
    belief = memory.belief(held)
    assert (belief.status, belief.reason) == ("revoked", "refuted")
    assert {term.evidence.agent: term.stance for term in memory.explain(held).contributions} == {
        "ann": "supports",
        "bea": "refutes",
    }


def test_a_revoked_rule_gives_way_to_the_one_before_it_and_stays_in_the_history(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    memory.retain([limit("2024-06-01", 100), limit("2024-06-05", 200)])
    held = memory.recall("upload limit of the gateway").found[0].belief.id
    memory.revoke(held, reason="it was a typing error", agent="ops")
    assert values(memory.recall("upload limit of the gateway")) == [100]
    assert memory.belief(held).reason == "retracted"
    clock.set("2024-06-11T00:00:00Z")
    told = memory.history(held)
    assert [turn.evidence[0].stance for turn in told.turns] == ["supports", "supports", "retracts"]
    assert told.turns[2].evidence[0].statement == "it was a typing error"
    assert values(memory.recall("upload limit of the gateway", as_of="2024-06-06")) == [200]


def test_revoking_by_version_refuses_what_has_moved_on(memory: Memory) -> None:
    memory.retain(limit("2024-06-01", 100))
    held = memory.recall("upload limit of the gateway").found[0].belief
    memory.retain({**limit("2024-06-02", 100), "agent": "other"})
    with pytest.raises(VersionConflict):
        memory.revoke(held.id, reason="late", agent="ops", expected_version=held.version)
    now = memory.belief(held.id).version
    memory.revoke(held.id, reason="in time", agent="ops", expected_version=now)
    assert values(memory.recall("upload limit of the gateway")) == []


def test_retaining_by_version_refuses_what_has_moved_on(memory: Memory) -> None:
    memory.retain(colour("red"), expected_version=0)
    memory.retain(colour("blue"), expected_version=1)
    with pytest.raises(VersionConflict):
        memory.retain(colour("green"), expected_version=1)
    assert memory.stats("default")["banks"]["default"]["evidence"] == 2


def test_banks_are_worlds_apart(memory: Memory) -> None:
    memory.retain(colour("red"), bank="north")
    before = memory.state_hash("north")
    memory.retain(colour("blue"), bank="south")
    assert memory.state_hash("north") == before
    assert values(memory.recall("colour of the door", bank="north")) == ["red"]
    assert values(memory.recall("colour of the door", bank="south")) == ["blue"]
    assert memory.banks() == ["north", "south"]
