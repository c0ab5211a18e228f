"""Conclusions stand and fall with their premises, in what is stored and in what is told (design 3.7)."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.shard import EntityShard
from beliefmesh import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from beliefmesh.state import founded_slots
from beliefs.revise import fingerprint, view
from recall.render import explanation_text, graph, structured, text
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, Instant, parse_instant
from schemas.intake import observation_from
from schemas.slot import belief_id, slot_id
from streams.topics import CHANGES

NOW = parse_instant("2024-06-10T00:00:00Z", "now")


PLAIN = Settings(mesh=MeshSettings(runtime="inline"), stores=StoreSettings(embedder="none:"))
"""Without an embedder, which has no part in what is held."""


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now: Instant = NOW

    def __call__(self) -> Instant:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_memory(tmp_path: Path, clock: Clock) -> Iterator[Callable[[str], Memory]]:
    opened: list[Memory] = []

    def open_one(name: str = "memory") -> Memory:
        opened.append(Memory(tmp_path / name, bank="team", clock=clock, settings=PLAIN))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Callable[[str], Memory]) -> Memory:
    return open_memory("memory")


def id_of(entity: str, attribute: str, value: str, bank: str = "team") -> str:
    """The id of a belief about a text value, known before anybody told it."""
    return belief_id(slot_id(bank, Entity(entity), attribute), (), value.casefold())


def fact(entity: str, value: str, *, day: int = 1, source: Any = "", **claim: Any) -> dict[str, Any]:
    """One claim of an entity's `state`, observed on a day of June 2024."""
    return {
        "id": f"{entity}-{value}-{day}-{source}",
        "source": source or f"{entity}-{day}",
        "observed_at": f"2024-06-{day:02}T00:00:00Z",
        "claims": [{"entity": entity, "attribute": "state", "value": value, **claim}],
    }


def concluded(entity: str, value: str, *premises: str, day: int = 2, **claim: Any) -> dict[str, Any]:
    """The same, derived from premises."""
    return fact(entity, value, day=day, kind="derivation", premises=list(premises), **claim)


def state(memory: Memory, entity: str, value: str) -> str:
    """The stored status of a belief, as the graph has it."""
    id = id_of(entity, "state", value)
    held = memory.home.graph.beliefs("team", [id])
    return held[id].status if id in held else ""


def assert_stored_state_follows(memory: Memory) -> None:
    graph = memory.home.graph
    for stored, fallen in founded_slots(graph, "team", memory.home.clock()):
        expected = view(stored.evidence, graph.policy("team"), stored.slot.resolved_at, fallen)
        assert fingerprint(expected) == fingerprint(stored.slot)


def test_a_conclusion_is_stored_as_held_only_while_its_premise_is(memory: Memory) -> None:
    premise = id_of("plan", "state", "old")
    memory.retain([fact("plan", "old"), concluded("room", "booked", premise)])
    assert state(memory, "room", "booked") == "active"

    memory.retain(fact("plan", "new", day=3))
    assert state(memory, "room", "booked") == "revoked"
    assert memory.belief(id_of("room", "state", "booked")).reason == "unfounded"
    assert memory.belief(id_of("room", "state", "booked")).by == premise

    memory.retain(fact("plan", "old", day=5))
    assert state(memory, "room", "booked") == "active"
    assert_stored_state_follows(memory)


def test_a_premise_that_comes_after_its_conclusion_lifts_it(memory: Memory) -> None:
    memory.retain(concluded("room", "booked", id_of("plan", "state", "old")))
    assert state(memory, "room", "booked") == "revoked"
    memory.retain(fact("plan", "old"))
    assert state(memory, "room", "booked") == "active"


def test_a_fall_runs_down_a_chain_of_a_hundred_and_back(memory: Memory) -> None:
    names = [f"step{n}" for n in range(100)]
    chain = [concluded(name, "so", id_of(before, "state", "so")) for before, name in itertools.pairwise(names)]
    memory.retain([*reversed(chain), fact("step0", "so")])
    assert {state(memory, name, "so") for name in names} == {"active"}

    memory.retain(fact("step0", "not so", day=3))
    assert {state(memory, name, "so") for name in names} == {"revoked"}

    memory.retain(fact("step0", "so", day=5))
    assert {state(memory, name, "so") for name in names} == {"active"}
    assert_stored_state_follows(memory)


def test_a_fall_reaches_a_thousand_conclusions_from_one_premise(memory: Memory) -> None:
    root = id_of("root", "state", "so")
    memory.retain([fact("root", "so"), *(concluded(f"leaf{n}", "so", root) for n in range(1_000))])
    memory.retain(fact("root", "not so", day=3))
    assert {state(memory, f"leaf{n}", "so") for n in range(1_000)} == {"revoked"}


