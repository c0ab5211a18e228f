"""Who may see what: private evidence neither leaks nor overrules, wherever one asks (field case 32)."""

from typing import Any

import msgspec
import pytest

from beliefmesh.memory import Memory
from schemas.errors import NotFound, UnknownBank
from schemas.query import Principal

PEOPLE = ("ann", "bob", "cid")
STAFF = ("group:staff",)


def canary(name: str) -> str:
    return f"canary-{name}"


def door(value: str, agent: str, day: str = "2024-06-01", **more: Any) -> dict[str, Any]:
    claim = {"attribute": "colour", "value": value, "statement": f"The door is {value}"}
    return {"entity": "door", "agent": agent, "observed_at": day, "claims": [claim], **more}


def private(told: dict[str, Any]) -> dict[str, Any]:
    return told | {"visibility": "private"}


def shown(thing: msgspec.Struct | tuple[msgspec.Struct, ...]) -> str:
    """Everything that an answer says, as text to look for a canary in."""
    return msgspec.json.encode(thing).decode()


def belief_of(memory: Memory, principal: str, question: str = "colour of the door") -> str:
    return memory.recall(question, principal=principal).found[0].belief.id


@pytest.fixture
def village(memory: Memory) -> Memory:
    """Each person keeps a private note about the mill in each of two banks, beside one that all may see."""
    for bank in ("north", "south"):
        memory.retain({"entity": "mill", "text": f"The mill of the {bank} grinds wheat"}, bank=bank)
        for person in PEOPLE:
            note = f"The mill hides {canary(bank + person)}"
            told = {"entity": "mill", "text": note, "agent": person, "session": "talk"}
            memory.retain(private(told), bank=bank)
    return memory


@pytest.mark.parametrize("bank", ["north", "south"])
@pytest.mark.parametrize("asker", ["", *PEOPLE, "stranger"])
def test_everybody_finds_their_own_note_and_nobody_elses(village: Memory, bank: str, asker: str) -> None:
    questions = ["mill", "What does the mill hide?", *(canary(bank + person) for person in PEOPLE)]
    answers = [
        village.recall(question, bank=bank, principal=asker, limit=50, session="talk", recent=10, statuses=STATUSES)
        for question in questions
    ]
    answers += [
        village.recall("mill", bank=bank, principal=asker, limit=50, retrievers=(name,))
        for name in ("semantic", "keyword", "spread")
    ]
    told = "".join(shown(answer) for answer in answers)
    for other_bank in ("north", "south"):
        for person in PEOPLE:
            mine = other_bank == bank and person == asker
            asked = 1 if canary(other_bank + person) in questions else 0
            found = told.count(canary(other_bank + person)) > asked
            assert found == mine, (other_bank, person)
    left_out = [answer.left_out for answer in answers]
    everybody = [village.recall(question, bank=bank, principal="stranger", limit=50).left_out for question in questions]
    if asker in ("", "stranger"):
        assert left_out[: len(questions)] == everybody


STATUSES = ("active", "contested", "revoked", "stale", "archived")


def test_a_private_belief_reads_as_unknown_to_everybody_else(village: Memory) -> None:
    mine = belief_of(village_in(village, "north"), "ann", canary("northann"))
    assert canary("northann") in village.belief(mine, bank="north", principal="ann").statement
    assert canary("northann") in shown(village.explain(mine, bank="north", principal="ann"))
    assert canary("northann") in shown(village.history(mine, bank="north", principal="ann"))
    slot = village.belief(mine, bank="north", principal="ann").slot
    for asker in ("", "bob", "stranger"):
        refused = []
        for call in (
            lambda who: village.belief(mine, bank="north", principal=who),
            lambda who: village.explain(mine, bank="north", principal=who),
            lambda who: village.history(mine, bank="north", principal=who),
            lambda who: village.history(slot, bank="north", principal=who),
            lambda who: village.feedback(mine, "wrong", bank="north", agent=who),
            lambda who: village.revoke(mine, reason="no", bank="north", agent=who),
        ):
            with pytest.raises(NotFound) as error:
                call(asker)
            refused.append(str(error.value))
        assert canary("northann") not in "".join(refused)
    with pytest.raises(NotFound):
        village.belief(mine, bank="south", principal="ann")


