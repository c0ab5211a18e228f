"""JSON Schema: it describes the bytes that are written, and refuses what the stages would set aside."""

import math
from pathlib import Path
from typing import Any

import msgpack
import pytest
from jsonschema import Draft202012Validator

from schemas.errors import InvalidInput
from schemas.json_schema import ENVELOPE, MESSAGES, example, message_schema
from schemas.observation import Observation
from schemas.wire import unpack
from streams.screen import screen

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "wire"
MESSAGE = Draft202012Validator(message_schema("observation"))


def said(**parts: object) -> dict[str, Any]:
    """A message with the least that an observation needs, and `parts` of its body in their place."""
    body = {"id": "o1", "bank": "shop", "source": {"id": "desk"}, "observed_at": 7, "text": "Closed.", **parts}
    return {"v": [1, 0], "id": "o1", "type": "observation", "body": body}


def claim(**parts: object) -> dict[str, Any]:
    return said(claims=[{"entity": ["checkout", "service"], "attribute": "state", "value": "up", **parts}])


def taken(message: dict[str, Any]) -> bool:
    """Whether the first stage would work on it."""
    try:
        screen(unpack(msgpack.packb(message), Observation))
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize("type", [*MESSAGES, ENVELOPE])
def test_each_schema_is_one(type: str) -> None:
    Draft202012Validator.check_schema(message_schema(type))


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*/*.msgpack")), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_message_that_a_version_wrote_fits_the_schema_of_today(file: Path) -> None:
    message = msgpack.unpackb(file.read_bytes())

    Draft202012Validator(message_schema(file.stem)).validate(message)
    Draft202012Validator(message_schema(ENVELOPE)).validate(message)


def test_the_example_fits_and_is_taken() -> None:
    MESSAGE.validate(example())
    assert taken(example())


@pytest.mark.parametrize(
    "message",
    [
        said(),
        said(text="", claims=[{"entity": ["checkout"], "statement": "It is slow on Mondays."}]),
        said(entity=["checkout"], turn=None, kind=None, metadata={"page": "3"}),
        said(entity=["checkout", "service", "of a later version"], mood="calm"),
        said(observed_at=-62_135_510_400_000_000, effective_at=253_402_128_000_000_000),
        said(weight=1_000, pinned=True),
        said(visibility="private", owner="mei"),
        said(visibility="group", readers=["group:legal"]),
        said(text="满" * 100_000),
        claim(),
        claim(value=0),
        claim(value=False),
        claim(value=1e300),
        claim(value=None, stance="retracts"),
        claim(scope=[["channel", "web"], ["region", "CN"]], mentions=[["Mei", "person"], ["yuan"]]),
        {**said(), "v": [1, 7], "trace": {}, "priority": "high"},
    ],
)
def test_what_fits_the_schema_is_taken(message: dict[str, Any]) -> None:
    MESSAGE.validate(message)
    assert taken(message)


@pytest.mark.parametrize(
    "message",
    [
        {**said(), "v": [2, 0]},
        {**said(), "v": "1.0"},
        {**said(), "type": "change"},
        {**said(), "body": [1]},
        said(id=""),
        said(id="o" * 1_025),
        said(bank="../etc"),
        said(bank="b" * 65),
        said(text=" "),
        said(text="a\x00b"),
        said(text="x" * 1_048_577),
        said(text="Closed.", agent=None),
        said(source="desk"),
        said(source={}),
        said(source={"id": "desk", "type": "rumour"}),
        said(observed_at="2024-05-20"),
        said(observed_at=7.5),
        said(observed_at=2**62),
        said(effective_at=-(2**62)),
        said(weight=-1),
        said(weight=1_001),
        said(pinned=1),
        said(turn=True),
        said(entity="checkout"),
        said(entity={"name": "checkout"}),
        said(entity=[]),
        said(claims={}),
        said(visibility="world"),
        said(visibility="private"),
        said(metadata={"page": 3}),
        claim(entity=["  "]),
        claim(value=[1]),
        claim(value_type="colour"),
        claim(stance="denies"),
        claim(weight=1_001),
        claim(valid_until=2**62),
        claim(scope={"region": "CN"}),
        claim(scope=[["region"]]),
        claim(mentions=["Mei"]),
    ],
)
def test_what_the_stages_set_aside_does_not_fit_the_schema(message: dict[str, Any]) -> None:
    assert not taken(message)
    assert not MESSAGE.is_valid(message)


@pytest.mark.parametrize(
    "message",
    [
        said(turn=-1),
        said(agent=" "),
        said(visibility="group"),
        said(readers=["mei"]),
        said(claims=[{"entity": ["checkout"], "statement": "Slow."}] * 1_001),
        claim(value=None),
        claim(attribute=None),
        claim(attribute=" "),
        claim(premises=[""]),
        claim(premises=["s1"]),
    ],
)
def test_what_intake_refuses_does_not_fit_either(message: dict[str, Any]) -> None:
    assert not MESSAGE.is_valid(message)


def test_what_json_schema_cannot_say_is_said_by_the_stages() -> None:
    assert not taken(claim(value=math.inf))
    assert not taken(said(text="满" * 400_000))
    assert not taken(said(observed_at=7.0))
