"""What was recalled and is told again by the same agent is marked, so that it adds no support (field case 9)."""

from typing import Any

import pytest

from beliefmesh.echo import Echoes
from schemas.answer import Answer, Found
from schemas.belief import Belief
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.observation import Observation, Source
from schemas.query import Principal, Query

DOOR = Entity("door")


def asked(who: str, bank: str = "default") -> Query:
    return Query(bank=bank, text="door?", now=0, principal=Principal(who))


def answered(*statements: str) -> Answer:
    found = tuple(
        Found(
            belief=Belief(id="b1", bank="default", slot="s1", entity=DOOR, statement=statement, status="active"),
            confidence=0.7,
            score=1.0,
            scores={},
            evidence=(),
        )
        for statement in statements
    )
    return Answer(id="a1", bank="default", question="door?", moment=0, found=found)


def told(text: str, **changed: Any) -> Observation:
    fields: dict[str, Any] = {"id": "o1", "bank": "default", "agent": "ann", "source": Source("ann"), "observed_at": 0}
    return Observation(text=text, **(fields | changed))


@pytest.fixture
def echoes() -> Echoes:
    """Ann was told that the door is red."""
    made = Echoes()
    made.returned(asked("ann"), answered("The door is red", "The gate is blue"))
    return made


@pytest.mark.parametrize("text", ["The door is red", "the  DOOR is red ", "Ｔhe door is red", "The gate is blue"])
def test_what_an_agent_was_told_and_says_again_is_marked(echoes: Echoes, text: str) -> None:
    marked = echoes.marked(told(text, source=Source("ann", "desk")))
    assert marked.source == Source("ann", "desk", "recall")
    assert marked.text == text


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "The door is red and heavy"},
        {"agent": "bob", "source": Source("bob")},
        {"source": Source("handbook.md", "", "document")},
        {"agent": ""},
        {"bank": "other"},
        {"claims": (Claim(entity=DOOR, attribute="colour", value="red"),)},
    ],
)
def test_anything_else_is_left_as_it_is(echoes: Echoes, changed: dict[str, Any]) -> None:
    observation = told(**({"text": "The door is red"} | changed))
    assert echoes.marked(observation) == observation


def test_what_was_told_to_nobody_in_particular_marks_nobody() -> None:
    echoes = Echoes()
    echoes.returned(asked(""), answered("The door is red"))
    observation = told("The door is red", agent="", source=Source("anonymous"))
    assert echoes.marked(observation) == observation


def test_only_the_latest_twenty_thousand_statements_are_remembered(echoes: Echoes) -> None:
    echoes.returned(asked("ann"), answered(*(f"Line {number}" for number in range(19_999))))
    assert echoes.marked(told("The gate is blue")).source.type == "recall"
    echoes.returned(asked("ann"), answered("The last line"))
    assert echoes.marked(told("The gate is blue")).source.type == "other"
    assert echoes.marked(told("Line 0")).source.type == "recall"
