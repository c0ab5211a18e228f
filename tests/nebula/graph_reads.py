"""FETCH, GO, LOOKUP, and what stands after a pipe (section 9)."""

from collections.abc import Iterator

from graph_catalog import Index
from graph_errors import no_index
from graph_evaluate import Scope, evaluate
from graph_rows import Bound, partition_of
from graph_values import Edge, Null, Table, Vertex
from graph_work import Work, cut, ordered
from ngql_tree import (
    Attribute,
    Binary,
    Expression,
    FetchEdges,
    FetchVertices,
    Go,
    GroupBy,
    Limit,
    Listed,
    Lookup,
    Name,
    OrderBy,
    Parameter,
    Project,
)

MIRRORED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
SQL = {"==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def fetch_vertices(work: Work, said: FetchVertices) -> Table:
    """One row for each vid that has one of the tags, twice for one asked twice; in no order to count on."""
    work.require_stored(said.tags)
    found = (work.vertex(vid, said.tags) for vid in work.in_order_of_storage(work.vids(said.vids)))
    return work.project(said.yields, (Scope(work.parameters, vertex=vertex) for vertex in found if vertex.tags))


def fetch_edges(work: Work, said: FetchEdges) -> Table:
    """One row for each edge that is there."""
    work.require_stored()
    work.require_vids(vid for key in said.keys for vid in (key.src, key.dst))
    found = (work.rows.edge(work.space, (key.src, said.type, key.rank, key.dst)) for key in said.keys)
    return work.project(
        said.yields, (Scope(work.parameters, edge=work.grown(edge)) for edge in found if edge is not None)
    )


def go(work: Work, said: Go) -> Table:
    """One row for each edge walked in the steps from `least` to `most`; each start once."""
    work.require_stored()
    starts = work.in_order_of_storage(dict.fromkeys(work.vids(said.vids)))
    kept: list[Scope] = []
    for step in range(1, said.most + 1):
        cap = said.limits[step - 1] if said.limits else None
        walked = [edge for start in starts for edge in work.hops(start, said.types, said.direction)][:cap]
        if step >= said.least:
            scopes = (_hop(work, edge) for edge in walked)
            kept += [scope for scope in scopes if said.where is None or evaluate(said.where, scope) is True]
        starts = list(dict.fromkeys(edge.src if edge.reverse else edge.dst for edge in walked))
    return work.project(said.yields, kept)


def lookup(work: Work, said: Lookup) -> Table:
    """The rows that an index has and the whole condition holds for; one that no index got is not found."""
    kind = "tag" if said.on in work.space.tags else "edge"
    work.require_stored([said.on] if kind == "tag" else [])
    known = [index for index in work.space.indexes_on(kind, said.on) if index.stored_at <= work.now]
    if not known:
        raise no_index()
    index, ways = _best(work, known, said.where)
    found = _entries(work, index, ways)
    return work.project(
        said.yields, (scope for scope in found if said.where is None or evaluate(said.where, scope) is True)
    )


def order_by(work: Work, said: OrderBy) -> Table:
    """Sort what came through the pipe."""
    return ordered(_piped(work), said.columns)


def limit(work: Work, said: Limit) -> Table:
    """Cut what came through the pipe."""
    return cut(_piped(work), said.offset, said.count)


def group_by(work: Work, said: GroupBy) -> Table:
    """Aggregate what came through the pipe."""
    return work.project(said.yields, (Scope(work.parameters, row=row) for row in work.input()), said.keys)


def project(work: Work, said: Project) -> Table:
    """Compute from what came through the pipe; without a pipe, one row of constants."""
    rows = work.input() if work.piped is not None else [{}]
    scopes = (Scope(work.parameters, row=row) for row in rows)
    return work.project(
        said.yields, (scope for scope in scopes if said.where is None or evaluate(said.where, scope) is True)
    )


def _piped(work: Work) -> Table:
    return work.piped or Table((), [])


def _hop(work: Work, edge: Edge) -> Scope:
    near, far = (edge.dst, edge.src) if edge.reverse else (edge.src, edge.dst)
    return Scope(work.parameters, edge=edge, near=lambda: work.vertex(near), far=lambda: work.vertex(far))


def _entries(work: Work, index: Index, ways: list[list[Bound]]) -> Iterator[Scope]:
    for bounds in ways:
        found = work.rows.found_by(index, bounds)
        # Each partition has its own index: their answers come one after the other, in no order of the whole.
        for src, rank, dst in sorted(found, key=lambda key: partition_of(work.space, key[0])):
            if index.kind == "tag":
                row = work.tag_row(index.on, src)
                if row is not None:
                    yield Scope(work.parameters, vertex=Vertex(src, {index.on: row}))
            else:
                edge = work.rows.edge(work.space, (src, index.on, rank, dst))
                if edge is not None:
                    yield Scope(work.parameters, edge=work.grown(edge))


def _best(work: Work, known: list[Index], where: Expression | None) -> tuple[Index, list[list[Bound]]]:
    """The index whose first column the condition narrows most, and the ranges of it to read."""
    ranked = []
    for place, index in enumerate(known):
        ways = _ways(work, where, index.columns[0][0]) if index.columns else [[]]
        closeness = 0 if not any(ways) else 2 if all(bound[0] == "=" for way in ways for bound in way) else 1
        ranked.append((closeness, -place, index, ways))
    _, _, index, ways = max(ranked, key=lambda each: each[:2])
    return index, ways


def _ways(work: Work, where: Expression | None, column: str) -> list[list[Bound]]:
    bounds: list[Bound] = []
    for test in _conjuncts(where):
        match test:
            case Binary("IN", Attribute(Name(), name), Listed() | Parameter() as listed) if name == column:
                values = evaluate(listed, Scope(work.parameters))
                if all(_indexable(value) for value in values):
                    return [[("=", value)] for value in dict.fromkeys(values)]
            case Binary(operator, Attribute(Name(), name), constant) if name == column and operator in SQL:
                _add(work, bounds, SQL[operator], constant)
            case Binary(operator, constant, Attribute(Name(), name)) if name == column and operator in MIRRORED:
                _add(work, bounds, SQL[MIRRORED[operator]], constant)
    return [bounds]


def _add(work: Work, bounds: list[Bound], comparison: str, constant: Expression) -> None:
    value = evaluate(constant, Scope(work.parameters))
    if _indexable(value):
        bounds.append((comparison, value))


def _indexable(value: object) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, Null)


def _conjuncts(where: Expression | None) -> Iterator[Expression]:
    if isinstance(where, Binary) and where.operator == "AND":
        yield from _conjuncts(where.left)
        yield from _conjuncts(where.right)
    elif where is not None:
        yield where
