"""An opinion that a reflection formed moves with what leads; and each extreme of a profile changes what it is to."""

import re
from typing import Any

import pytest

from beliefmesh.memory import Memory
from schemas.belief import Belief

QUESTION = "Which gate should UA 1 leave from?"
WHICH = "Which headlamp should we recommend?"


def gate(memory: Memory, value: str, day: int, **more: Any) -> None:
    claim = {"entity": "UA 1", "attribute": "gate", "value": value, "statement": f"UA 1 should leave from {value}."}
    memory.retain({"agent": f"desk {day}", "observed_at": f"2024-06-{day:02}", "claims": [claim | more]})


def praise(memory: Memory, lamp: str, weight: float, day: int) -> None:
    claim = {"entity": lamp, "attribute": "headlamp", "value": "recommended", "weight": weight, "kind": "instruction"}
    said = f"We recommend the headlamp {lamp}."
    memory.retain({"agent": "qa", "observed_at": f"2024-06-{day:02}", "text": said, "claims": [claim]})


def opinions(memory: Memory, question: str) -> list[Belief]:
    return [found.belief for found in memory.recall(question, networks=("opinion",)).found]


def test_when_another_value_leads_the_opinion_is_updated_and_history_keeps_the_old_one(
    open_memory: Any, clock: Any
) -> None:
    memory: Memory = open_memory(clock=clock)
    gate(memory, "B2", 1)
    assert memory.reflect(QUESTION).formed
    (first,) = opinions(memory, QUESTION)
    assert first.value == "B2"

    clock.set("2024-06-11")
    gate(memory, "C4", 11)
    assert opinions(memory, QUESTION) == []
    assert memory.reflect(QUESTION).formed
    (second,) = opinions(memory, QUESTION)

    assert (second.value, second.slot) == ("C4", first.slot)
    told = memory.history(second.id)
    assert {belief.value: belief.status for belief in told.beliefs} == {"B2": "revoked", "C4": "active"}
    assert [piece.value for turn in told.turns for piece in turn.evidence] == ["B2", "C4"]
    (slot,) = memory.home.graph.load_slots("default", [second.slot]).values()
    assert slot.slot.version > first.version
    assert memory.reflect(QUESTION).formed == ()
    assert [turn.evidence[0].value for turn in memory.history(second.id).turns] == ["B2", "C4"]


def test_when_another_thing_leads_the_opinion_on_the_first_one_is_taken_back(open_memory: Any, clock: Any) -> None:
    memory: Memory = open_memory(clock=clock)
    praise(memory, "Aurora", 1, 1)
    assert memory.reflect(WHICH).formed
    assert [belief.entity.name for belief in opinions(memory, WHICH)] == ["Aurora"]

    clock.set("2024-06-11")
    praise(memory, "Borealis", 9, 11)
    told = memory.reflect(WHICH)

    assert told.formed
    assert [belief.entity.name for belief in opinions(memory, WHICH)] == ["Borealis"]

    clock.set("2024-06-12")
    (lead,) = [one for one in memory.recall(WHICH, networks=("world",)).found if one.belief.id == told.cited[0]]
    memory.revoke(lead.belief.id, reason="out of stock")
    assert [belief.entity.name for belief in opinions(memory, WHICH)] == ["Aurora"]


def test_an_opinion_that_one_asker_keeps_takes_back_none_of_the_banks(open_memory: Any, clock: Any) -> None:
    memory: Memory = open_memory(clock=clock)
    praise(memory, "Aurora", 1, 1)
    memory.reflect(WHICH)

    clock.set("2024-06-11")
    praise(memory, "Borealis", 9, 11)
    assert memory.reflect(WHICH, principal="lena").formed

    assert [belief.entity.name for belief in opinions(memory, WHICH)] == ["Aurora"]


SURE = "[memory b0] I am fairly sure of this (0.83)."
LAMP = "qa: We recommend the lamp."


@pytest.mark.parametrize(
    ("traits", "expected"),
    [
        ({"skepticism": 1}, f"Surely (confidence 0.83): {LAMP} [memory b0] I am sure of this (0.83)."),
        ({"skepticism": 5}, f"Probably (confidence 0.83): {LAMP} {SURE} Only one source says so."),
        ({"literalism": 1}, f"Most likely: {LAMP} {SURE}"),
        (
            {"literalism": 5},
            "Most likely (confidence 0.83), in the words of document test of 2024-06-01: "
            f'"We recommend the lamp." {SURE}',
        ),
        ({"empathy": 1}, f"Most likely (confidence 0.83): {LAMP} {SURE}"),
        (
            {"empathy": 5},
            f"Thank you for asking. Most likely (confidence 0.83): {LAMP} {SURE} "
            "Tell me if this does not fit what you see.",
        ),
        ({"bias_strength": 1.0}, f"Most likely (confidence 0.83): {LAMP} {SURE}"),
    ],
    ids=str,
)
def test_each_extreme_of_a_trait_alone_is_heard_in_the_answer(
    memory: Memory, traits: dict[str, float], expected: str
) -> None:
    claim = {"entity": "lamp", "attribute": "advice", "value": "recommended", "weight": 2}
    source = {"id": "test", "type": "document"}
    said = {"agent": "qa", "observed_at": "2024-06-01", "source": source, "text": "We recommend the lamp."}
    memory.retain({**said, "claims": [claim]})
    memory.set_profile(**traits)

    told = memory.reflect("advice on the lamp", opinions=False)

    assert re.sub(r"b[0-9a-f]{12}", "b0", told.text) == expected


@pytest.mark.parametrize(
    ("traits", "expected"),
    [
        ({}, 0.631),
        ({"skepticism": 1}, 0.681),
        ({"skepticism": 5}, 0.581),
        ({"bias_strength": 0.0}, 0.631),
        ({"bias_strength": 1.0}, 0.831),
    ],
    ids=str,
)
def test_skepticism_and_bias_move_what_recall_says_of_an_opinion(
    memory: Memory, traits: dict[str, float], expected: float
) -> None:
    for day, (agent, stance) in enumerate((("ana", "supports"), ("ben", "supports"), ("eve", "refutes")), 1):
        claim = {"entity": "Aurora", "attribute": "best gift", "value": "yes", "stance": stance}
        memory.retain({"agent": agent, "observed_at": f"2024-06-0{day}", "network": "opinion", "claims": [claim]})
    memory.set_profile(**traits)

    (found,) = memory.recall("best gift Aurora", networks=("opinion",)).found

    assert round(found.confidence, 3) == expected
