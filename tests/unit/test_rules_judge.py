"""How a case is judged: slots by what is read, conflicts by what the product believes of two texts together."""

import json
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from beliefmesh.evaluate.cli import eval_group
from beliefmesh.evaluate.rules.cases import Case
from beliefmesh.evaluate.rules.evaluate import evaluate_rules
from beliefmesh.evaluate.rules.judge import judge_case


def case(*told: tuple[str, *tuple[dict[str, Any], ...]], **more: Any) -> Case:
    texts = [{"text": text, "slots": slots} for text, *slots in told]
    return msgspec.convert({"id": "c", "told": texts, **more}, Case)


def slot(about: str, value: str, **more: Any) -> dict[str, Any]:
    return {"about": about, "value": value, **more}


def counts(tally: object) -> tuple[int, int, int]:
    return (tally.right, tally.wrong, tally.missed)  # type: ignore[attr-defined]


def test_a_slot_is_right_by_its_words_value_scope_and_stance() -> None:
    told = case(
        ("The price of the book is $25.", slot("book price", "25 USD")),
        ("Financial reports use template B.", slot("report template", "B", scope="financial")),
        ("The rate limit is no longer 100.", slot("rate limit", "100", stance="retracts")),
        ("I was born in Texas.", slot("me birthplace", "Ohio|Texas")),
    )

    assert counts(judge_case(told).slots) == (4, 0, 0)


@pytest.mark.parametrize(
    "expected",
    [
        slot("pen price", "25 USD"),
        slot("book price", "26 USD"),
        slot("book price", "25 USD", scope="eu"),
        slot("book price", "25 USD", stance="refutes"),
        slot("me price", "25 USD"),
    ],
)
def test_a_slot_that_differs_in_one_of_them_is_one_missed_and_one_wrong(expected: dict[str, Any]) -> None:
    judgement = judge_case(case(("The price of the book is $25.", expected)))

    assert counts(judgement.slots) == (0, 1, 1)
    assert [miss.split(":")[0] for miss in judgement.misses] == ["missed", "wrong"]


def test_what_is_optional_counts_neither_way() -> None:
    optional = slot("price", "25 USD", optional=True)

    assert counts(judge_case(case(("The price is $25.", optional))).slots) == (0, 0, 0)
    assert counts(judge_case(case(("We went home.", optional))).slots) == (0, 0, 0)


def test_texts_conflict_where_one_replaces_the_other_or_takes_an_exception_from_it() -> None:
    told = case(
        ("All reports use template A.",),
        ("Financial reports use template B.",),
        ("All reports use template C.",),
        conflicts=[[1, 2], [1, 3]],
    )

    judgement = judge_case(told)

    assert counts(judgement.conflicts) == (2, 1, 0)
    assert judgement.misses[-1] == "no conflict: Financial reports use template B. | All reports use template C."


def test_a_conflict_that_is_not_found_is_missed_and_an_unscored_one_is_nothing() -> None:
    free = (("The house is old.",), ("The house is ancient.",))

    assert counts(judge_case(case(*free, conflicts=[[1, 2]])).conflicts) == (0, 0, 1)
    assert counts(judge_case(case(*free, unscored=[[1, 2]])).conflicts) == (0, 0, 0)


def test_the_same_said_twice_is_no_conflict() -> None:
    assert counts(judge_case(case(("The fee is ¥100.",), ("The fee is 100 yuan.",))).conflicts) == (0, 0, 0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_rules_hold_on_the_cases_that_they_were_not_built_on(language: str) -> None:
    figures = evaluate_rules("scoring", language)[language]  # type: ignore[arg-type]

    assert figures["conflicts"]["precision"] >= 0.98
    assert figures["conflicts"]["recall"] >= 0.85
    assert figures["slots"]["precision"] >= 0.95


def test_the_command_prints_a_table_or_json() -> None:
    table = CliRunner().invoke(eval_group, ["rules", "--half", "building"]).output.splitlines()
    told = json.loads(CliRunner().invoke(eval_group, ["rules", "--language", "zh", "--json"]).output)

    assert table[0] == "half: building"
    assert [line.split()[:2] for line in table[2:]] == [
        [name, part] for name in ("en", "zh", "total") for part in ("slots", "conflicts")
    ]
    assert told["half"] == "all"
    assert told["zh"] == told["total"]
    assert "misses" not in told


@pytest.mark.parametrize("options", [["--show-misses"], ["--show-misses", "--half", "all"]])
def test_misses_of_the_scoring_half_are_shown_only_by_its_name(options: list[str]) -> None:
    refused = CliRunner().invoke(eval_group, ["rules", *options])
    named = CliRunner().invoke(eval_group, ["rules", "--show-misses", "--half", "building", "--json"])

    assert "name --half building, or --half scoring" in str(refused.exception)
    assert isinstance(json.loads(named.output)["misses"], list)
