"""INSERT, UPDATE, UPSERT and DELETE (section 8)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from graph_columns import NullNotAllowed, OutOfRange, WrongType, filled, stored
from graph_errors import (
    NO_DEFAULT,
    NO_VALUE_UPSERTED,
    NOT_NULL,
    OUT_OF_RANGE,
    ROW_NOT_FOUND,
    WRONG_TYPE_INSERTED,
    WRONG_TYPE_UPDATED,
    not_leader,
    storage,
)
from graph_evaluate import Scope, evaluate
from graph_rows import partition_of
from graph_values import Edge, Properties, Table
from graph_work import Step, Work
from ngql_tree import (
    DeleteEdges,
    DeleteTags,
    DeleteVertices,
    Expression,
    Field,
    InsertEdges,
    InsertVertices,
    UpdateVertex,
)


def insert_vertices(work: Work, said: InsertVertices) -> None:
    """Replace whole tag rows, or with IF NOT EXISTS leave those that are there."""
    work.require_stored(tag for tag, _ in said.tags)
    work.require_vids(vid for vid, _ in said.rows)
    scope = Scope(work.parameters)

    def prepare(tag: str, vid: str, names: Sequence[str], given: Sequence[Expression]) -> Step:
        row = _row(work.fields("tag", tag), names, [evaluate(each, scope) for each in given])

        def write() -> None:
            if not (said.if_not_exists and work.tag_row(tag, vid) is not None):
                work.rows.put_tag(work.space, tag, vid, row, work.now)

        return write

    parts: list[tuple[str, Callable[[], Step]]] = []
    for vid, values in said.rows:
        place = 0
        for tag, names in said.tags:
            given = values[place : place + len(names)]
            place += len(names)
            parts.append((vid, partial(prepare, tag, vid, names, given)))
    work.write(parts)


def insert_edges(work: Work, said: InsertEdges) -> None:
    """Write the out-copy into the source's partition and the in-copy into the destination's; both replace."""
    work.require_vids(vid for key, _ in said.rows for vid in (key.src, key.dst))
    fields = work.fields("edge", said.type)
    scope = Scope(work.parameters)
    held = {key for key, _ in said.rows if work.rows.edge(work.space, (key.src, said.type, key.rank, key.dst))}
    seen = set(held) if said.if_not_exists else set()
    copies: dict[bool, list[tuple[str, Callable[[], Step]]]] = {False: [], True: []}
    for key, given in said.rows:
        if key in seen:
            continue
        if said.if_not_exists:
            seen.add(key)

        def prepare(key: Any = key, given: Any = given, backwards: bool = False) -> Step:
            row = _row(fields, said.names, [evaluate(each, scope) for each in given])
            edge = Edge(key.src, key.dst, said.type, key.rank, row)
            return lambda: work.rows.put_edge(work.space, edge, work.now, backwards=backwards)

        copies[False].append((key.src, prepare))
        copies[True].append((key.dst, partial(prepare, backwards=True)))
    if work.halved and said.rows:
        replace(work, halved=False).write(copies[False])
        raise not_leader(partition_of(work.space, said.rows[0][0].dst))
    work.write(copies[False])
    work.write(copies[True])


def update_vertex(work: Work, said: UpdateVertex) -> Table | None:
    """Compare and swap: WHEN sees the old row; false or NULL changes nothing and still gives the row as it is."""
    work.require_stored([said.tag])
    work.require_vids([said.vid])
    fields = work.fields("tag", said.tag)
    old = work.tag_row(said.tag, said.vid)
    if old is None and not said.insert:
        raise storage(ROW_NOT_FOUND)
    row = dict(old) if old is not None else _new_row(said, fields)
    scope = Scope(work.parameters, names=row)
    if old is None or said.when is None or evaluate(said.when, scope) is True:
        for name, value in said.sets:
            row[name] = _stored(fields[name], evaluate(value, scope), WRONG_TYPE_UPDATED)
        if work.halved:
            raise not_leader(partition_of(work.space, said.vid))
        work.rows.put_tag(work.space, said.tag, said.vid, row, work.now)
    return work.project(said.yields, [scope]) if said.yields else None


def delete_vertices(work: Work, said: DeleteVertices) -> None:
    """Remove all tags; edges only when so said, else they dangle. What is not there is deleted too."""
    work.require_stored()
    vids = list(dict.fromkeys(work.vids(said.vids)))
    types = work.edge_types(())
    for vid in vids if said.with_edge else ():
        for edge in list(work.hops(vid, types, "both")):
            work.rows.drop_edge(work.space, edge.key)
    work.write((vid, _sure(partial(_drop_tags, work, list(work.space.tags), vid))) for vid in vids)


def delete_edges(work: Work, said: DeleteEdges) -> None:
    """Remove both copies of each edge."""
    if said.piped is None:
        keys = [(key.src, said.type, key.rank, key.dst) for key in said.keys]
    else:
        src, dst, rank = said.piped
        keys = [(row[src], said.type, row[rank], row[dst]) for row in work.input()]
    work.require_vids(vid for key in keys for vid in (key[0], key[3]))
    work.write((key[0], _sure(partial(work.rows.drop_edge, work.space, key))) for key in keys)


def delete_tags(work: Work, said: DeleteTags) -> None:
    """Remove tags of vertices; their edges and other tags stay."""
    tags = list(said.tags or work.space.tags)
    work.require_stored(tags)
    vids = work.vids(said.vids)
    work.write((vid, _sure(partial(_drop_tags, work, tags, vid))) for vid in vids)


def _sure(step: Step) -> Callable[[], Step]:
    """A write of which nothing can be wrong."""
    return lambda: step


def _drop_tags(work: Work, tags: Sequence[str], vid: str) -> None:
    for tag in tags:
        work.rows.drop_tag(work.space, tag, vid)


def _row(fields: dict[str, Field], names: Sequence[str], values: Sequence[Any]) -> Properties:
    """A whole row: what is not named goes to its DEFAULT or to NULL."""
    given = dict(zip(names, values, strict=True))
    row: Properties = {}
    for name, field in fields.items():
        if name in given:
            row[name] = _stored(field, given[name], WRONG_TYPE_INSERTED)
            continue
        row[name] = filled(field)
        if row[name] is None:
            raise storage(NO_DEFAULT)
    return row


def _new_row(said: UpdateVertex, fields: dict[str, Field]) -> Properties:
    """What an UPSERT starts from: every property that is not SET has a DEFAULT or may be NULL."""
    named = {name for name, _ in said.sets}
    row = {name: filled(field) for name, field in fields.items()}
    if any(value is None and name not in named for name, value in row.items()):
        raise storage(NO_VALUE_UPSERTED)
    return row


def _stored(field: Field, value: Any, wrong_type: str) -> Any:
    try:
        return stored(field, value)
    except WrongType:
        raise storage(wrong_type) from None
    except NullNotAllowed:
        raise storage(NOT_NULL) from None
    except OutOfRange:
        raise storage(OUT_OF_RANGE) from None
