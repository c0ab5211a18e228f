"""A cluster without its doors: what one request does to it, from the text to the reply (sections 6 to 9)."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any

import graph_reads as reads
import graph_writes as writes
from graph_catalog import Catalog, Space
from graph_checks import Checker
from graph_errors import not_found, not_leader
from graph_rows import Rows
from graph_schema import Meta, not_chosen
from graph_values import Table
from graph_work import Key, RowLocks, Work
from ngql_parse import statements_of
from ngql_tree import (
    AddFields,
    CreateIndex,
    CreateSchema,
    CreateSpace,
    DeleteEdges,
    DeleteTags,
    DeleteVertices,
    DropIndex,
    DropSpace,
    FetchEdges,
    FetchVertices,
    Go,
    GroupBy,
    InsertEdges,
    InsertVertices,
    Limit,
    Lookup,
    OrderBy,
    Pipe,
    Project,
    RebuildIndex,
    Show,
    Statement,
    SubmitStats,
    UpdateVertex,
    Use,
)

OF_ALL_SPACES = CreateSpace | DropSpace | Show | Project
OF_META = CreateSchema | AddFields | CreateIndex | DropIndex | RebuildIndex | SubmitStats
DATA: dict[type, Callable[[Work, Any], Table | None]] = {
    InsertVertices: writes.insert_vertices,
    InsertEdges: writes.insert_edges,
    UpdateVertex: writes.update_vertex,
    DeleteVertices: writes.delete_vertices,
    DeleteEdges: writes.delete_edges,
    DeleteTags: writes.delete_tags,
    FetchVertices: reads.fetch_vertices,
    FetchEdges: reads.fetch_edges,
    Go: reads.go,
    Lookup: reads.lookup,
    OrderBy: reads.order_by,
    Limit: reads.limit,
    GroupBy: reads.group_by,
    Project: reads.project,
}


@dataclass(frozen=True)
class Result:
    """The rows of the last statement, none when it gives none, and the space that the session is in now."""

    table: Table | None
    space: str


class Cluster:
    """Meta service and storage; any number of graphd may stand before it."""

    def __init__(self, *, heartbeat: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        """New schema is known to graphd after one `heartbeat` of the clock, to storaged after two."""
        self._lock = RLock()
        self._rows = Rows()
        self._locks = RowLocks()
        self.catalog = Catalog(clock, heartbeat)
        self._meta = Meta(self.catalog, self._rows)

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._rows.close()

    def run(self, request: str, parameters: dict[str, Any], space: str, *, halved: bool = False) -> Result:
        """Run a request's statements in order; one that fails stops the rest, and what ran before it stays.

        All of them are checked before the first runs. `halved` stops in the middle of the request: the statement
        there reaches only some of its partitions if it writes, and nothing if it does not.
        """
        statements = statements_of(request, parameters.keys())
        with self._lock:
            self.catalog.finish_jobs()
            self._check(statements, parameters, space)
        table = None
        for place, said in enumerate(statements):
            last = halved and place == len(statements) // 2
            table, space = self._run(said, parameters, space, last)
            if last:
                raise not_leader(1)
        return Result(table, space)

    @contextmanager
    def writing(self, space: str, tag: str, vid: str) -> Iterator[None]:
        """As if another client's UPDATE of this row were just being written."""
        with self._locks.holding({(self.catalog.spaces[space].id, tag, vid)}):
            yield

    def _check(self, statements: list[Statement], parameters: dict[str, Any], space: str) -> None:
        for said in statements:
            if isinstance(said, Use):
                space = self._known(said.space).name
            elif not isinstance(said, OF_ALL_SPACES):
                held = self._known(space) if space else None
                if held is None:
                    raise not_chosen()
                if not isinstance(said, OF_META):
                    Checker(held, self.catalog.now, parameters).check(said)

    def _known(self, name: str) -> Space:
        space = self.catalog.cached_space(name)
        if space is None:
            raise not_found("Space", name)
        return space

    def _run(self, said: Statement, parameters: dict[str, Any], space: str, halved: bool) -> tuple[Table | None, str]:
        """A writer takes its row before it waits for its turn, so two at once do meet, as they would in storaged."""
        with self._locks.holding(self._keys(said, space)), self._lock:
            if isinstance(said, Use):
                return None, said.space
            if isinstance(said, CreateSpace):
                self._meta.create_space(said)
                return None, space
            if isinstance(said, DropSpace):
                self._meta.drop_space(said)
                return None, space
            if isinstance(said, Show):
                return self._meta.show(self.catalog.spaces.get(space), said), space
            if isinstance(said, OF_META):
                return self._of_meta(said, self._known(space)), space
            held = self._known(space) if space else Space(0, "", 1, 1, 1, "", 0, 0)
            return self._data(said, Work(self.catalog, self._rows, held, parameters, halved=halved)), space

    def _keys(self, said: Statement, space: str) -> set[Key]:
        """UPDATE and UPSERT lock their row, DELETE its rows if the space has any tag index, INSERT none."""
        held = self.catalog.spaces.get(space)
        if held is None:
            return set()
        if isinstance(said, UpdateVertex):
            return {(held.id, said.tag, said.vid)}
        indexed = any(kind == "tag" for kind, _ in held.indexes)
        if isinstance(said, DeleteVertices | DeleteTags) and indexed:
            tags = said.tags if isinstance(said, DeleteTags) and said.tags else held.tags
            return {(held.id, tag, vid) for tag in tags for vid in said.vids.written}
        return set()

    def _of_meta(self, said: Any, space: Space) -> Table | None:
        steps: dict[type, Callable[[Space, Any], Table | None]] = {
            CreateSchema: self._meta.create_schema,
            AddFields: self._meta.add_fields,
            CreateIndex: self._meta.create_index,
            DropIndex: self._meta.drop_index,
            RebuildIndex: self._meta.rebuild,
            SubmitStats: self._meta.submit_stats,
        }
        return steps[type(said)](space, said)

    def _data(self, said: Statement, work: Work) -> Table | None:
        if not isinstance(said, Pipe):
            return DATA[type(said)](work, said)
        table = None
        for part in said.parts:
            table = self._data(part, work)
            work = replace(work, piped=table)
        return table