def village_in(memory: Memory, bank: str) -> Memory:
    memory.bank = bank
    return memory


@pytest.mark.parametrize("verdict", ["right", "wrong"])
def test_feedback_on_a_private_belief_stays_private(memory: Memory, verdict: str) -> None:
    memory.retain([door("red", "ann"), private(door("canary-blue", "bob"))])
    mine = belief_of(memory, "bob", "canary-blue")
    memory.feedback(mine, verdict, agent="bob")  # type: ignore[arg-type]
    for asker in ("", "ann"):
        told = memory.recall("colour of the door", principal=asker, statuses=STATUSES, limit=50)
        assert "canary-blue" not in shown(told)
        assert "canary-blue" not in shown(memory.history(entity="door", attribute="colour", principal=asker))
    said = memory.explain(mine, principal="bob").contributions
    assert {term.evidence.visibility for term in said if term.evidence.agent == "bob"} == {"private"}


def test_revoking_a_private_belief_stays_private(memory: Memory) -> None:
    memory.retain([door("red", "ann"), private(door("canary-blue", "bob"))])
    mine = belief_of(memory, "bob", "canary-blue")
    memory.revoke(mine, reason="canary-reason", agent="bob")
    assert memory.belief(mine, principal="bob").status == "revoked"
    told = memory.recall("colour of the door", principal="ann", statuses=STATUSES, limit=50)
    history = memory.history(entity="door", attribute="colour", principal="ann")
    assert "canary" not in shown(told) + shown(history)
    assert [one.belief.value for one in told.found] == ["red"]


def test_what_the_owner_of_a_group_note_says_of_it_reaches_the_group_and_nobody_else(memory: Memory) -> None:
    memory.retain([door("red", "ann"), door("canary-green", "bob", visibility="group", readers=STAFF)])
    member = Principal("eve", ("staff",))
    memory.revoke(belief_of(memory, "bob", "canary-green"), reason="canary-reason", agent="bob")
    assert "canary" not in shown(memory.history(entity="door", attribute="colour", principal="ann"))
    told = memory.history(entity="door", attribute="colour", principal=member)
    assert {belief.value: belief.status for belief in told.beliefs} == {"red": "active", "canary-green": "revoked"}


def test_a_group_sees_its_notes_and_nobody_else_does(memory: Memory) -> None:
    memory.retain(door("canary-green", "ann", visibility="group", readers=["group:staff", "dan"]))
    askers = {
        "owner": Principal("ann"),
        "named": Principal("dan"),
        "member": Principal("eve", ("staff",)),
        "other group": Principal("eve", ("guests",)),
        "namesake": Principal("staff"),
        "spoof": Principal("group:staff"),
        "nobody": Principal(),
    }
    seen = {name: len(memory.recall("colour of the door", principal=who).found) for name, who in askers.items()}
    assert seen == {
        "owner": 1, "named": 1, "member": 1, "other group": 0, "namesake": 0, "spoof": 0, "nobody": 0,
    }  # fmt: skip
    mine = belief_of(memory, "ann")
    assert memory.belief(mine, principal=askers["member"]).value == "canary-green"
    with pytest.raises(NotFound):
        memory.belief(mine, principal=askers["other group"])


