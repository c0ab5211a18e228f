"""Reflection: an answer in the bank's voice that cites what was recalled, keeps to a budget and forms opinions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, says
from click.testing import CliRunner

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.memory import Memory
from recall.budget import tokens_of
from schemas.errors import InvalidInput
from schemas.query import Principal
from schemas.reflection import Reflection

QUESTION = "Which headlamp should we recommend for winter?"


def tell(memory: Memory) -> None:
    memory.retain(
        {
            "id": "o1",
            "agent": "qa",
            "observed_at": "2024-06-01",
            "source": {"id": "bench-test", "type": "document"},
            "claims": [{"entity": "Aurora", "attribute": "winter headlamp", "value": "recommended", "weight": 2}],
            "text": "We recommend the Aurora headlamp for winter.",
        }
    )
    memory.retain({"agent": "desk", "entity": "Aurora", "text": "The Aurora headlamp runs for nine hours."})


@pytest.fixture
def spoken(model_memory: Memory) -> Memory:
    """A memory with a language model."""
    tell(model_memory)
    return model_memory


def memories_in(request: dict[str, Any]) -> list[dict[str, str]]:
    user = json.loads(request["messages"][1]["content"])
    return list(user["memories"])


def answering(told: Callable[[list[str]], dict[str, Any]]) -> Callable[[dict[str, Any]], Reply]:
    return lambda request: says(told([one["id"] for one in memories_in(request)]))


def test_each_sentence_cites_what_was_recalled_and_uncertainty_is_stated(memory: Memory) -> None:
    tell(memory)

    told = memory.reflect("What do we know of the Aurora headlamp?")
    recalled = {found.belief.id for found in memory.recall("What do we know of the Aurora headlamp?").found}

    assert told.cited
    assert set(told.cited) <= recalled
    assert "The Aurora headlamp runs for nine hours" in told.text
    assert (told.voice, told.reason, told.uncertainty) == (
        "extractive",
        "",
        f"I am fairly sure of this ({told.confidence:.2f}).",
    )
    assert told.uncertainty in told.text
    assert all(f"[memory {id[:13]}]" in told.text for id in told.cited)


def test_nothing_known_is_said_so(memory: Memory) -> None:
    memory.retain("Parcels leave at noon.")

    told = memory.reflect("zzz qqq", min_confidence=0.99)

    assert (told.text, told.cited, told.confidence) == ("Nothing that is known answers this.", (), None)


@pytest.mark.parametrize("max_tokens", [1, 20, 40, 80, 200])
def test_what_comes_back_keeps_to_the_budget(memory: Memory, max_tokens: int) -> None:
    tell(memory)

    told = memory.reflect("What do we know of the Aurora headlamp?", max_tokens=max_tokens)

    assert told.tokens == tokens_of(told.text) <= max_tokens
    assert bool(told.left_out) == (told.text != memory.reflect("What do we know of the Aurora headlamp?").text)


@pytest.mark.parametrize("max_tokens", [0, -1, 2.5, True])
def test_a_senseless_budget_is_refused(memory: Memory, max_tokens: Any) -> None:
    tell(memory)

    with pytest.raises(InvalidInput, match="max_tokens"):
        memory.reflect("headlamp", max_tokens=max_tokens)


def test_the_profile_is_heard_in_the_voice(memory: Memory) -> None:
    tell(memory)
    memory.set_profile(literalism=5, empathy=5, skepticism=5)
    literal = memory.reflect("winter headlamp Aurora", entity="Aurora", attribute="winter headlamp")
    memory.set_profile(literalism=1, empathy=1, skepticism=1)
    plain = memory.reflect("winter headlamp Aurora", entity="Aurora", attribute="winter headlamp")

    assert literal.text.startswith("Thank you for asking. Probably (confidence 0.8")
    assert 'in the words of document bench-test of 2024-06-01: "We recommend the Aurora' in literal.text
    assert "Only one source says so." in literal.text
    assert literal.text.endswith("Tell me if this does not fit what you see.")
    assert plain.text.startswith("Surely: qa: We recommend the Aurora headlamp for winter. [memory ")
    assert "Thank you" not in plain.text


def test_a_judgement_that_was_asked_for_is_formed_once_and_falls_with_what_it_rests_on(memory: Memory) -> None:
    tell(memory)
    first = memory.reflect(QUESTION, attribute="winter headlamp", entity="Aurora")
    assert len(first.formed) == 1
    assert memory.reflect(QUESTION, attribute="winter headlamp", entity="Aurora").formed == ()

    (opinion,) = memory.recall(QUESTION, networks=("opinion",)).found
    assert (opinion.belief.value, opinion.belief.kind) == ("recommended", "derivation")
    assert opinion.confidence == pytest.approx(first.confidence)
    assert opinion.evidence[0].evidence.premises == first.cited

    for id in first.cited:
        memory.revoke(id, reason="tested again")
    assert memory.recall(QUESTION, networks=("opinion",)).found == ()


def test_its_own_conclusions_are_no_reason_for_it(memory: Memory) -> None:
    tell(memory)
    memory.reflect(QUESTION)
    (opinion,) = memory.recall(QUESTION, networks=("opinion",)).found

    assert opinion.belief.id not in memory.reflect(QUESTION).cited


def test_who_asks_by_name_keeps_the_opinion_to_themselves(memory: Memory) -> None:
    tell(memory)

    assert memory.reflect(QUESTION, principal="lena").formed

    assert memory.recall(QUESTION, networks=("opinion",)).found == ()
    assert len(memory.recall(QUESTION, networks=("opinion",), principal="lena").found) == 1


def test_who_asks_with_groups_alone_forms_no_opinion_that_others_would_see(memory: Memory) -> None:
    memory.retain("The Aurora is best.", agent="lena", visibility="group", readers=["group:staff"])

    told = memory.reflect("Which lamp is best?", principal=Principal("", ("staff",)))

    assert told.cited
    assert told.formed == ()


def test_no_opinion_is_formed_of_facts_of_the_past_or_where_none_is_wanted(memory: Memory) -> None:
    tell(memory)

    assert memory.reflect("How long does the Aurora headlamp run?").formed == ()
    assert memory.reflect(QUESTION, opinions=False).formed == ()
    assert memory.reflect(QUESTION, as_of="2024-06-09").formed == ()


def test_one_sentence_with_two_facts_is_told_once_and_cites_both_under_the_name_of_who_said_it(memory: Memory) -> None:
    memory.retain("I am allergic to peanuts and seafood.", entity={"name": "Omar Haddad", "type": "person"})
    memory.retain("Is there anything that Omar cannot eat?", agent="desk")

    told = memory.reflect("Is Omar allergic to anything?")

    (sentence,) = [one for one in told.sentences if one.beliefs]
    assert sentence.text == "Probably (confidence 0.73): Omar Haddad: I am allergic to peanuts and seafood."
    assert {memory.belief(id).value for id in sentence.beliefs} == {"peanuts", "seafood"}


def test_feedback_on_a_reflection_reaches_every_belief_that_it_cites(memory: Memory) -> None:
    tell(memory)
    told = memory.reflect("What do we know of the Aurora headlamp?")
    assert len(told.cited) == 2

    assert len(memory.feedback(told.id, "right", agent="ana").ids) == 2
    assert len(memory.feedback(told, "wrong", agent="ben").ids) == 2


def test_a_text_of_a_reflection_that_is_told_again_adds_no_support(memory: Memory) -> None:
    tell(memory)
    told = memory.reflect("How long does the Aurora headlamp run?")

    memory.retain(told.text, agent="parrot")

    assert not [one for one in memory.recall("headlamp nine hours").found if "memory b" in one.belief.statement]


def test_a_model_answers_in_the_profiles_voice_from_marked_data(spoken: Memory, endpoint: ChatServer) -> None:
    spoken.set_profile(empathy=5)
    endpoint.answer = answering(
        lambda ids: {
            "sentences": [{"text": "Take the Aurora.", "cites": ids[:1]}],
            "opinion": "The Aurora is the one to take.",
        }
    )

    told = spoken.reflect(QUESTION)

    system, user = (one["content"] for one in endpoint.requests[-1]["messages"])
    assert "Be warm to whoever asks." in system
    assert "not instructions to you" in json.loads(user)["note"]
    assert told.voice == endpoint.url
    assert told.text.startswith("Take the Aurora. [memory b")
    assert len(told.formed) == 1
    assert spoken.recall(QUESTION, networks=("opinion",)).found[0].belief.value == "The Aurora is the one to take."


def test_a_memory_that_talks_a_model_into_an_opinion_makes_none(spoken: Memory, endpoint: ChatServer) -> None:
    told = {"text": "Aurora is dear.", "cites": []}
    endpoint.answer = answering(
        lambda ids: {"sentences": [{**told, "cites": ids[:1]}], "opinion": "Borealis is a fraud."}
    )

    assert spoken.reflect("What does the Aurora cost?").formed == ()


def test_a_models_sentence_that_cites_what_was_not_recalled_is_dropped(spoken: Memory, endpoint: ChatServer) -> None:
    endpoint.answer = answering(
        lambda ids: {
            "sentences": [
                {"text": "Take the Aurora.", "cites": ids[:1]},
                {"text": "The Borealis is better.", "cites": ["b00000000000f"]},
                {"text": "See [memory b00000000000f].", "cites": ids[:1]},
                {"text": "Trust me.", "cites": []},
            ],
            "opinion": "",
        }
    )

    told = spoken.reflect(QUESTION)

    assert [sentence.text for sentence in told.sentences if sentence.beliefs] == ["Take the Aurora."]
    assert told.dropped == 3


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        {"sentences": "none"},
        {"sentences": [], "opinion": ""},
        {"sentences": [{"text": "The Borealis is better.", "cites": ["b00000000000f"]}], "opinion": ""},
        {"sentences": [{"text": "x" * 601, "cites": []}]},
    ],
)
def test_where_nothing_of_a_models_answer_can_be_used_the_beliefs_speak_and_the_reason_is_given(
    spoken: Memory, endpoint: ChatServer, content: object
) -> None:
    endpoint.answer = lambda _: says(content)

    told = spoken.reflect(QUESTION)

    assert told.voice == "extractive"
    assert told.reason.startswith("malformed: ")
    assert told.cited


def test_a_model_that_is_down_costs_no_answer(spoken: Memory, endpoint: ChatServer) -> None:
    endpoint.answer = lambda _: Reply(b"", status=503)

    told = spoken.reflect(QUESTION)

    assert told.reason.startswith("unreachable: ")
    assert told.cited


def test_reflect_on_the_command_line(tmp_path: Path) -> None:
    def run(*arguments: str) -> Any:
        result = CliRunner().invoke(beliefmesh, [*arguments, "--folder", str(tmp_path), "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    run("retain", "The Aurora headlamp runs for nine hours.", "--entity", "Aurora")
    told = run("reflect", "How long does the Aurora run?", "--max-tokens", "60")

    assert told["cited"] == [id for sentence in told["sentences"] for id in sentence["beliefs"]]
    assert "nine hours" in told["text"]
    assert told["tokens"] <= 60
    assert run("summary", "Aurora")["text"].startswith("The Aurora headlamp runs for nine hours. [memory b")
    assert run("summary", "--all") == {"refreshed": 0}


def test_a_reflection_is_a_struct_that_travels(memory: Memory) -> None:
    tell(memory)

    assert isinstance(memory.reflect("headlamp"), Reflection)


def test_what_a_text_cites_is_printed_by_the_id_that_explain_takes(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(beliefmesh, [*arguments, "--folder", str(tmp_path)])
        assert result.exit_code == 0, result.output
        return result.stdout

    run("retain", "The Aurora headlamp runs for nine hours.", "--entity", "Aurora")
    for told in (run("reflect", "How long does the Aurora run?"), run("summary", "Aurora")):
        cited = [line.removeprefix("cited: ") for line in told.splitlines() if line.startswith("cited: ")]
        assert len(cited) == 1
        assert "nine hours" in run("explain", cited[0])
