"""Summaries of entities: each sentence cites a belief, and what lies beneath keeps them fresh."""

from typing import Any

import pytest

from beliefmesh.memory import Memory
from schemas.errors import NotFound


def gate(memory: Memory, value: str, agent: str = "airport", **more: Any) -> None:
    claim = {"entity": "UA 1", "attribute": "gate", "value": value, "statement": f"UA 1 leaves from {value}."}
    memory.retain({"agent": agent, "claims": [claim], **more})


def texts(memory: Memory, **more: Any) -> list[str]:
    return [sentence.text for sentence in memory.summary("UA 1", **more).sentences]


def test_a_summary_cites_the_belief_of_each_sentence(memory: Memory) -> None:
    gate(memory, "B2", kind="instruction")
    memory.retain({"entity": "UA 1", "text": "UA 1 was late on Monday."})
    claim = {"entity": "UA 1", "attribute": "crew", "value": "kind", "statement": "The crew of UA 1 is kind."}
    memory.retain({"agent": "ana", "network": "opinion", "claims": [claim]})

    told = memory.summary("UA 1")

    assert [sentence.text for sentence in told.sentences] == [
        "UA 1 leaves from B2.",
        "Opinion: The crew of UA 1 is kind.",
        "UA 1 was late on Monday.",
    ]
    for sentence in told.sentences:
        (id,) = sentence.beliefs
        assert memory.belief(id).statement.rstrip(".") in sentence.text
        assert f"{sentence.text} [memory {id[:13]}]" in told.text


def test_it_is_stored_once_and_again_only_when_what_lies_beneath_has_moved(memory: Memory) -> None:
    gate(memory, "B2", observed_at="2024-06-08")
    first = memory.summary("UA 1")
    assert first.refreshed
    assert memory.belief(first.belief).network == "observation"

    again = memory.summary("UA 1")
    assert (again.refreshed, again.belief, again.text, again.sentences) == (
        False,
        first.belief,
        first.text,
        first.sentences,
    )
    assert memory.refresh_summaries() == 0

    gate(memory, "C4", observed_at="2024-06-09")
    assert memory.refresh_summaries() == 1
    assert memory.refresh_summaries() == 0
    assert texts(memory) == ["UA 1 leaves from C4."]


def test_going_back_and_forth_is_told_each_time(memory: Memory) -> None:
    for day, value in enumerate(("B2", "C4", "B2"), 1):
        gate(memory, value, observed_at=f"2024-06-0{day}", agent=f"desk {day}", kind="instruction")
        assert texts(memory) == [f"UA 1 leaves from {value}."]


def test_a_summary_is_not_shown_once_what_it_cites_has_fallen(memory: Memory) -> None:
    gate(memory, "B2", observed_at="2024-06-08")
    told = memory.summary("UA 1")
    (id,) = told.sentences[0].beliefs
    assert memory.recall("UA 1 leaves", networks=("observation",)).found

    memory.revoke(id, reason="moved")

    assert memory.recall("UA 1 leaves", networks=("observation",)).found == ()
    with pytest.raises(NotFound):
        memory.summary("UA 1")


def test_what_only_some_may_see_is_in_their_summary_and_never_in_the_stored_one(memory: Memory) -> None:
    gate(memory, "B2")
    memory.retain(
        {"entity": "UA 1", "text": "UA 1 carries the canary.", "agent": "lena", "visibility": "private"},
    )

    assert "UA 1 carries the canary." in texts(memory, principal="lena")
    assert memory.summary("UA 1", principal="lena").belief == ""
    assert texts(memory) == ["UA 1 leaves from B2."]
    assert "canary" not in memory.summary("UA 1").text


def test_nothing_is_told_of_whom_nothing_is_known(memory: Memory) -> None:
    gate(memory, "B2")
    memory.retain({"entity": "Wei", "text": "Wei wants to leave.", "agent": "lena", "visibility": "private"})

    for name in ("nobody", "Wei"):
        with pytest.raises(NotFound):
            memory.summary(name)


def test_who_speaks_is_named_where_a_sentence_says_i(memory: Memory) -> None:
    memory.retain("I froze on UA 1.", entity="UA 1", agent="jonas")
    memory.retain("We are sorry for that.", entity="UA 1", agent="desk")

    assert sorted(texts(memory)) == ["desk: We are sorry for that.", "jonas: I froze on UA 1."]


def test_a_dispute_is_told(memory: Memory) -> None:
    gate(memory, "B2", agent="one")
    gate(memory, "C4", agent="two")

    assert any("disputed by" in text for text in texts(memory))


def test_what_is_forgotten_stands_in_no_summary_and_no_opinion_any_more(open_memory: Any, tmp_path: Any) -> None:
    memory: Memory = open_memory("mesh")
    for id, day, words in (("o1", "08", "UA 1 leaves from B2."), ("o2", "09", "UA 1 leaves from B2, says zebrafinch.")):
        claim = {"entity": "UA 1", "attribute": "gate", "value": "B2", "statement": words}
        memory.retain({"id": id, "agent": id, "observed_at": f"2024-06-{day}", "claims": [claim]})
    assert "zebrafinch" in memory.summary("UA 1").text
    assert memory.reflect("Which gate should UA 1 leave from?", entity="UA 1").formed

    report = memory.forget(ids=["o2"])

    assert (report.observations, report.derived) == (3, 2)
    assert texts(memory) == ["UA 1 leaves from B2."]
    memory.close()
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and b"zebrafinch" in path.read_bytes()]
    assert holding == []
