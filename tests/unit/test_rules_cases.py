"""The hand-written cases of the rules: enough of them, well formed, in two halves that never change."""

from pathlib import Path

import pytest

from beliefmesh.evaluate.rules.cases import LANGUAGES, cases_in, half_of, read_cases
from schemas.errors import InvalidInput

GOOD = '{"id": "a", "told": [{"text": "Stock is 1.", "slots": [{"about": "stock", "value": "1"}]}, {"text": "Hi."}]}'


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_two_hundred_cases_in_two_halves(language: str) -> None:
    building, scoring = (cases_in(language, half) for half in ("building", "scoring"))  # type: ignore[arg-type]

    assert len(building) + len(scoring) >= 200
    assert min(len(building), len(scoring)) >= 100
    assert not {case.id for case in building} & {case.id for case in scoring}


def test_a_case_keeps_its_half() -> None:
    names = ("shipping-raised", "coupon-withdrawn", "theme-dark")

    assert [half_of("en", name) for name in names] == ["building", "scoring", "scoring"]
    assert [half_of("zh", name) for name in names] == ["building", "scoring", "building"]


def test_every_case_that_states_something_says_where_and_what() -> None:
    told = [one for language in LANGUAGES for case in cases_in(language) for one in case.told]

    assert sum(bool(one.slots) for one in told) > 800
    assert sum(not one.slots for one in told) > 90


def test_pairs_to_be_scored_are_all_but_the_unscored(tmp_path: Path) -> None:
    told = '"told": [{"text": "x"}, {"text": "y"}, {"text": "z"}]'
    line = f'{{"id": "a", {told}, "conflicts": [[1, 2]], "unscored": [[1, 3]]}}'

    (case,) = read_cases(_file(tmp_path, line))

    assert case.pairs() == [(1, 2), (2, 3)]


BAD = [
    ("{", "cases.jsonl line 2: is not what this evaluation reads"),
    ('{"id": "b", "told": [{"text": "x", "slot": []}]}', "unknown field"),
    ('{"id": "a", "told": [{"text": "x"}]}', "has the id 'a'; give every case an id of its own"),
    ('{"id": "b", "told": []}', "b has no text, or an empty one"),
    ('{"id": "b", "told": [{"text": "x"}], "conflicts": [[1, 2]]}', "names the pair [1, 2]; its texts are 1 to 1"),
    ('{"id": "b", "told": [{"text": "x"}, {"text": "y"}], "conflicts": [[2, 1]]}', "names the pair [2, 1]"),
    (
        '{"id": "b", "told": [{"text": "x"}, {"text": "y"}], "conflicts": [[1, 2]], "unscored": [[1, 2]]}',
        "b has a pair both in conflicts and in unscored",
    ),
    ('{"id": "b", "told": [{"text": "x", "slots": [{"about": " ", "value": "1"}]}]}', "b has a slot without words"),
]


@pytest.mark.parametrize(("line", "problem"), BAD)
def test_a_case_that_cannot_be_used_is_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_cases(_file(tmp_path, GOOD + "\n" + line))

    assert problem in str(caught.value)
    assert "cases.jsonl line 2" in str(caught.value)


def _file(folder: Path, text: str) -> Path:
    path = folder / "cases.jsonl"
    path.write_text(text + "\n", encoding="utf-8")
    return path
