"""The examples of docs/concepts.md that no other test has, as they are told there."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.memory import Memory
from recall.render import explanation_text
from stores.pages import all_slots


def told(memory: Memory, entity: str, attribute: str, value: str, day: str, **more: Any) -> None:
    kind = more.pop("kind", "observation")
    claim = {"entity": entity, "attribute": attribute, "value": value, "kind": kind, **more.pop("claim", {})}
    memory.retain({"observed_at": f"2024-{day}", "claims": [claim], **more})


def standing(memory: Memory, question: str, **fields: Any) -> dict[object, str]:
    return {found.belief.value: found.belief.status for found in memory.recall(question, **fields).found}


def id_of(memory: Memory, question: str, value: str) -> str:
    return next(found.belief.id for found in memory.recall(question).found if found.belief.value == value)


def test_a_sighting_contests_an_order_and_the_next_order_replaces_it(memory: Memory) -> None:
    told(memory, "door", "state", "closed", "06-01", agent="lead", kind="instruction")
    told(memory, "door", "state", "open", "06-09", agent="camera")
    assert standing(memory, "state of the door") == {"closed": "contested", "open": "contested"}

    told(memory, "door", "state", "open", "06-10", agent="lead", kind="instruction")
    assert standing(memory, "state of the door") == {"open": "active"}


def test_an_old_document_that_comes_late_changes_nothing(memory: Memory) -> None:
    memory.retain("Free shipping from 200 yuan.", source="May", observed_at="2024-05-20")
    memory.retain("Free shipping from 100 yuan.", source="March", observed_at="2024-03-01")

    assert [str(value) for value in standing(memory, "free shipping")] == ["200 CNY"]


def test_an_exception_that_is_taken_back_lets_the_rule_hold_again(memory: Memory) -> None:
    for day, text in (
        ("05-01", "All reports use template A."),
        ("05-05", "Financial reports use template B."),
    ):
        memory.retain(text, source=day, agent="ann", observed_at=f"2024-{day}")
    financial = {"scope": {"report": "financial"}}
    assert standing(memory, "template", **financial) == {"B": "active"}
    rule = next(
        found.belief for found in memory.recall("Which template do reports use?").found if not found.belief.scope
    )
    assert rule.statement == "All reports use template A, except report: financial"

    memory.retain("Financial reports no longer use template B.", source="05-09", agent="ann", observed_at="2024-05-09")
    assert standing(memory, "template", **financial)["A"] == "active"
    assert "B" not in standing(memory, "template", **financial)


def test_a_chain_is_explained_and_falls_as_a_whole(memory: Memory) -> None:
    told(memory, "offsite", "plan", "A", "06-01")
    plan = id_of(memory, "offsite plan", "A")
    told(memory, "room 3", "state", "booked", "06-02", kind="derivation", claim={"premises": [plan]})
    room = id_of(memory, "room 3 state", "booked")
    told(memory, "catering", "place", "room 3", "06-03", kind="derivation", claim={"premises": [room]})
    food = id_of(memory, "catering place", "room 3")

    assert explanation_text(memory.explain(food)).splitlines()[-3:] == [
        "Concluded from:",
        f"  {room[:13]}: room 3: state is booked, active (beneath {food[:13]})",
        f"    {plan[:13]}: offsite: plan is A, active (beneath {room[:13]})",
    ]

    told(memory, "offsite", "plan", "B", "06-04")
    assert [found.belief.value for found in memory.recall("catering room 3 offsite plan").found] == ["B"]
    assert f"  {room[:13]}: room 3: state is booked, revoked, does not carry it" in explanation_text(
        memory.explain(food)
    )


def test_what_lena_keeps_to_herself_is_hers_alone(memory: Memory) -> None:
    told(memory, "office", "city", "Oslo", "06-08", agent="ann")
    told(memory, "office", "city", "Bergen", "06-09", agent="lena", visibility="private")

    assert standing(memory, "city of the office") == {"Oslo": "active"}
    assert standing(memory, "city of the office", principal="lena") == {"Bergen": "active"}


def test_five_log_lines_become_four_observations_of_two_tiers(tmp_path: Path) -> None:
    minute = {"time": "2024-06-10T10:00:00Z", "service": "checkout"}
    lines = [
        {**minute, "level": "info", "message": "served /cart in 12 ms"},
        *({**minute, "level": "error", "message": "connection to db refused"} for _ in range(3)),
        {**minute, "level": "info", "message": "started", "version": "1.4.2"},
    ]
    file = tmp_path / "checkout.log"
    file.write_text("\n".join(map(json.dumps, lines)))

    arguments = ["import", "--source", "jsonlog", str(file), "--folder", str(tmp_path / "mesh")]
    result = CliRunner().invoke(beliefmesh, arguments)

    assert "5 read: 4 observations accepted, 2 repeats counted in them" in result.output
    with Memory(tmp_path / "mesh") as memory:
        beliefs = [belief for stored in all_slots(memory.home.graph, "default") for belief in stored.slot.beliefs]
    tiers = {(belief.attribute, str(belief.value)): belief.tier for belief in beliefs if belief.attribute}
    assert tiers["state", "running"] == tiers["version", "1.4.2"] == "medium"
    assert tiers["count of “connection to db refused”", "3"] == tiers["duration", "12 ms"] == "low"


def test_two_who_mark_the_gate_wrong_end_its_lead(open_memory: Any, clock: Any) -> None:
    memory: Memory = open_memory(clock=clock)
    told(memory, "UA 1", "gate", "C4", "06-01", source="board")
    for document in range(5):
        told(memory, "UA 1", "gate", "B2", "06-10T12:00:00Z", source=f"document {document}")
    gate = id_of(memory, "gate of UA 1", "B2")
    clock.set("2024-06-10T12:05:00Z")

    memory.feedback(gate, "wrong", agent="Ana")
    assert standing(memory, "gate of UA 1") == {"B2": "active"}
    memory.feedback(gate, "wrong", agent="Ben")

    account = memory.explain(gate)
    assert (round(account.support, 1), round(account.refutation, 1)) == (5.0, 3.0)
    assert (account.belief.status, account.belief.reason) == ("revoked", "refuted")
    assert standing(memory, "gate of UA 1") == {"C4": "contested"}
