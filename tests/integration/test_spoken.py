"""Reflections and summaries in a language model's words: they cite what was recalled, and all of it that they tell."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from chat_server import ChatServer, Reply, says

from beliefmesh.memory import Memory

_MARK = re.compile(r"\[memory ([^\[\]]*)\]")


@pytest.fixture
def spoken(model_memory: Memory) -> Memory:
    """A memory with a language model, in which two gates of one flight compete."""
    for agent, value in (("one", "B2"), ("two", "C4")):
        claim = {"entity": "UA 1", "attribute": "gate", "value": value, "statement": f"UA 1 leaves from {value}."}
        model_memory.retain({"agent": agent, "observed_at": "2024-06-09", "claims": [claim]})
    claim = {"entity": "UA 1", "attribute": "seats", "value": 180, "statement": "UA 1 has 180 seats."}
    model_memory.retain({"agent": "fleet", "claims": [claim]})
    return model_memory


def answering(told: Callable[[dict[str, str]], list[dict[str, Any]]]) -> Callable[[dict[str, Any]], Reply]:
    """Answers with sentences made from the memories given, their ids by line."""

    def answer(request: dict[str, Any]) -> Reply:
        memories = json.loads(request["messages"][1]["content"])["memories"]
        return says({"sentences": told({one["line"]: one["id"] for one in memories}), "opinion": ""})

    return answer


def lying(seed: int) -> Callable[[dict[str, Any]], Reply]:
    """Answers that cite what was given, parts of it, and what nobody ever told, in sentences and beside them."""
    random = Random(seed)

    def told(memories: dict[str, str]) -> list[dict[str, Any]]:
        given = list(memories.values())
        names = [*given, given[0][:10], given[0].upper(), *(f"b{random.getrandbits(48):012x}" for _ in range(4))]
        return [{"text": "UA 1 goes.", "cites": [given[0]]}] + [
            {
                "text": f"It is said [memory {random.choice(names)}]." if random.random() < 0.5 else f"No {number}.",
                "cites": random.sample(names, random.randrange(3)),
            }
            for number in range(12)
        ]

    return answering(told)


def values_of(memory: Memory, ids: tuple[str, ...]) -> set[object]:
    return {memory.belief(id).value for id in ids}


def test_a_model_that_sums_up_a_dispute_cites_both_sides_now_and_when_it_is_read_again(
    spoken: Memory, endpoint: ChatServer
) -> None:
    endpoint.answer = answering(
        lambda memories: [
            {"text": "UA 1 leaves from B2, or from C4.", "cites": [id]}
            for line, id in memories.items()
            if "(disputed by" in line
        ][:1]
    )

    told = spoken.summary("UA 1")

    (sentence,) = told.sentences
    assert (told.voice, sentence.text) == (endpoint.url, "UA 1 leaves from B2, or from C4.")
    assert values_of(spoken, sentence.beliefs) == {"B2", "C4"}
    assert spoken.summary("UA 1").sentences == told.sentences
    assert all(id[:13] in spoken.belief(told.belief).statement for id in sentence.beliefs)


def test_a_summary_in_a_models_words_falls_with_what_its_entity_was_summed_up_from(
    spoken: Memory, endpoint: ChatServer
) -> None:
    endpoint.answer = answering(
        lambda memories: [{"text": "UA 1 flies.", "cites": [id]} for line, id in memories.items() if "180" in line]
    )
    told = spoken.summary("UA 1")
    assert [found.belief.id for found in spoken.recall("UA 1 flies", networks=("observation",)).found] == [told.belief]

    disputed = next(one for one in spoken.recall("UA 1 leaves from C4").found if one.belief.value == "C4")
    spoken.revoke(disputed.belief.id, reason="seen at the gate")

    assert spoken.recall("UA 1 flies", networks=("observation",)).found == ()


@pytest.mark.parametrize("seed", range(6))
def test_whatever_ids_a_model_invents_an_answer_cites_only_what_was_recalled(
    spoken: Memory, endpoint: ChatServer, seed: int
) -> None:
    endpoint.answer = lying(seed)

    told = spoken.reflect("Where does UA 1 leave from?")

    recalled = {found.belief.id for found in spoken.recall("Where does UA 1 leave from?").found}
    assert told.voice == endpoint.url
    assert told.cited
    assert set(told.cited) <= recalled
    marks = {id for ids in _MARK.findall(told.text) for id in ids.split(", ")}
    assert marks <= {id[:13] for id in told.cited}


@pytest.mark.parametrize("seed", range(6))
def test_whatever_ids_a_model_invents_a_summary_cites_only_what_is_held_of_its_entity(
    spoken: Memory, endpoint: ChatServer, seed: int
) -> None:
    endpoint.answer = lying(seed)

    told = spoken.summary("UA 1")

    cited = {id for sentence in told.sentences for id in sentence.beliefs}
    assert told.voice == endpoint.url
    assert values_of(spoken, tuple(cited)) <= {"B2", "C4", 180}
    assert {id for ids in _MARK.findall(told.text) for id in ids.split(", ")} == {id[:13] for id in cited}


def test_where_a_model_tells_nothing_that_can_be_used_the_summary_is_in_the_beliefs_own_words(
    spoken: Memory, endpoint: ChatServer
) -> None:
    endpoint.answer = answering(lambda _: [{"text": "UA 1 was sold.", "cites": ["b00000000000f"]}])

    told = spoken.summary("UA 1")

    assert (told.voice, told.reason) == ("extractive", "malformed: the answer cites nothing that was recalled")
    assert "UA 1 has 180 seats." in [sentence.text for sentence in told.sentences]
