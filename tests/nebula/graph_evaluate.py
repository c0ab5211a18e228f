"""What an expression comes to in a row: three-valued logic, NULL for what cannot be computed (sections 5, 9, 10)."""

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_values import EMPTY, NULL, Absent, Edge, Null, Properties, Vertex, is_null, is_number, raw, sort_key
from ngql_expressions import AGGREGATES
from ngql_tree import (
    Attribute,
    Binary,
    Call,
    Element,
    Expression,
    Input,
    Listed,
    Literal,
    Name,
    Parameter,
    Unary,
    Yield,
)


def _no_vertex() -> Vertex:
    return Vertex("")


@dataclass(frozen=True)
class Scope:
    """What the names of an expression stand for in one row."""

    parameters: Mapping[str, Any]
    names: Mapping[str, Any] = field(default_factory=dict)
    row: Mapping[str, Any] = field(default_factory=dict)
    vertex: Vertex | None = None
    edge: Edge | None = None
    near: Callable[[], Vertex] = _no_vertex
    far: Callable[[], Vertex] = _no_vertex


def evaluate(said: Expression, scope: Scope) -> Any:
    """The value of an expression; an aggregate has none here."""
    match said:
        case Literal(value):
            return value
        case Parameter(name):
            return scope.parameters[name]
        case Name(name):
            return scope.names.get(name, NULL)
        case Input(column):
            return scope.row.get(column, NULL)
        case Element(kind):
            return _element(kind, scope)
        case Attribute(of, name):
            return _attribute(of, name, scope)
        case Call(function, arguments):
            return _call(function, [evaluate(each, scope) for each in arguments])
        case Unary(operator, of):
            return _unary(operator, evaluate(of, scope))
        case Binary("AND" | "OR" | "XOR" as operator, left, right):
            return _logic(operator, evaluate(left, scope), lambda: evaluate(right, scope))
        case Binary(operator, left, right):
            return _binary(operator, evaluate(left, scope), evaluate(right, scope))
        case Listed(items):
            return [evaluate(each, scope) for each in items]
    raise TypeError(f"no expression: {said}")


def grouped(yields: Yield, keys: Sequence[Expression], scopes: Sequence[Scope]) -> list[tuple[Any, ...]]:
    """The rows of a YIELD of aggregates: one for each group; without keys one, even of no row."""
    groups: dict[str, list[Scope]] = {}
    for scope in scopes:
        groups.setdefault(repr([evaluate(key, scope) for key in keys]), []).append(scope)
    if not keys and not groups:
        groups[""] = []
    columns = [column.expression for column in yields.columns]
    return [tuple(_aggregated(each, group) for each in columns) for group in groups.values()]


def _aggregated(said: Expression, scopes: Sequence[Scope]) -> Any:
    if isinstance(said, Call) and said.function in AGGREGATES:
        if not said.arguments:
            return len(scopes)
        values = [evaluate(said.arguments[0], scope) for scope in scopes]
        values = [value for value in values if not isinstance(value, Null | Absent)]
        if said.distinct:
            values = list({repr(value): value for value in values}.values())
        return _fold(said.function, values)
    return evaluate(said, scopes[0]) if scopes else NULL


def _fold(function: str, values: list[Any]) -> Any:
    match function:
        case "count":
            return len(values)
        case "collect":
            return values
        case "sum":
            return sum(values)
        case "avg":
            return sum(values) / len(values) if values else NULL
    chosen = min if function == "min" else max
    return chosen(values, key=sort_key) if values else NULL


def _element(kind: str, scope: Scope) -> Any:
    match kind:
        case "vertex":
            return scope.vertex if scope.vertex is not None else NULL
        case "edge":
            return scope.edge if scope.edge is not None else NULL
        case "$$":
            return scope.far()
    return scope.near()


def _attribute(of: Expression, name: str, scope: Scope) -> Any:
    """`type.x` of the edge, `tag.x` of the vertex, `$$.tag.x`; EMPTY where that tag or type is not there."""
    match of:
        case Name(type) if scope.edge is not None:
            return _edge_property(scope.edge, type, name)
        case Name(tag) if scope.vertex is not None:
            return _property(_property(scope.vertex, tag, missing=EMPTY), name)
        case Attribute(Element(kind), tag):
            return _property(_property(_element(kind, scope), tag, missing=EMPTY), name)
    return _property(evaluate(of, scope), name)


def _property(owner: Any, name: str, missing: Null | Absent = NULL) -> Any:
    """A tag of a vertex, or a property of anything that has some."""
    match owner:
        case Vertex():
            return owner.tags.get(name, missing if owner.tags else NULL)
        case Edge():
            return owner.props.get(name, Null.UNKNOWN_PROP)
        case dict():
            return owner.get(name, Null.UNKNOWN_PROP)
        case Null() | Absent():
            return owner
    return Null.BAD_TYPE


def _edge_property(edge: Edge, type: str, name: str) -> Any:
    """`_dst` is the far end of the hop and `_src` the near one, whatever the stored direction (section 9)."""
    if edge.type != type:
        return EMPTY
    near, far = (edge.dst, edge.src) if edge.reverse else (edge.src, edge.dst)
    beside = {"_src": near, "_dst": far, "_rank": edge.rank, "_type": type}
    return beside[name] if name in beside else edge.props.get(name, Null.UNKNOWN_PROP)


