"""Expressions of a mapping: paths, templates, choices, tables and conversions."""

import pytest

from streams.sources.condition import holds, read_condition
from streams.sources.expression import read_expression

DOCUMENT = {
    "key": "PROJ-12",
    "fields": {"status": {"name": "Done"}, "labels": ["a", "b"], "points": 3.0, "empty": "", "open": True},
    "url": "https://api.example.com/repos/o/r/issues/7",
    "ms": 1716195600500,
    "odd": {"nan": "nan", "infinite": "-inf", "long": "9" * 400},
}


def value(told: object, **names: object) -> object:
    return read_expression(told, "field")({"": DOCUMENT, **names})


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("plain", "plain"),
        ("{{literal}}", "{literal}"),
        ("{fields.status.name}", "Done"),
        ("{key}: {fields.status.name}", "PROJ-12: Done"),
        ("{key}: {fields.nothing}", None),
        ("{fields.empty}", None),
        ("{fields.labels[1]}", "b"),
        ("{fields.labels[-1]}", "b"),
        ("{fields.labels[9]}", None),
        ("{fields.status.name.deeper}", None),
        ("{fields.open}", True),
        ("open is {fields.open}, {fields.points} points", "open is true, 3 points"),
        (["{nothing}", "{key}"], "PROJ-12"),
        ({"from": "{url}", "after": "/repos/", "before": "/issues/"}, "o/r"),
        ({"from": "{url}", "after": "/pulls/"}, None),
        ({"from": "{ms}", "as": "milliseconds"}, 1716195600.5),
        ({"from": "{ms}", "as": "number"}, 1716195600500),
        ({"from": "{odd.nan}", "as": "number"}, "nan"),
        ({"from": "{odd.infinite}", "as": "milliseconds"}, "-inf"),
        ({"from": "{odd.long}", "as": "milliseconds"}, "9" * 400),
        ({"from": "{fields.labels}", "as": "joined"}, "a, b"),
        ({"from": "{fields.status.name}", "map": {"Done": "closed"}}, "closed"),
        ({"from": "{key}", "map": {"Done": "closed"}, "default": "open"}, "open"),
        ({"from": "{fields.open}", "map": {"true": 1}}, 1),
        (7, 7),
    ],
)
def test_an_expression_has_this_value(told: object, expected: object) -> None:
    assert value(told) == expected


def test_a_bound_name_goes_before_the_document() -> None:
    assert value("{key}", key=None) is None
    assert value("{item.to}", item={"to": "Done"}) == "Done"


def test_an_atlassian_document_becomes_its_words() -> None:
    document = {
        "type": "doc",
        "content": [
            {"type": "paragraph", "content": [{"type": "text", "text": "Pay "}, {"type": "text", "text": "now"}]},
            {"type": "paragraph", "content": [{"type": "mention", "attrs": {"text": "@lena"}}]},
        ],
    }
    assert value({"from": "{body}", "as": "plain"}, body=document) == "Pay now\n@lena"
    assert value({"from": "{body}", "as": "plain"}, body="as it is") == "as it is"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"key": "PROJ-12"}, True),
        ({"key": ["PROJ-11", "PROJ-12"]}, True),
        ({"key": "*", "fields.open": True}, True),
        ({"fields.nothing": None}, True),
        ({"fields.nothing": "*"}, False),
        ({"key": None}, False),
        ({"fields.points": 3}, True),
        ({"key": "PROJ-12", "fields.open": False}, False),
        ({"fields.status": "Done"}, False),
    ],
)
def test_a_condition_holds_where_every_path_fits(told: object, expected: bool) -> None:
    assert holds(read_condition(told, "when"), {"": DOCUMENT}) is expected
