"""How structs and plain values become properties on NebulaGraph and come back: a struct is JSON, a number a number."""

import re
from typing import TypeVar

import msgspec
from nebula3.common.ttypes import Value

from schemas.errors import InvalidInput, StoreUnavailable

Plain = str | int | float | bool | None
Row = dict[str, Plain]
Body = TypeVar("Body")

_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_ENCODER = msgspec.json.Encoder()


def written(body: object) -> str:
    """A struct as the text of one property. Raises InvalidInput for text that NebulaGraph cannot keep."""
    try:
        text = _ENCODER.encode(body)
    except UnicodeEncodeError as error:
        raise InvalidInput(_name(body), "holds a lone surrogate; send valid Unicode") from error
    if _NUL.search(text):
        raise InvalidInput(_name(body), "holds a NUL character; remove it")
    return text.decode("utf-8")


def read(text: Plain, kind: type[Body]) -> Body:
    """What `written` wrote."""
    try:
        return msgspec.json.decode(str(text), type=kind)
    except msgspec.MsgspecError as error:
        raise StoreUnavailable(f"the graph holds a {kind.__name__} that this release cannot read: {error}") from error


def parameter(value: Plain) -> Value:
    """One value as it travels. Raises InvalidInput where the server would keep another one than was sent."""
    sent = Value()
    match value:
        case bool():
            sent.set_bVal(value)
        case int():
            if not _SMALLEST <= value <= _LARGEST:
                raise InvalidInput("number", f"{value} has more than 64 bits")
            sent.set_iVal(value)
        case float():
            if value - value != 0.0:
                raise InvalidInput("number", f"{value} is not finite")
            sent.set_fVal(value)
        case str():
            sent.set_sVal(_utf8(value))
        case _:
            raise InvalidInput("value", f"a {type(value).__name__} is no property of the graph")
    return sent


def plain(value: Value) -> Plain:
    """One value as it came; NULL (a missing property) and EMPTY (a missing tag) are both None."""
    kind = value.getType()
    if kind == Value.SVAL:
        return bytes(value.get_sVal()).decode("utf-8")
    if kind == Value.IVAL:
        return int(value.get_iVal())
    if kind == Value.FVAL:
        return float(value.get_fVal())
    if kind == Value.BVAL:
        return bool(value.get_bVal())
    if kind in (Value.NVAL, Value.__EMPTY__):
        return None
    raise StoreUnavailable(f"NebulaGraph answers with a value of type {kind}, which was not asked for")


def _utf8(text: str) -> bytes:
    if "\x00" in text:
        raise InvalidInput("text", "holds a NUL character; remove it")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput("text", "holds a lone surrogate; send valid Unicode") from error


def _name(body: object) -> str:
    return type(body).__name__.lower()