def _unary(operator: str, value: Any) -> Any:
    match operator:
        case "IS NULL":
            return is_null(value)
        case "IS NOT NULL":
            return not is_null(value)
        case "IS EMPTY":
            return value is EMPTY
        case "IS NOT EMPTY":
            return value is not EMPTY
        case "NOT":
            return not value if isinstance(value, bool) else value if is_null(value) else Null.BAD_TYPE
    return -value if is_number(value) else value if is_null(value) else Null.BAD_TYPE


def _logic(operator: str, left: Any, right: Callable[[], Any]) -> Any:
    if operator != "XOR" and left is (operator == "OR"):
        return left
    other = right()
    if operator != "XOR" and other is (operator == "OR"):
        return other
    if isinstance(left, Null | Absent) or isinstance(other, Null | Absent):
        return NULL
    if not (isinstance(left, bool) and isinstance(other, bool)):
        return Null.BAD_TYPE
    return left != other if operator == "XOR" else other


def _binary(operator: str, left: Any, right: Any) -> Any:
    if operator.startswith("NOT "):
        found = _binary(operator.removeprefix("NOT "), left, right)
        return not found if isinstance(found, bool) else found
    if isinstance(left, Null | Absent) or isinstance(right, Null | Absent):
        return NULL
    match operator:
        case "==" | "!=":
            return _same(left, right) == (operator == "==")
        case "<" | "<=" | ">" | ">=":
            return _ordered(operator, left, right)
        case "IN":
            return _among(left, right)
        case "+" | "-" | "*" | "/" | "%":
            return _sum(operator, left, right)
    if not (isinstance(left, str) and isinstance(right, str)):
        return Null.BAD_TYPE
    match operator:
        case "CONTAINS":
            return right in left
        case "STARTS WITH":
            return left.startswith(right)
        case "ENDS WITH":
            return left.endswith(right)
    return re.fullmatch(right, left) is not None


def _same(left: Any, right: Any) -> bool:
    """A bool is no number, and a vertex is its vid."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, Vertex) and isinstance(right, Vertex):
        return left.vid == right.vid
    return bool(left == right)


def _ordered(operator: str, left: Any, right: Any) -> Any:
    if is_number(left) and is_number(right):
        low, high = left, right
    elif isinstance(left, str) and isinstance(right, str):
        low, high = raw(left), raw(right)
    else:
        return Null.BAD_TYPE
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[operator]


def _among(value: Any, listed: Any) -> Any:
    if not isinstance(listed, list):
        return Null.BAD_TYPE
    if any(_same(value, each) for each in listed):
        return True
    return NULL if any(is_null(each) for each in listed) else False


def _sum(operator: str, left: Any, right: Any) -> Any:
    if operator == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    if not (is_number(left) and is_number(right)):
        return Null.BAD_TYPE
    whole = isinstance(left, int) and isinstance(right, int)
    if operator in "/%" and right == 0:
        return Null.DIV_BY_ZERO if whole else math.nan
    match operator:
        case "+":
            found = left + right
        case "-":
            found = left - right
        case "*":
            found = left * right
        case "/":
            found = _toward_zero(left, right) if whole else left / right
        case _:
            found = left - right * _toward_zero(left, right) if whole else math.fmod(left, right)
    if whole:
        return int(found) if -(2**63) <= found < 2**63 else Null.OVERFLOW
    return found


def _toward_zero(left: int, right: int) -> int:
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _call(function: str, arguments: list[Any]) -> Any:
    if function == "now":
        return int(time.time())
    if function == "coalesce":
        return next((each for each in arguments if not is_null(each)), NULL)
    of = arguments[0]
    if isinstance(of, Null | Absent):
        return NULL
    return PLAIN[function](*arguments) if function in PLAIN else _of_graph(function, of)


def _of_graph(function: str, of: Any) -> Any:
    """The functions of vertices and edges; `src` and `dst` are the stored direction."""
    match function, of:
        case "id", Vertex():
            return of.vid
        case "properties", Vertex():
            return _merged(of)
        case "tags" | "labels", Vertex():
            return list(of.tags)
        case "src", Edge():
            return of.src
        case "dst", Edge():
            return of.dst
        case "rank", Edge():
            return of.rank
        case "type", Edge():
            return of.type
        case "properties", Edge():
            return dict(of.props)
    return Null.BAD_TYPE


def _merged(vertex: Vertex) -> Properties:
    return {name: value for tag in vertex.tags.values() for name, value in tag.items()}


def _numeric(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: step(value) if is_number(value) else Null.BAD_TYPE


PLAIN: dict[str, Callable[..., Any]] = {
    "size": lambda of: len(raw(of)) if isinstance(of, str) else len(of) if isinstance(of, list) else Null.BAD_TYPE,
    "abs": _numeric(abs),
    "round": _numeric(lambda of: float(math.floor(of + 0.5))),
    "floor": _numeric(lambda of: float(math.floor(of))),
    "exp": _numeric(math.exp),
    "lower": lambda of: of.lower() if isinstance(of, str) else Null.BAD_TYPE,
    "upper": lambda of: of.upper() if isinstance(of, str) else Null.BAD_TYPE,
}
