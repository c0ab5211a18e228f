"""The values of nGQL: as this stand-in holds them, and as they travel on the wire (reference, sections 5 and 13)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any

from nebula3.common import ttypes as wire


class Null(IntEnum):
    """The kinds of NULL: a stored one, or the mark of what could not be computed."""

    NULL = 0
    NAN = 1
    BAD_DATA = 2
    BAD_TYPE = 3
    OVERFLOW = 4
    UNKNOWN_PROP = 5
    DIV_BY_ZERO = 6
    OUT_OF_RANGE = 7


class Absent(Enum):
    """EMPTY: the tag or the edge type is not there, which is not NULL."""

    EMPTY = "EMPTY"


NULL = Null.NULL
EMPTY = Absent.EMPTY
Properties = dict[str, Any]
"""Property values by name: bool, int, float, str, list, dict, Null or EMPTY."""


@dataclass(frozen=True)
class Vertex:
    """A vertex as results show it: its vid, and the properties of each tag it has."""

    vid: str
    tags: Mapping[str, Properties] = field(default_factory=dict)


@dataclass(frozen=True)
class Edge:
    """An edge by its stored direction; `reverse` says that it was walked from its end to its start."""

    src: str
    dst: str
    type: str
    rank: int
    props: Properties
    reverse: bool = False

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What makes it the edge it is (section 8)."""
        return self.src, self.type, self.rank, self.dst


@dataclass(frozen=True)
class Table:
    """A result: column names and rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def is_number(value: object) -> bool:
    """Whether it is an int or a double; a bool is neither."""
    return isinstance(value, int | float) and not isinstance(value, bool | Null)


def is_null(value: object) -> bool:
    """Whether it is NULL of any kind."""
    return isinstance(value, Null)


def from_wire(value: wire.Value) -> Any:
    """A parameter as it came from the client; text that is no UTF-8 is kept as it is."""
    kind, held = value.getType(), value.value
    match kind:
        case wire.Value.NVAL:
            return Null(held)
        case wire.Value.BVAL | wire.Value.IVAL | wire.Value.FVAL:
            return held
        case wire.Value.SVAL:
            return text(held)
        case wire.Value.LVAL:
            return [from_wire(each) for each in held.values]
        case wire.Value.MVAL:
            return {text(key): from_wire(each) for key, each in held.kvs.items()}
    raise TypeError(f"the stand-in takes no parameter of wire field {kind}: {value}")


def to_wire(value: Any) -> wire.Value:
    """A value of a result row, all strings as bytes."""
    sent = wire.Value()
    match value:
        case Absent():
            pass
        case Null():
            sent.set_nVal(int(value))
        case bool():
            sent.set_bVal(value)
        case int():
            sent.set_iVal(value)
        case float():
            sent.set_fVal(value)
        case str():
            sent.set_sVal(raw(value))
        case list():
            sent.set_lVal(wire.NList(values=[to_wire(each) for each in value]))
        case dict():
            sent.set_mVal(wire.NMap(kvs={raw(key): to_wire(each) for key, each in value.items()}))
        case Vertex():
            sent.set_vVal(_vertex(value))
        case Edge():
            sent.set_eVal(_edge(value))
        case _:
            raise TypeError(f"no value of nGQL: {value!r}")
    return sent


def data_set(table: Table) -> wire.DataSet:
    """A result as the reply carries it."""
    rows = [wire.Row(values=[to_wire(value) for value in row]) for row in table.rows]
    return wire.DataSet(column_names=[raw(name) for name in table.columns], rows=rows)


def text(sent: bytes) -> str:
    """Bytes from the wire; the server does not ask whether they are UTF-8, and gives back what it got."""
    return sent.decode("utf-8", "surrogateescape")


def raw(value: str) -> bytes:
    """The bytes of a text, the very ones that `text` read."""
    return value.encode("utf-8", "surrogateescape")


def sort_key(value: Any) -> tuple[int, Any]:
    """The place of a value in ORDER BY: EMPTY, bool, numbers, text, the rest, NULL; the reference does not say."""
    match value:
        case Absent():
            return 0, 0
        case Null():
            return 9, 0
        case bool():
            return 1, value
        case int() | float():
            return 2, -math.inf if math.isnan(value) else value
        case str():
            return 3, raw(value)
    return 4, repr(value)


def _vertex(vertex: Vertex) -> wire.Vertex:
    tags = [wire.Tag(name=raw(name), props=_props(props)) for name, props in vertex.tags.items()]
    return wire.Vertex(vid=to_wire(vertex.vid), tags=tags)


def _edge(edge: Edge) -> wire.Edge:
    """A reversed edge has its ends exchanged and a negative type, as `Relationship` of the client undoes it."""
    ends = (edge.dst, edge.src) if edge.reverse else (edge.src, edge.dst)
    return wire.Edge(
        src=to_wire(ends[0]),
        dst=to_wire(ends[1]),
        type=-1 if edge.reverse else 1,
        name=raw(edge.type),
        ranking=edge.rank,
        props=_props(edge.props),
    )


def _props(props: Mapping[str, Any]) -> dict[bytes, wire.Value]:
    return {raw(name): to_wire(value) for name, value in props.items()}
