"""What graphd refuses before anything runs, by the schema in its cache (sections 6, 8 and 9)."""

from collections.abc import Iterable, Mapping
from typing import Any

from graph_catalog import Space
from graph_columns import BITS
from graph_errors import no_index, no_schema, not_found, semantic, unspoken
from graph_values import EMPTY, Null
from ngql_expressions import COMPARING, FAR_NAMES, walk
from ngql_tree import (
    Attribute,
    Binary,
    DeleteEdges,
    DeleteTags,
    Element,
    Expression,
    FetchEdges,
    FetchVertices,
    Field,
    Go,
    GroupBy,
    Input,
    InsertEdges,
    InsertVertices,
    Literal,
    Lookup,
    Name,
    OrderBy,
    Parameter,
    Pipe,
    Project,
    Statement,
    Unary,
    UpdateVertex,
)

KINDS = {bool: "BOOL", int: "INT", float: "FLOAT", str: "STRING", list: "LIST", dict: "MAP"}
SIMPLE = ("STARTS WITH", "IN", "AND", "OR")


class Checker:
    """Checks statements against one space as graphd knows it at one time."""

    def __init__(self, space: Space, now: float, parameters: Mapping[str, Any]) -> None:
        self._space = space
        self._now = now
        self._parameters = parameters

    def check(self, said: Statement, piped: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Refuse what does not fit; the columns that the statement will give. `piped` are those that it gets."""
        self._need_parameters(said)
        if isinstance(said, Pipe):
            for part in said.parts:
                piped = self.check(part, piped)
            return piped or ()
        self._need_columns(said, piped)
        match said:
            case InsertVertices(tags, rows):
                self._insert([(self._fields("tag", tag), names) for tag, names in tags], rows)
            case InsertEdges(type, names, rows):
                self._insert([(self._fields("edge", type), names)], rows)
            case UpdateVertex():
                self._update(said)
            case DeleteEdges(type):
                self._fields("edge", type)
            case DeleteTags(tags):
                for tag in tags:
                    self._known("tag", tag)
            case FetchVertices(tags):
                self._reading("tag", {tag: self._known("tag", tag) for tag in tags or self._all("tag")}, said.yields)
            case FetchEdges(type):
                self._reading("edge", {type: self._known("edge", type)}, said.yields)
            case Go():
                self._go(said)
            case Lookup():
                self._lookup(said)
        return _columns(said, piped)

    def _need_parameters(self, said: Any) -> None:
        missing = sorted({part.name for part in walk(said) if isinstance(part, Parameter)} - set(self._parameters))
        if missing:
            raise semantic(f"Undefined parameters: {', '.join(missing)}")

    def _need_columns(self, said: Statement, piped: tuple[str, ...] | None) -> None:
        wanted = [part.column for part in walk(said) if isinstance(part, Input)]
        if wanted and isinstance(said, Go | FetchVertices):
            raise unspoken("$-. in what GO and FETCH yield")
        vids = getattr(said, "vids", None)
        if vids is not None and vids.piped is not None:
            wanted.append(vids.piped)
        if isinstance(said, DeleteEdges):
            wanted += said.piped or ()
        if isinstance(said, OrderBy):
            wanted += [column for column, _ in said.columns]
        for column in wanted:
            if column not in (piped or ()):
                raise semantic(f"`$-.{column}', not exist prop `{column}'")

    def _all(self, kind: str) -> list[str]:
        schemas = self._space.schemas(kind).values()
        return [schema.name for schema in schemas if schema.cached(self._now) is not None]

    def _cached(self, kind: str, name: str) -> dict[str, Field] | None:
        schema = self._space.schemas(kind).get(name)
        return schema.cached(self._now) if schema else None

    def _fields(self, kind: str, name: str) -> dict[str, Field]:
        """For what writes."""
        fields = self._cached(kind, name)
        if fields is None:
            raise no_schema(name)
        return fields

    def _known(self, kind: str, name: str) -> dict[str, Field]:
        """For what reads."""
        fields = self._cached(kind, name)
        if fields is None:
            raise not_found(kind.capitalize(), name)
        return fields

    def _insert(
        self,
        targets: list[tuple[dict[str, Field], tuple[str, ...]]],
        rows: Iterable[tuple[Any, tuple[Expression, ...]]],
    ) -> None:
        for fields, names in targets:
            for name in names:
                if name not in fields:
                    raise semantic(f"Unknown column `{name}' in schema")
        wanted = sum(len(names) for _, names in targets)
        for _, values in rows:
            if len(values) != wanted:
                raise semantic("Column count doesn't match value count.")
            for part in walk(values):
                if isinstance(part, Name | Input | Element):
                    raise semantic("a value of INSERT is a constant or a parameter")

    def _update(self, said: UpdateVertex) -> None:
        """Bare names of the one tag, and a WHEN that is true or false."""
        fields = self._fields("tag", said.tag)
        named = [part.name for part in walk((said.sets, said.when, said.yields)) if isinstance(part, Name)]
        for name in [*(name for name, _ in said.sets), *named]:
            if name not in fields:
                raise semantic(f"Unknown column `{name}' in schema")
        for part in walk(said):
            if isinstance(part, Attribute | Element):
                raise semantic("only the properties of the updated tag may stand in UPDATE, by their bare names")
        if said.when is not None:
            kind = self._kind(said.when, fields)
            if kind not in ("BOOL", "UNKNOWN"):
                raise semantic(f"`{_told(said.when)}', expected Boolean, but was `{kind}'")

    def _go(self, said: Go) -> None:
        for type in said.types:
            if self._cached("edge", type) is None:
                raise semantic(f"{type} not found in space [{self._space.name}].")
        if said.limits and len(said.limits) != said.most:
            raise semantic(f"`LIMIT' length must be equal to GO step size {said.most}")
        types = {type: self._known("edge", type) for type in said.types or self._all("edge")}
        self._reading("edge", types, (said.where, said.yields))

    def _reading(self, kind: str, known: Mapping[str, Mapping[str, Field]], said: Any) -> None:
        """`name.prop` is of what is read, `$$.tag.prop` of any tag; bare names mean nothing here."""
        owners = [part.of for part in walk(said) if isinstance(part, Attribute)]
        for part in walk(said):
            match part:
                case Attribute(Name(owner), name):
                    if owner not in known:
                        raise semantic(f"`{owner}.{name}' is not declared in this statement")
                    if name not in known[owner] and not (kind == "edge" and name in FAR_NAMES):
                        raise semantic(f"`{owner}.{name}', not found the property `{name}'.")
                case Attribute(Attribute(Element(), tag), name):
                    if name not in self._known("tag", tag):
                        raise semantic(f"`$$.{tag}.{name}', not found the property `{name}'.")
                case Name(name) if part not in owners:
                    raise semantic(f"Invalid label identifiers: {name}")

    def _lookup(self, said: Lookup) -> None:
        """At least one index, and only tests that an index can answer."""
        kind = "tag" if self._cached("tag", said.on) is not None else "edge"
        fields = self._known(kind if kind == "tag" or said.on in self._space.edges else "tag", said.on)
        if not any(index.cached_at <= self._now for index in self._space.indexes_on(kind, said.on)):
            raise no_index()
        if said.where is not None:
            self._searchable(said.where, said.on, fields)
        self._reading(kind, {said.on: fields}, (said.where, said.yields))

    def _searchable(self, said: Expression, on: str, fields: Mapping[str, Field]) -> None:
        match said:
            case Binary("AND" | "OR", left, right):
                self._searchable(left, on, fields)
                self._searchable(right, on, fields)
                return
            case Binary(operator, Attribute(Name(owner), name), right) if owner == on and name in fields:
                wanted = right
            case Binary(operator, left, Attribute(Name(owner), name)) if owner == on and name in fields:
                wanted = left
            case Binary(operator, Attribute(), _):
                raise semantic(f"`{_told(said)}' does not name a property of `{on}'")
            case _:
                raise semantic(f"Expression {_told(said)} is not supported, please use full-text index")
        if (operator not in COMPARING and operator not in SIMPLE) or operator == "=~":
            raise semantic(
                f"Expression {_told(said)} is not supported, please use full-text index as an optimal solution"
            )
        if any(isinstance(part, Attribute | Name | Element | Input) for part in walk(wanted)):
            raise semantic(f"Expression {_told(said)} is not supported: one side is to be a constant")
        kind = self._kind(wanted, fields)
        if operator != "IN" and not _comparable(_kind_of(fields[name]), kind):
            raise semantic(f"Column type error : {name}")

    def _kind(self, said: Expression, fields: Mapping[str, Field]) -> str:
        """What an expression will be, as far as that is known before it runs."""
        match said:
            case Literal(value):
                return _kind_of_value(value)
            case Parameter(name):
                return _kind_of_value(self._parameters[name])
            case Name(name):
                return _kind_of(fields[name])
            case Unary(operator, of):
                return self._kind(of, fields) if operator == "-" else "BOOL"
            case Binary(operator, left, right) if operator in ("+", "-", "*", "/", "%"):
                kinds = {self._kind(left, fields), self._kind(right, fields)}
                return kinds.pop() if len(kinds) == 1 else "FLOAT" if kinds == {"INT", "FLOAT"} else "UNKNOWN"
            case Binary():
                return "BOOL"
        return "UNKNOWN"


def _columns(said: Statement, piped: tuple[str, ...] | None) -> tuple[str, ...]:
    """What a statement gives on: a YIELD its own columns, ORDER BY and LIMIT those they got."""
    if isinstance(said, FetchVertices | FetchEdges | Go | Lookup | GroupBy | Project):
        return tuple(column.alias for column in said.yields.columns)
    return piped or ()


def _kind_of(field: Field) -> str:
    if field.type in BITS:
        return "INT"
    return {"bool": "BOOL", "float": "FLOAT", "double": "FLOAT"}.get(field.type, "STRING")


def _kind_of_value(value: Any) -> str:
    if isinstance(value, Null) or value is EMPTY:
        return "UNKNOWN"
    return KINDS.get(type(value), "UNKNOWN")


def _comparable(column: str, constant: str) -> bool:
    return constant in (column, "UNKNOWN") or {column, constant} == {"INT", "FLOAT"}


def _told(said: Expression) -> str:
    match said:
        case Name(name):
            return name
        case Literal(value):
            return str(value)
        case Parameter(name):
            return f"${name}"
        case Attribute(of, name):
            return f"{_told(of)}.{name}"
        case Binary(operator, left, right):
            return f"({_told(left)} {operator} {_told(right)})"
        case Unary(operator, of):
            return f"{operator}({_told(of)})"
    return type(said).__name__