def test_a_conclusion_from_a_thousand_premises_falls_with_any_of_them(memory: Memory) -> None:
    many = [id_of(f"part{n}", "state", "so") for n in range(1_000)]
    memory.retain([*(fact(f"part{n}", "so") for n in range(1_000)), concluded("whole", "so", *many)])
    assert state(memory, "whole", "so") == "active"
    memory.retain(fact("part777", "not so", day=3))
    assert state(memory, "whole", "so") == "revoked"


def test_conclusions_that_rest_on_each_other_are_not_held(memory: Memory) -> None:
    one, two = id_of("one", "state", "so"), id_of("two", "state", "so")
    memory.retain([concluded("one", "so", two), concluded("two", "so", one)])
    assert [state(memory, "one", "so"), state(memory, "two", "so")] == ["revoked", "revoked"]

    memory.retain(fact("one", "so", day=3))
    assert [state(memory, "one", "so"), state(memory, "two", "so")] == ["active", "active"]

    memory.retain(fact("one", "so", day=4, source="one-3", stance="retracts"))
    assert [state(memory, "one", "so"), state(memory, "two", "so")] == ["revoked", "revoked"]
    assert_stored_state_follows(memory)


def test_all_of_a_circle_is_held_once_one_of_it_was_seen_and_so_is_what_rests_on_it(memory: Memory) -> None:
    names = ["one", "two", "three", "four"]
    circle = [concluded(name, "so", id_of(names[at - 1], "state", "so")) for at, name in enumerate(names)]
    memory.retain([*circle, concluded("leaf", "so", id_of("three", "state", "so"))])
    assert {state(memory, name, "so") for name in (*names, "leaf")} == {"revoked"}

    memory.retain(fact("one", "so", day=3))
    assert {state(memory, name, "so") for name in (*names, "leaf")} == {"active"}
    assert_stored_state_follows(memory)


def test_a_shard_that_decides_slots_of_another_one_again_knows_what_that_one_wrote_meanwhile(memory: Memory) -> None:
    one, two = id_of("one", "state", "so"), id_of("two", "state", "so")
    graph, now = memory.home.graph, memory.home.clock()
    owner, other = EntityShard(graph), EntityShard(graph)
    circle = [("team", slot_id("team", Entity(name), "state")) for name in ("one", "two")]

    def apply(told: dict[str, Any]) -> set[str]:
        owner.apply(_evidence(memory, told), now)
        other.review(circle, now)
        return {state(memory, "one", "so"), state(memory, "two", "so")}

    owner.apply(_evidence(memory, concluded("one", "so", two)), now)
    assert apply(concluded("two", "so", one)) == {"revoked"}
    assert apply(fact("one", "so", day=3)) == {"active"}
    assert apply(fact("one", "so", day=4, source="one-3", stance="retracts")) == {"revoked"}


def test_a_premise_of_another_bank_never_counts(memory: Memory) -> None:
    memory.retain(fact("plan", "old"), bank="other")
    memory.retain(concluded("room", "booked", id_of("plan", "state", "old", bank="other")))
    assert state(memory, "room", "booked") == "revoked"


def test_a_premise_that_expires_takes_its_conclusion_along(memory: Memory, clock: Clock) -> None:
    premise = id_of("stock", "state", "10")
    memory.retain([fact("stock", "10", valid_until="2024-06-12T00:00:00Z"), concluded("offer", "open", premise)])
    assert state(memory, "offer", "open") == "active"
    clock.now = NOW + 3 * DAY
    memory.home.worker.drain()
    assert state(memory, "offer", "open") == "stale"


def test_no_verb_tells_a_conclusion_whose_premise_fell_while_the_cascade_is_still_to_come(memory: Memory) -> None:
    premise, conclusion = id_of("plan", "state", "old"), id_of("room", "state", "booked")
    memory.retain([fact("plan", "old"), concluded("room", "booked", premise)])
    memory.home.mesh.apply({0: _evidence(memory, fact("plan", "new", day=3))}, memory.home.clock())

    assert conclusion not in {one.belief.id for one in memory.recall("room booked state").found}
    assert memory.belief(conclusion).status == "revoked"
    assert memory.explain(conclusion).belief.status == "revoked"
    assert {belief.status for belief in memory.history(conclusion).beliefs} == {"revoked"}
    assert {premise, conclusion}.isdisjoint({belief.id for belief in memory.holders()})
    assert state(memory, "room", "booked") == "active"  # the cascade has indeed not run


def test_a_crash_between_a_change_and_its_cascade_is_made_good_on_opening(
    open_memory: Callable[[str], Memory], clock: Clock
) -> None:
    first = open_memory("memory")
    first.retain([fact("plan", "old"), concluded("room", "booked", id_of("plan", "state", "old"))])
    first.home.mesh.apply({0: _evidence(first, fact("plan", "new", day=3))}, clock())
    first.close()

    again = open_memory("memory")
    again.recall("room")
    assert state(again, "room", "booked") == "revoked"


