"""A bank's profile and background, and feedback on whole answers, in every way there is to reach them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.memory import Memory
from schemas.errors import InvalidInput, NotFound
from schemas.profile import NEUTRAL, Persona, Profile


def judged(memory: Memory, agent: str, value: str, **more: Any) -> None:
    claim = {"entity": "Aurora", "attribute": "best gift", "value": value, **more}
    memory.retain({"agent": agent, "network": "opinion", "claims": [claim]})


def sureness(memory: Memory, value: str) -> float:
    found = memory.recall("best gift Aurora", entity="Aurora", networks=("opinion",)).found
    return round(next(one.confidence for one in found if one.belief.value == value), 3)


def test_a_bank_is_neutral_until_it_is_given_a_profile(memory: Memory) -> None:
    assert memory.profile() == Persona(NEUTRAL)

    memory.set_profile(skepticism=5)

    assert memory.set_profile(bias_strength=0.5).profile == Profile(5, 3, 3, 0.5)
    assert memory.profile(bank="other").profile == NEUTRAL


def test_opinions_are_told_again_under_another_profile(memory: Memory) -> None:
    judged(memory, "ana", "headlamp")
    judged(memory, "ben", "headlamp")
    assert sureness(memory, "headlamp") == 0.831

    memory.set_profile(skepticism=5)

    assert sureness(memory, "headlamp") == 0.781


@pytest.mark.parametrize(
    ("traits", "field"),
    [
        ({"skepticism": 0}, "profile.skepticism"),
        ({"literalism": 6}, "profile.literalism"),
        ({"empathy": 2.5}, "profile.empathy"),
        ({"empathy": True}, "profile.empathy"),
        ({"bias_strength": 1.1}, "profile.bias_strength"),
        ({"bias_strength": float("nan")}, "profile.bias_strength"),
        ({"skepticism": 2, "bias_strength": -0.1}, "profile.bias_strength"),
    ],
)
def test_a_trait_out_of_its_range_is_refused_by_name_and_changes_nothing(
    memory: Memory, traits: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.set_profile(**traits)

    assert refused.value.field == field
    assert memory.profile().profile == NEUTRAL


def test_of_the_background_the_newer_wins_and_the_rest_is_kept(open_memory: Any, clock: Any) -> None:
    memory: Memory = open_memory(clock=clock)
    memory.set_profile(background="I live in Oslo. I repair bicycles for children.")
    clock.set("2024-07-01")
    persona = memory.set_profile(background="I live in Bergen.")

    assert persona.background == ("I live in Bergen.", "I repair bicycles for children.")


def test_the_profile_on_the_command_line(tmp_path: Path) -> None:
    def run(*arguments: str) -> dict[str, Any]:
        result = CliRunner().invoke(beliefmesh, [*arguments, "--folder", str(tmp_path), "--json"])
        assert result.exit_code == 0, result.output
        told: dict[str, Any] = json.loads(result.stdout)
        return told

    run("profile", "set", "--empathy", "5", "--background", "I live in Oslo.")

    expected = {"skepticism": 3, "literalism": 3, "empathy": 5, "bias_strength": 0.0, "background": ["I live in Oslo."]}
    assert run("profile", "show") == expected


def test_two_people_who_mark_an_answer_wrong_end_its_lead(memory: Memory) -> None:
    for desk in ("one", "two", "three", "four", "five"):
        memory.retain(
            {
                "agent": desk,
                "observed_at": "2024-06-09",
                "claims": [{"entity": "UA 1", "attribute": "gate", "value": "B2"}],
            }
        )
    memory.retain(
        {
            "agent": "six",
            "observed_at": "2024-06-09",
            "claims": [{"entity": "UA 1", "attribute": "gate", "value": "C4"}],
        }
    )
    answer = memory.recall("gate of UA 1", entity="UA 1")
    assert answer.found[0].belief.value == "B2"

    memory.feedback(answer, "wrong", agent="ana")
    memory.feedback(answer.id, "wrong", agent="ana")
    assert memory.recall("gate of UA 1", entity="UA 1").found[0].belief.value == "B2"
    memory.feedback(answer.id, "wrong", agent="ben")

    assert [found.belief.value for found in memory.recall("gate of UA 1", entity="UA 1").found] == ["C4"]


def test_an_answer_that_was_used_was_used_as_a_whole_and_speaks_for_nothing(memory: Memory) -> None:
    memory.retain(["Parcels leave at noon.", "Parcels are weighed."])

    assert memory.feedback(memory.recall("parcels"), "used", agent="ana").ids == ()


def test_feedback_on_what_nobody_answered_or_one_may_not_see_is_refused(memory: Memory) -> None:
    memory.retain("Lena plans to leave.", agent="lena", visibility="private")
    hers = memory.recall("What does Lena plan?", principal="lena")
    assert hers.found

    for id in ("a0123456789abcdef", hers.id):
        with pytest.raises(NotFound):
            memory.feedback(id, "wrong", agent="mallory")
