"""The memory in the shape of mem0: what a program written for mem0 does, in this process and over the network."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from beliefmesh.home import system_clock
from beliefmesh.mem0 import Mem0
from beliefmesh.mem0_aio import AsyncMem0
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.errors import InvalidInput, NotFound

TALK = [
    {"role": "system", "content": "Be helpful."},
    {"role": "user", "content": "I am allergic to peanuts."},
    {"role": "assistant", "content": "I will keep that in mind."},
    {"role": "user", "content": "I live in Oslo."},
]


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """A memory on the real clock, since words of mem0 bear no dates."""
    return open_memory(clock=system_clock)


@pytest.fixture(params=["here", "elsewhere"])
def mem0(request: pytest.FixtureRequest, memory: Memory) -> Any:
    """The shim over a memory in this process, and over one that is served."""
    if request.param == "here":
        return Mem0(memory)
    return Mem0(RemoteMemory(request.getfixturevalue("url")))


def texts(told: dict[str, Any]) -> list[str]:
    return [each["memory"] for each in told["results"]]


def test_a_user_of_mem0_adds_searches_updates_deletes_and_reads_the_history(mem0: Mem0) -> None:
    added = mem0.add(TALK, user_id="alice", metadata={"category": "profile", "nested": {"n": [1, 2.5, None]}})
    assert [each["event"] for each in added["results"]] == ["ADD", "ADD"]
    allergy, home = (each["id"] for each in sorted(added["results"], key=lambda each: "Oslo" in each["memory"]))

    found = mem0.search("What is she allergic to?", user_id="alice", limit=1)["results"]
    assert [each["id"] for each in found] == [allergy]
    assert 0.0 < found[0]["score"] < 1.0
    assert found[0]["metadata"] == {"category": "profile", "nested": {"n": [1, 2.5, None]}}
    assert found[0]["user_id"] == "alice"
    assert found[0]["updated_at"] is None
    assert {each["id"] for each in mem0.get_all(user_id="alice")["results"]} == {allergy, home}

    assert mem0.update(allergy, data="She can eat peanuts now.") == {"message": "Memory updated successfully!"}
    assert mem0.update(allergy, data="She eats peanuts with joy.")["message"]
    kept = mem0.get(allergy)
    assert kept is not None
    assert kept["memory"] == "She eats peanuts with joy."
    assert kept["metadata"]["category"] == "profile"
    assert kept["id"] == allergy
    assert "She eats peanuts with joy." in texts(mem0.search("peanuts", user_id="alice"))
    assert len(mem0.get_all(user_id="alice")["results"]) == 2

    assert mem0.delete(allergy) == {"message": "Memory deleted successfully!"}
    assert mem0.get(allergy) is None
    assert [each["id"] for each in mem0.get_all(user_id="alice")["results"]] == [home]
    past = mem0.history(allergy)
    assert [(each["event"], each["new_memory"]) for each in past] == [
        ("ADD", added["results"][0]["memory"]),
        ("UPDATE", "She can eat peanuts now."),
        ("UPDATE", "She eats peanuts with joy."),
        ("DELETE", None),
    ]
    assert past[1]["old_memory"] == past[0]["new_memory"]
    assert [each["is_deleted"] for each in past] == [0, 0, 0, 1]

    assert mem0.delete_all(user_id="alice") == {"message": "Memories deleted successfully!"}
    assert mem0.get_all(user_id="alice") == {"results": []}


def test_what_is_learned_later_takes_the_place_of_what_it_contradicts(mem0: Mem0) -> None:
    first = mem0.add("I live in Oslo.", user_id="alice")["results"][0]

    later = mem0.add("I live in Bergen.", user_id="alice")["results"][0]

    assert later["event"] == "UPDATE"
    assert later["previous_memory"] == first["memory"]
    assert texts(mem0.get_all(user_id="alice")) == [later["memory"]]
    assert mem0.get(first["id"]) is None
    assert [each["event"] for each in mem0.history(first["id"])] == ["ADD", "UPDATE"]
    mem0.delete(later["id"])
    assert mem0.get_all(user_id="alice") == {"results": []}


def test_values_that_hold_side_by_side_are_edited_and_deleted_one_by_one(mem0: Mem0) -> None:
    for food in ("peanuts", "milk", "eggs"):
        mem0.add(f"I am allergic to {food}.", user_id="alice")
    peanuts, milk, eggs = (each["id"] for each in mem0.get_all(user_id="alice")["results"])

    mem0.delete(peanuts)
    mem0.update(milk, "Milk is fine by now.")
    mem0.delete(eggs, for_good=True)

    assert texts(mem0.get_all(user_id="alice")) == ["Milk is fine by now."]
    assert [each["event"] for each in mem0.history(peanuts)] == ["ADD", "DELETE"]
    assert mem0.history(eggs) == []
    mem0.add("I am allergic to peanuts.", user_id="alice", metadata={"again": True})
    assert mem0.get(peanuts) is not None


def test_what_was_replaced_before_an_edit_is_erased_with_it(mem0: Mem0) -> None:
    mem0.add("I live in Oslo.", user_id="alice")
    id = mem0.add("I live in Bergen.", user_id="alice")["results"][0]["id"]
    mem0.update(id, "She lives on a boat.")

    mem0.delete_all(user_id="alice", for_good=True)

    told = mem0.memory.beliefs(principal="alice", statuses=("active", "contested", "stale", "revoked"))
    assert [belief.statement for belief in told.beliefs] == []


def test_nobody_finds_overrules_or_deletes_what_is_anothers(mem0: Mem0) -> None:
    mem0.add("The office door is scarlet.", user_id="alice")
    mem0.add("The office door is blue.", user_id="bob")
    mem0.memory.retain("The office door is green.", agent="desk")

    assert texts(mem0.search("office door", user_id="alice")) == ["The office door is scarlet."]
    assert texts(mem0.get_all(user_id="bob")) == ["The office door is blue."]
    assert mem0.get_all(user_id="carol") == {"results": []}
    mem0.delete_all(user_id="bob", for_good=True)
    assert texts(mem0.get_all(user_id="alice")) == ["The office door is scarlet."]
    assert "scarlet" not in str(mem0.memory.recall("office door").found)


def test_user_agent_and_run_narrow_together(mem0: Mem0) -> None:
    mem0.add("The lamp is on.", user_id="alice", agent_id="helper", run_id="r1", infer=False)
    mem0.add("The lamp is off.", user_id="alice", run_id="r2", infer=False)

    assert len(mem0.get_all(user_id="alice")["results"]) == 2
    assert texts(mem0.get_all(user_id="alice", run_id="r2")) == ["The lamp is off."]
    assert texts(mem0.search("lamp", agent_id="helper")) == ["The lamp is on."]
    assert mem0.search("lamp", user_id="alice", agent_id="other") == {"results": []}
    row = mem0.get_all(run_id="r1")["results"][0]
    assert (row["user_id"], row["agent_id"], row["run_id"]) == ("alice", "helper", "r1")
    assert mem0.get(row["id"]) == row


def test_without_inference_each_message_stays_word_for_word(mem0: Mem0) -> None:
    added = mem0.add(TALK, user_id="alice", infer=False)

    assert texts(added) == ["I am allergic to peanuts.", "I will keep that in mind.", "I live in Oslo."]
    assert mem0.add("  ", user_id="alice") == {"results": []}


def test_filters_are_those_of_mem0(mem0: Mem0) -> None:
    for place, priority in (("yard", 1), ("shop", 5), ("desk", 9)):
        mem0.add(f"The {place} is tidy.", user_id="alice", metadata={"place": place, "p": priority, "tags": [place]})

    def found(filters: dict[str, Any]) -> list[str]:
        return sorted(each["metadata"]["place"] for each in mem0.get_all(user_id="alice", filters=filters)["results"])

    assert found({"place": "yard"}) == ["yard"]
    assert found({"metadata.p": {"gte": 5}}) == ["desk", "shop"]
    assert found({"OR": [{"place": "yard"}, {"p": {"gt": 8}}]}) == ["desk", "yard"]
    assert found({"NOT": [{"tags": {"contains": "shop"}}], "place": "*"}) == ["desk", "yard"]
    assert texts(mem0.search("tidy", filters={"user_id": "alice", "place": "shop"}, limit=1)) == ["The shop is tidy."]
    with pytest.raises(InvalidInput, match="operator"):
        found({"p": {"near": 5}})


def test_erased_for_good_leaves_no_history(mem0: Mem0) -> None:
    id = mem0.add("I live in Oslo.", user_id="alice")["results"][0]["id"]
    mem0.update(id, "I live on a boat.")

    mem0.delete(id, for_good=True)

    assert mem0.history(id) == []
    assert mem0.get_all(user_id="alice") == {"results": []}


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda mem0: mem0.add("x"), "user_id"),
        (lambda mem0: mem0.search("x"), "user_id"),
        (lambda mem0: mem0.add("x", user_id="a,b"), "user_id"),
        (lambda mem0: mem0.add([5], user_id="a"), "messages"),
        (lambda mem0: mem0.add([{"role": "user"}], user_id="a"), "messages"),
        (lambda mem0: mem0.add("x", user_id="a", metadata={"k": "v" * 1_100}), "metadata"),
        (
            lambda mem0: mem0.add("x", user_id="a", metadata={"n": {"of": [1, float("nan")]}}),
            r"metadata\.n\.of\[1\]: is nan",
        ),
        (lambda mem0: mem0.add("x", user_id="a", metadata={"n": float("-inf")}), r"metadata\.n: is -inf"),
        (lambda mem0: mem0.add("x", user_id="a", metadata={"tags": {"b"}}), r"metadata\.tags: is a set"),
        (
            lambda mem0: mem0.add("x", user_id="a", metadata={"tags": [frozenset("b")]}),
            r"metadata\.tags\[0\]: is a set",
        ),
        (lambda mem0: mem0.add("x", user_id="a", metadata={"n": object()}), "metadata: cannot be written as JSON"),
        (lambda mem0: mem0.get("b1"), "memory_id"),
        (lambda mem0: mem0.search("x", user_id="a", limit=0), "limit"),
        (lambda mem0: mem0.search("x", user_id="a", threshold="high"), "threshold"),
        (lambda mem0: mem0.search("x", filters="a"), "filters"),
    ],
)
def test_what_cannot_be_is_refused_by_field(memory: Memory, call: Any, field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        call(Mem0(memory))


def test_what_is_no_more_cannot_be_edited(mem0: Mem0) -> None:
    id = mem0.add("I live in Oslo.", user_id="alice")["results"][0]["id"]
    mem0.delete(id)

    with pytest.raises(NotFound):
        mem0.update(id, "x")
    with pytest.raises(NotFound):
        mem0.delete(id)


def test_a_reset_erases_what_was_ever_told_as_a_memory_and_nothing_else(mem0: Mem0, memory: Memory) -> None:
    memory.retain("The desk opens at 9.", agent="desk")
    kept = mem0.add("I live in Oslo. I am allergic to peanuts.", user_id="alice", metadata={"k": 1})["results"]
    edited, gone = (mem0.add(text, user_id="bob")["results"][0]["id"] for text in ("I like tea.", "I own a boat."))
    mem0.update(edited, "I like coffee.")
    mem0.delete(gone)
    mem0.add("Word for word.", agent_id="scribe", infer=False)

    mem0.reset()

    assert [mem0.get_all(**whose) for whose in ({"user_id": "alice"}, {"user_id": "bob"}, {"agent_id": "scribe"})] == [
        {"results": []}
    ] * 3
    assert mem0.history(kept[0]["id"]) == []
    left = b"".join(memory.export()).decode()
    assert "The desk opens at 9." in left
    assert [word for word in ("Oslo", "peanuts", "tea", "coffee", "boat", "Word for word") if word in left] == []
    assert mem0.add("I live in Oslo.", user_id="alice")["results"][0]["event"] == "ADD"


def test_a_reset_of_nothing_does_nothing(mem0: Mem0) -> None:
    mem0.reset()

    assert mem0.get_all(user_id="alice") == {"results": []}


def test_each_method_can_be_awaited(memory: Memory) -> None:
    async def lived() -> tuple[list[str], list[str], Any, list[str]]:
        async with AsyncMem0(memory, bank="app") as mem0:
            added = (await mem0.add("I live in Oslo.", user_id="alice"))["results"]
            found = await mem0.search("Where does she live?", user_id="alice", limit=1)
            await mem0.update(added[0]["id"], "I live on a boat.")
            now, all_of_it = await mem0.get(added[0]["id"]), await mem0.get_all(user_id="alice")
            events = [one["event"] for one in await mem0.history(added[0]["id"])]
            await mem0.delete(added[0]["id"])
            await mem0.delete_all(user_id="alice")
            await mem0.reset()
            return texts(found), texts(all_of_it), now, events

    found, everything, now, events = asyncio.run(lived())

    assert (found, everything) == (["I live in Oslo."], ["I live on a boat."])
    assert now["memory"] == "I live on a boat."
    assert events == ["ADD", "UPDATE"]
    assert memory.banks() == []


def test_awaited_or_not_the_methods_are_the_same() -> None:
    own = {name for name, member in vars(Mem0).items() if inspect.isfunction(member) and not name.startswith("_")}

    assert {name for name in vars(AsyncMem0) if not name.startswith("_")} == own
    assert all(inspect.getdoc(getattr(AsyncMem0, name)) == inspect.getdoc(getattr(Mem0, name)) for name in own)
