"""Reads one named value of what a producer wrote; an error bears the value's path, as in `claims[2].weight`."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from schemas.claim import Scope, Value, scope_of
from schemas.entity import Entity
from schemas.errors import InvalidInput, TooLarge
from schemas.limits import (
    INT64,
    MAX_ITEMS,
    MAX_NAME_BYTES,
    MAX_WEIGHT,
    check_name,
    check_number,
    check_text,
    plain_text,
    shown,
)

Fields = dict[str, Any]
Reader = Callable[[object, str], Any]
"""A function of (value, path): it returns what it accepts, and raises InvalidInput under that path."""

_NOWHERE: Mapping[str, str] = {}


def read_object(
    data: object, path: str, readers: Mapping[str, Reader], elsewhere: Mapping[str, str] = _NOWHERE
) -> Fields:
    """Read each named value of an object by its own reader; null is absent.

    Another name is refused, with the advice that `elsewhere` holds for it, else the nearest and all allowed ones.
    """
    if type(data) is not dict and not isinstance(data, Mapping):  # the question that costs less, first
        raise InvalidInput(path or "observation", f"must be an object, not {type(data).__name__}")
    prefix = path and f"{path}."
    fields: Fields = {}
    for name, value in data.items():
        reader = readers.get(name)
        if reader is None:
            raise InvalidInput(f"{prefix}{name!s:.80}", elsewhere.get(name) or _unknown(name, readers))
        if value is not None:
            fields[name] = reader(value, prefix + name)
    return fields


def one_of(allowed: Iterable[str]) -> Reader:
    """A reader of listed values."""
    values = tuple(allowed)

    def read(value: object, path: str) -> str:
        if not isinstance(value, str) or value not in values:
            raise InvalidInput(path, f"is {shown(value)}; use one of {', '.join(values)}")
        return plain_text(value)

    return read


def list_of(reader: Reader) -> Reader:
    """A reader of lists; each item is read under its place in the list."""

    def read(value: object, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise InvalidInput(path, f"must be a list, not {type(value).__name__}")
        _check_count(value, path)
        return tuple([reader(item, f"{path}[{n}]") for n, item in enumerate(value)])

    return read


def object_of(readers: Mapping[str, Reader], short: str | None = None) -> Reader:
    """A reader of objects; a plain text stands for the one field `short`, if there is one.

    What its readers give must not depend on their path, which is spelled out only where something is wrong.
    """

    def read(value: object, path: str) -> Fields:
        if short is not None and isinstance(value, str):
            return {short: readers[short](value, path)}
        if type(value) is dict:
            try:
                return {
                    name: readers[name](item, path)
                    for name, item in value.items()
                    if item is not None or name not in readers
                }
            except (KeyError, InvalidInput):
                pass  # read again below, to name what is wrong
        return read_object(value, path, readers)

    return read


def read_label(value: object, path: str) -> str:
    """Accept a text of the size of a name, or an empty one; white space alone would name nobody."""
    label = check_text(value, path, limit=MAX_NAME_BYTES)
    if label and not label.strip():
        raise InvalidInput(path, "is only white space; write a name, or leave it out")
    return label


def read_weight(value: object, path: str) -> float:
    """Accept a finite weight, zero or more."""
    return check_number(value, path, 0.0, MAX_WEIGHT)


def read_turn(value: object, path: str) -> int:
    """Accept a place in a session."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < INT64:
        raise InvalidInput(path, f"is {shown(value)}; it must be a whole number from 0 on")
    return int(value)


def read_flag(value: object, path: str) -> bool:
    """Accept true or false, and nothing that merely looks like them."""
    if not isinstance(value, bool):
        raise InvalidInput(path, f"is {shown(value)}; it must be true or false")
    return value


_ENTITY: Mapping[str, Reader] = {"name": check_name, "type": check_name}


def read_entity(value: object, path: str) -> Entity:
    """Accept a name, or an object with a name and a type."""
    if isinstance(value, str):
        return Entity(check_name(value, path))
    if type(value) is dict and value.keys() == _ENTITY.keys():
        try:
            return _entity(value["name"], value["type"])
        except (InvalidInput, TypeError):
            pass  # the slow way says under which path what is wrong
    fields = read_object(value, path, _ENTITY)
    if "name" not in fields:
        raise InvalidInput(f"{path}.name", "is missing; an entity needs a name")
    return Entity(**fields)


@lru_cache(maxsize=4_096)
def _entity(name: object, type: object) -> Entity:
    """An entity by name and type, remembered: those that are told are mostly the same few."""
    return Entity(check_name(name, "name"), check_name(type, "type"))


def read_pairs(value: object, path: str) -> dict[str, str]:
    """Accept an object of names to texts; numbers become text."""
    if not isinstance(value, Mapping):
        raise InvalidInput(path, f'must be an object such as {{"region": "EU"}}, not {type(value).__name__}')
    _check_count(value, path)
    return {check_name(name, path): _label(item, path, name) for name, item in value.items()}


def read_scope(value: object, path: str) -> Scope:
    """Accept an object of qualifiers, in any order."""
    return scope_of(read_pairs(value, path))


def read_value(value: object, path: str) -> Value:
    """Accept what a claim may state: a text, a number that every store can keep, or a truth value."""
    match value:
        case str():
            if not value.strip():
                raise InvalidInput(path, "is empty; use stance 'retracts' to say that there is no value any more")
            return check_text(value, path)
        case bool():
            return value
        case int() | float():
            return _number(value, path)
    advice = "write one claim for each value" if isinstance(value, list | tuple | Mapping) else "write it as text"
    raise InvalidInput(path, f"must be a text, a number or a truth value, not {type(value).__name__}; {advice}")


def _unknown(name: object, readers: Mapping[str, Reader]) -> str:
    near = difflib.get_close_matches(f"{name!s:.80}", readers, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"is not a known field; {meant}Allowed: {', '.join(readers)}"


def _check_count(values: list[object] | tuple[object, ...] | Mapping[str, object], path: str) -> None:
    if len(values) > MAX_ITEMS:
        raise TooLarge(path, f"has {len(values)} items; at most {MAX_ITEMS} are taken. Send several observations")


def _label(value: object, path: str, name: object) -> str:
    """The text of a label; 3 and 3.0 are one number, as they are in JSON."""
    if type(value) is str and value.isascii() and len(value) <= MAX_NAME_BYTES and "\x00" not in value:
        return value
    path = f"{path}.{name!s:.80}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return check_text(value, path, limit=MAX_NAME_BYTES)
    number = _number(value, path)
    return str(int(number) if number == int(number) else number)


def _number(value: int | float, path: str) -> int | float:
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(path, f"is {value}; numbers must be finite")
    if isinstance(value, int) and not -INT64 <= value < INT64:
        raise InvalidInput(path, "is an integer beyond 64 bits; write it as text")
    return int(value) if isinstance(value, int) else float(value)