def test_what_others_see_is_to_the_last_digit_what_they_saw_without_the_private_evidence(open_memory) -> None:
    with_it, without = open_memory("with"), open_memory("without")
    everybodys = [door("red", "ann", "2024-05-01"), door("blue", "cid", "2024-05-20"), door("red", "dan", "2024-06-02")]
    secrets = [
        private(door("blue", "bob", "2024-06-05")),
        private(door("red", "bob", "2024-06-06")),
        private(door("black", "bob", "2024-06-07")),
        door("blue", "eve", "2024-06-08", visibility="group", readers=["group:staff"]),
        private({"entity": "door", "text": "The door is a canary door", "agent": "bob"}),
    ]
    for told in everybodys:
        with_it.retain(told)
        without.retain(told)
        with_it.retain(secrets.pop())
    with_it.retain(secrets)

    for asker in ("", "ann", "stranger"):
        seen, plain = (
            memory.recall("colour of the door", principal=asker, statuses=STATUSES, limit=50)
            for memory in (with_it, without)
        )
        assert {(one.belief.value, one.belief.status) for one in seen.found} == {("red", "active"), ("blue", "revoked")}
        for one in seen.found:
            other = next(found for found in plain.found if found.belief.id == one.belief.id)
            assert one.confidence == pytest.approx(other.confidence, abs=1e-12)
            assert msgspec.structs.replace(one.belief, version=0) == msgspec.structs.replace(other.belief, version=0)
            assert len(one.evidence) == len(other.evidence)
            assert [rival.id for rival in one.rivals] == [rival.id for rival in other.rivals]
        histories = [
            memory.history(entity="door", attribute="colour", principal=asker) for memory in (with_it, without)
        ]
        assert [len(turn.evidence) for turn in histories[0].turns] == [
            len(turn.evidence) for turn in histories[1].turns
        ]
    assert [one.belief.value for one in with_it.recall("door", attribute="colour", principal="bob").found] == ["black"]


def test_the_session_window_of_a_public_line_holds_no_private_words(memory: Memory) -> None:
    """Keywords of a row come from its neighbours too: only from those of the same audience."""
    for turn, (words, hidden) in enumerate(
        [("The mill is old", False), ("It hides a canaryword", True), ("It creaks", False)]
    ):
        told = {"text": words, "agent": "ann", "session": "talk", "turn": turn, "entity": "mill"}
        memory.retain(private(told) if hidden else told)
    for name in ("keyword", "semantic", "spread"):
        answer = memory.recall("canaryword", principal="bob", retrievers=(name,), limit=50)
        assert "It hides" not in shown(answer)
        scores = {one.belief.statement: one.scores.get("keyword", 0.0) for one in answer.found}
        assert set(scores.values()) <= {0.0} or name != "keyword"


def test_what_only_a_private_note_names_is_no_bridge_for_others(memory: Memory) -> None:
    """Spreading goes over the graph: a private edge may lead to public beliefs, but shows no private one."""
    memory.retain(private({"entity": "Lisbon", "text": "Lisbon is where the canary lives", "agent": "bob"}))
    memory.retain({"entity": "Lisbon", "text": "Lisbon lies at the sea", "agent": "ann"})
    assert "canary" not in shown(memory.recall("Lisbon?", principal="ann", retrievers=("spread",)))
    assert "canary" in shown(memory.recall("Lisbon?", principal="bob", retrievers=("spread",)))


def test_the_state_that_everybody_shares_is_made_without_private_evidence(memory: Memory) -> None:
    memory.retain([door("red", "ann"), private(door("blue", "bob", "2024-06-09"))])
    assert [belief.value for belief in memory.holders()] == ["red"]


def test_an_unknown_bank_is_refused_by_every_question(memory: Memory) -> None:
    memory.retain(door("red", "ann"))
    calls = (
        lambda: memory.recall("door", bank="nowhere"),
        lambda: memory.belief("b1", bank="nowhere"),
        lambda: memory.explain("b1", bank="nowhere"),
        lambda: memory.history("b1", bank="nowhere"),
        lambda: memory.revoke("b1", reason="x", bank="nowhere"),
        lambda: memory.feedback("b1", "right", bank="nowhere"),
    )
    for call in calls:
        with pytest.raises(UnknownBank, match="nowhere"):
            call()
    assert memory.banks() == ["default"]
