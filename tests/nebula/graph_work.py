"""One statement's view of the cluster: its space, its parameters, the rows that came through the pipe."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

from graph_catalog import Catalog, Space
from graph_columns import filled
from graph_errors import BUSY, SPACE_NOT_STORED, TAG_NOT_STORED, VID_TOO_LONG, Refused, no_schema, not_leader, storage
from graph_evaluate import Scope, evaluate, grouped
from graph_rows import Rows, partition_of
from graph_values import NULL, Edge, Properties, Table, Vertex, raw, sort_key
from ngql_reads import has_aggregate
from ngql_tree import Expression, Field, Vids, Yield

Step = Callable[[], None]
Key = tuple[int, str, str]
"""Space, tag and vid: what an UPDATE locks."""


class RowLocks:
    """Locks of tag rows that are not waited for: a second writer is told to come again (section 8)."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._held: set[Key] = set()

    @contextmanager
    def holding(self, keys: Iterable[Key]) -> Iterator[None]:
        """Hold these, or be refused when another holds one of them."""
        wanted = set(keys)
        with self._guard:
            if wanted & self._held:
                raise storage(BUSY)
            self._held |= wanted
        try:
            yield
        finally:
            with self._guard:
                self._held -= wanted


@dataclass(frozen=True)
class Work:
    """What a statement works on; `halved` lets only some of the partitions of a write take it."""

    catalog: Catalog
    rows: Rows
    space: Space
    parameters: dict[str, Any]
    piped: Table | None = None
    halved: bool = False

    @property
    def now(self) -> float:
        """The cluster's time."""
        return self.catalog.now

    def fields(self, kind: str, name: str) -> dict[str, Field]:
        """The fields of a tag or an edge type as graphd knows them."""
        schema = self.space.schemas(kind).get(name)
        known = schema.cached(self.now) if schema else None
        if known is None:
            raise no_schema(name)
        return known

    def require_stored(self, tags: Iterable[str] = ()) -> None:
        """Storaged must know the space and the tags; an edge type it knows as soon as graphd does."""
        if self.space.stored_at > self.now:
            raise storage(SPACE_NOT_STORED)
        for tag in tags:
            if not self.space.tags[tag].stored(self.now):
                raise storage(TAG_NOT_STORED)

    def require_vids(self, vids: Iterable[str]) -> None:
        """Longer than the space's vid type is an error and never cut (section 4)."""
        if any(len(raw(vid)) > self.space.vid_bytes for vid in vids):
            raise storage(VID_TOO_LONG)

    def input(self) -> list[dict[str, Any]]:
        """The rows of the pipe, by column."""
        table = self.piped or Table((), [])
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    def vids(self, vids: Vids) -> list[str]:
        """The vids of a statement; those of the pipe must be text."""
        if vids.piped is None:
            found: list[Any] = list(vids.written)
        else:
            found = [row[vids.piped] for row in self.input()]
        self.require_vids(vid for vid in found if isinstance(vid, str))
        return [vid for vid in found if isinstance(vid, str)]

    def tag_row(self, tag: str, vid: str) -> Properties | None:
        """A tag row, with what newer versions of the tag added."""
        row = self.rows.tag_row(self.space, tag, vid)
        return None if row is None else _grown(self.fields("tag", tag), row)

    def vertex(self, vid: str, tags: Sequence[str] = ()) -> Vertex:
        """A vertex with these of its tags, all by default; one without tags is not there."""
        if tags:
            held = {tag: row for tag in tags if (row := self.tag_row(tag, vid)) is not None}
            return Vertex(vid, held)
        held = {}
        for tag, row in self.rows.tags_of(self.space, vid).items():
            known = self.space.tags[tag].cached(self.now)
            if known is not None:
                held[tag] = _grown(known, row)
        return Vertex(vid, held)

    def edge_types(self, types: Sequence[str]) -> list[str]:
        """These edge types, or every one that graphd knows."""
        if types:
            return list(types)
        return [name for name, schema in self.space.edges.items() if schema.cached(self.now) is not None]

    def grown(self, edge: Edge) -> Edge:
        """An edge with what newer versions of its type added."""
        props = _grown(self.fields("edge", edge.type), edge.props)
        return edge if props is edge.props else Edge(edge.src, edge.dst, edge.type, edge.rank, props, edge.reverse)

    def hops(self, near: str, types: Sequence[str], direction: str) -> Iterator[Edge]:
        """The edges of a vertex, out of it, into it, or both."""
        known = self.edge_types(types)
        for backwards in {"out": (False,), "in": (True,), "both": (False, True)}[direction]:
            for edge in self.rows.hops(self.space, near, known, backwards=backwards):
                yield self.grown(edge)

    def in_order_of_storage(self, vids: Iterable[str]) -> list[str]:
        """By partition, as answers of several storaged come together: nobody may count on the order asked in."""
        return sorted(vids, key=lambda vid: (partition_of(self.space, vid), vid))

    def project(self, yields: Yield, scopes: Iterable[Scope], keys: Sequence[Expression] = ()) -> Table:
        """The rows of a YIELD."""
        columns = tuple(column.alias for column in yields.columns)
        if has_aggregate(yields) or keys:
            rows = grouped(yields, keys, list(scopes))
        else:
            wanted = [column.expression for column in yields.columns]
            rows = [tuple(evaluate(each, scope) for each in wanted) for scope in scopes]
        if yields.distinct:
            rows = list({repr(row): row for row in rows}.values())
        return Table(columns, rows)

    def write(self, parts: Iterable[tuple[str, Callable[[], Step]]]) -> None:
        """Write by partition: each takes all of its rows or none, whatever becomes of the others (section 8).

        Every row is a vid, that says the partition, and what checks the row and returns what writes it.
        """
        self.require_stored()
        by_part: dict[int, list[Callable[[], Step]]] = defaultdict(list)
        for vid, prepare in parts:
            by_part[partition_of(self.space, vid)].append(prepare)
        failed: Refused | None = None
        for place, part in enumerate(sorted(by_part)):
            if self.halved and place >= len(by_part) // 2:
                raise not_leader(part)
            try:
                steps = [prepare() for prepare in by_part[part]]
            except Refused as refused:
                failed = failed or refused
                continue
            for step in steps:
                step()
        if failed:
            raise failed


def ordered(table: Table, columns: Iterable[tuple[str, bool]]) -> Table:
    """A result sorted by columns, each with whether it goes down."""
    rows = table.rows
    for column, down in reversed(list(columns)):
        place = table.columns.index(column)
        rows = sorted(rows, key=partial(_key_at, place), reverse=down)
    return Table(table.columns, rows)


def _key_at(place: int, row: tuple[Any, ...]) -> tuple[int, Any]:
    return sort_key(row[place])


def cut(table: Table, offset: int, count: int | None) -> Table:
    """Some rows of a result."""
    return Table(table.columns, list(itertools.islice(table.rows, offset, None if count is None else offset + count)))


def _grown(fields: dict[str, Field], row: Properties) -> Properties:
    missing = [field for name, field in fields.items() if name not in row]
    return {**row, **{field.name: _or_null(filled(field)) for field in missing}} if missing else row


def _or_null(value: Any) -> Any:
    return NULL if value is None else value
