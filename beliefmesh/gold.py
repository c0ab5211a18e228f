"""Answers that are known to be true, as an operator writes them down: JSON lines, or fields separated by tabs."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from beliefmesh.evaluate.reading import read_lines
from schemas.entity import DEFAULT_TYPE, Entity
from schemas.errors import InvalidInput
from schemas.fields import read_entity, read_value
from schemas.gold import Gold
from schemas.instant import format_instant, parse_instant
from schemas.limits import check_name

_FIELDS = ("entity", "attribute", "value", "as_of", "type")
_NEEDED = 3


def read_gold_file(path: Path) -> list[Gold]:
    """The answers in a file (.gz too). Raises InvalidInput that names the line and what is wrong with it."""
    lines = [(number, line) for number, line in enumerate(read_lines(path, "gold"), 1) if line.strip()]
    if not lines:
        raise InvalidInput("gold", f"{path.name} is empty; give one answer a line")
    if lines[0][1].lstrip().startswith("{"):
        return [gold_of(_decoded(line, _place(path, number)), _place(path, number)) for number, line in lines]
    if lines[0][1].split("\t")[:_NEEDED] == list(_FIELDS[:_NEEDED]):
        lines = lines[1:]
    return [gold_of(_split(line, _place(path, number)), _place(path, number)) for number, line in lines]


def gold_of(told: object, place: str = "gold") -> Gold:
    """An answer from an object with entity, attribute, value and perhaps as_of and type. Raises InvalidInput."""
    if isinstance(told, Gold):
        return told
    if not isinstance(told, Mapping):
        raise InvalidInput(place, f"must be an object, not {type(told).__name__}")
    unknown = sorted(set(told) - set(_FIELDS), key=str)
    missing = [name for name in _FIELDS[:_NEEDED] if told.get(name) is None]
    if unknown or missing:
        problem = f"{unknown[0]!r:.80} is unknown" if unknown else f"{missing[0]} is missing"
        raise InvalidInput(place, f"{problem}; an answer has entity, attribute, value, and perhaps as_of and type")
    entity = read_entity(told["entity"], f"{place}.entity")
    if told.get("type"):
        entity = Entity(entity.name, check_name(told["type"], f"{place}.type"))
    as_of = told.get("as_of")
    return Gold(
        entity,
        check_name(told["attribute"], f"{place}.attribute"),
        read_value(told["value"], f"{place}.value"),
        None if as_of in (None, "") else parse_instant(as_of, f"{place}.as_of"),
    )


def golds_of(told: Iterable[object]) -> list[Gold]:
    """Answers as given or as objects."""
    return [gold_of(one, f"gold[{place}]") for place, one in enumerate(told)]


def plain_gold(gold: Gold) -> dict[str, object]:
    """An answer as an object, as `gold_of` reads it."""
    as_of = {} if gold.as_of is None else {"as_of": format_instant(gold.as_of)}
    entity = gold.entity
    return {"entity": entity.name, "type": entity.type, "attribute": gold.attribute, "value": gold.value, **as_of}


def _place(path: Path, number: int) -> str:
    return f"gold: {path.name} line {number}"


def _decoded(line: str, place: str) -> object:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise InvalidInput(place, f"is not JSON ({error}); give one object a line") from error


def _split(line: str, place: str) -> dict[str, str]:
    fields = [field.strip() for field in line.split("\t")]
    if not _NEEDED <= len(fields) <= len(_FIELDS):
        raise InvalidInput(
            place, f"has {len(fields)} fields separated by tabs; give entity, attribute, value[, as_of[, type]]"
        )
    return dict(zip(_FIELDS, [*fields, "", ""][: len(_FIELDS)], strict=True)) | (
        {} if len(fields) == len(_FIELDS) and fields[-1] else {"type": DEFAULT_TYPE}
    )