def test_a_change_that_is_read_again_completes_what_a_crash_cut_short(memory: Memory) -> None:
    memory.retain([fact("plan", "old"), concluded("room", "booked", id_of("plan", "state", "old"))])
    memory.retain(fact("plan", "new", day=3))
    hash_before = memory.state_hash()
    topics, log = memory.home.topics, memory.home.log
    name = topics.name(CHANGES)
    log.commit(topics.group, name, dict.fromkeys(range(log.partitions(name)), 0))
    memory.home.worker.drain()
    assert state(memory, "room", "booked") == "revoked"
    assert memory.state_hash() == hash_before


STORY = [
    fact("a", "so"),
    concluded("b", "so", id_of("a", "state", "so")),
    concluded("c", "so", id_of("b", "state", "so"), id_of("d", "state", "so")),
    concluded("d", "so", id_of("c", "state", "so")),
    fact("d", "so", day=4),
    fact("a", "not so", day=3),
    fact("a", "so", day=5),
]


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_arrival_and_any_replay_end_in_the_same_state(
    open_memory: Callable[[str], Memory], seed: int
) -> None:
    plain, mixed = open_memory("plain"), open_memory("mixed")
    plain.retain(STORY)
    order = random.Random(seed).sample(STORY, len(STORY))
    for told in (*order, *order[:3]):  # the last three arrive twice
        mixed.retain(told)
    assert mixed.state_hash() == plain.state_hash()
    for memory in (plain, mixed):
        assert_stored_state_follows(memory)
        assert {state(memory, name, "so") for name in "abcd"} == {"active"}


def _evidence(memory: Memory, told: dict[str, Any]) -> list[Evidence]:
    """What the extractor makes of an observation, past the log."""
    now = memory.home.clock()
    observation = observation_from(told, bank="team", now=now)
    return [piece for some in memory.home.mesh.extract([(observation, now)]) for piece in some]


def test_stock_of_a_tool_that_expired_is_told_as_needing_a_fresh_look_and_so_is_what_rests_on_it(
    memory: Memory, clock: Clock
) -> None:
    tool = {"id": "inventory", "type": "tool"}
    memory.retain(fact("widget", "10", source=tool, valid_until="2024-06-12T00:00:00Z"))
    memory.retain(fact("widget", "0", day=2, source=tool, valid_until="2024-06-12T00:00:00Z"))
    memory.retain(concluded("shop offer", "closed", id_of("widget", "state", "0"), day=3))
    current = memory.recall("widget state")
    assert [one.belief.value for one in current.found if one.belief.entity.name == "widget"] == ["0"]
    assert current.needs_fresh_look == ()

    clock.now = NOW + 3 * DAY
    expired = memory.recall("widget state, shop offer")
    assert expired.found == ()
    assert {one.belief.value for one in expired.needs_fresh_look} == {"0", "closed"}
    told = "Needs a fresh look: widget: state is 0 (tool inventory of 2024-06-02); it expired on 2024-06-12"
    assert told in text(expired)
    assert "it rests on what is no longer sure" in text(expired)
    assert len(structured(expired)["needs_fresh_look"]) == 2

    memory.retain(fact("widget", "7", day=12, source=tool, valid_until="2024-07-12T00:00:00Z"))
    fresh = memory.recall("widget state")
    assert "7" in {one.belief.value for one in fresh.found}
    assert "0" not in {one.belief.value for one in (*fresh.found, *fresh.needs_fresh_look)}


def test_explain_and_recall_tell_the_chain_beneath_a_conclusion(memory: Memory) -> None:
    plan, room, food = (id_of(name, "state", "so") for name in ("plan", "room", "food"))
    memory.retain([fact("plan", "so"), concluded("room", "so", plan), concluded("food", "so", room)])
    told = memory.explain(food).premises
    assert [(one.id, one.of, one.depth, one.held, one.status) for one in told] == [
        (room, food, 1, True, "active"),
        (plan, room, 2, True, "active"),
    ]
    assert "Concluded from:" in explanation_text(memory.explain(food))
    answer = memory.recall("food state")
    found = next(one for one in answer.found if one.belief.id == food)
    assert [one.id for one in found.premises] == [room, plan]
    assert {"src": food, "type": "derived_from", "dst": room, "held": True} in graph(answer)["edges"]
    assert "concluded from" in text(answer)

    memory.retain(fact("plan", "not so", day=3))
    fallen = memory.explain(food)
    assert (fallen.belief.status, fallen.belief.reason) == ("revoked", "unfounded")
    assert [(one.held, one.status) for one in fallen.premises] == [(False, "revoked"), (False, "revoked")]


def test_a_premise_that_is_forgotten_carries_no_conclusion(memory: Memory) -> None:
    premises = [id_of(name, "state", "so") for name in ("plan", "budget")]
    memory.retain([fact("plan", "so"), fact("budget", "so"), concluded("room", "booked", *premises)])
    memory.forget(ids=["plan-so-1-"])
    assert state(memory, "plan", "so") == ""
    assert state(memory, "room", "booked") != "active"
    assert_stored_state_follows(memory)
