"""Known answers as an operator writes them down."""

from pathlib import Path

import pytest

from beliefmesh.gold import read_gold_file
from schemas.entity import Entity
from schemas.errors import InvalidInput
from schemas.gold import Gold
from schemas.instant import parse_instant


def written(folder: Path, text: str) -> Path:
    path = folder / "gold.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_answers_are_read_from_json_lines(tmp_path: Path) -> None:
    text = (
        '{"entity": "UA 1", "attribute": "gate", "value": "B2"}\n\n'
        '{"entity": {"name": "shop", "type": "place"}, "attribute": "open", "value": true, "as_of": "2024-05-01"}\n'
    )

    assert read_gold_file(written(tmp_path, text)) == [
        Gold(Entity("UA 1"), "gate", "B2"),
        Gold(Entity("shop", "place"), "open", True, parse_instant("2024-05-01", "at")),
    ]


def test_answers_are_read_from_tabs_with_and_without_a_heading(tmp_path: Path) -> None:
    rows = "UA 1\tgate\tB2\nshop\topen\tyes\t2024-05-01\tplace\nUA 2\tgate\tB3\t\n"

    plain = read_gold_file(written(tmp_path, rows))

    assert plain == read_gold_file(written(tmp_path, f"entity\tattribute\tvalue\n{rows}"))
    assert plain == [
        Gold(Entity("UA 1"), "gate", "B2"),
        Gold(Entity("shop", "place"), "open", "yes", parse_instant("2024-05-01", "at")),
        Gold(Entity("UA 2"), "gate", "B3"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "gold: gold.txt is empty"),
        ("UA 1\tgate\n", "gold.txt line 1: has 2 fields"),
        ('{"entity": "UA 1", "attribute": "gate"}', "line 1: value is missing"),
        (
            '{"entity": "a", "attribute": "b", "value": 1}\n{"entity": "a", "atribute": "b", "value": 1}',
            "line 2.*atribute",
        ),
        ('{"entity": "a"', "line 1: is not JSON"),
        ("UA 1\tgate\tB2\t31 February\n", "line 1.as_of"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_gold_file(written(tmp_path, text))
