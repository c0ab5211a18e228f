"""What a property accepts, and how a value changes on its way in (section 7, "Type conversion on write")."""

import math
from typing import Any

from graph_values import NULL, Null
from ngql_tree import Field

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "timestamp": 64}


class WrongType(Exception):
    """A value of a type that the property cannot take."""


class NullNotAllowed(Exception):
    """NULL for a NOT NULL property."""


class OutOfRange(Exception):
    """A number too large for its property."""


def stored(field: Field, value: Any) -> Any:
    """The value as the row will hold it: int to double, double to int rounded, bool to int, fixed_string cut."""
    if isinstance(value, Null):
        if value is not NULL:
            raise WrongType(field.name)
        if not field.nullable:
            raise NullNotAllowed(field.name)
        return NULL
    if field.type in BITS:
        return _integer(field, value)
    match field.type, value:
        case "bool", bool():
            return value
        case (("float" | "double"), (int() | float())) if not isinstance(value, bool):
            return float(value)
        case "string", str():
            return value
        case "fixed_string", str():
            return value.encode()[: field.size].decode(errors="ignore")
    raise WrongType(field.name)


def filled(field: Field) -> Any:
    """What a property is when nobody names it: its DEFAULT, else NULL; None when it has neither."""
    if field.has_default:
        return stored(field, field.default)
    return NULL if field.nullable else None


def _integer(field: Field, value: Any) -> int:
    if not isinstance(value, int | float):
        raise WrongType(field.name)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise OutOfRange(field.name)
        value = math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)
    half = 2 ** (BITS[field.type] - 1)
    if not -half <= value < half:
        raise OutOfRange(field.name)
    return int(value)
