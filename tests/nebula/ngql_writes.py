"""The grammar of INSERT, UPDATE, UPSERT and DELETE (section 8)."""

from graph_errors import syntax, unspoken
from ngql_expressions import Cursor
from ngql_keys import column_of_pipe, edge_key, literal_vid, some_vids
from ngql_reads import yield_clause
from ngql_tree import (
    DeleteEdges,
    DeleteTags,
    DeleteVertices,
    EdgeKey,
    Expression,
    InsertEdges,
    InsertVertices,
    Statement,
    UpdateVertex,
)


def insert(words: Cursor) -> Statement:
    """INSERT VERTEX or INSERT EDGE."""
    if words.take("VERTEX"):
        return _vertices(words)
    words.expect("EDGE")
    missing = words.take("IF", "NOT", "EXISTS")
    type = words.name()
    names = words.commas(words.name, "(", ")")
    words.expect("VALUES")

    def row() -> tuple[EdgeKey, tuple[Expression, ...]]:
        key = edge_key(words)
        words.expect(":")
        return key, _values(words)

    return InsertEdges(type, names, words.commas(row), missing)


def update(words: Cursor, *, insert: bool) -> Statement:
    """UPDATE or UPSERT VERTEX ON one tag, of one vid."""
    if not words.take("VERTEX"):
        raise unspoken("UPDATE EDGE: the copies of an edge are updated one by one, each under its own WHEN")
    if not words.take("ON"):
        raise unspoken("UPDATE VERTEX without ON tag")
    tag = words.name()
    vid = literal_vid(words)
    words.expect("SET")

    def item() -> tuple[str, Expression]:
        name = words.name()
        words.expect("=")
        return name, words.expression()

    sets = words.commas(item)
    when = words.expression() if words.take("WHEN") else None
    yields = yield_clause(words) if words.word.written == "YIELD" else None
    return UpdateVertex(tag, vid, sets, when, yields, insert)


def delete(words: Cursor) -> Statement:
    """DELETE VERTEX, EDGE or TAG."""
    if words.take("VERTEX"):
        vids = some_vids(words)
        return DeleteVertices(vids, words.take("WITH", "EDGE"))
    if words.take("EDGE"):
        type = words.name()
        if words.word.written == "$-":
            return DeleteEdges(type, (), _piped_key(words))
        return DeleteEdges(type, words.commas(lambda: edge_key(words)))
    words.expect("TAG")
    tags = () if words.take("*") else words.commas(words.name)
    words.expect("FROM")
    return DeleteTags(tags, some_vids(words))


def _vertices(words: Cursor) -> Statement:
    missing = words.take("IF", "NOT", "EXISTS")
    if words.word.written == "VALUES":
        raise syntax("Insert vertex is forbidden, please specify the tag")

    def tag() -> tuple[str, tuple[str, ...]]:
        return words.name(), words.commas(words.name, "(", ")")

    tags = words.commas(tag)
    words.expect("VALUES")

    def row() -> tuple[str, tuple[Expression, ...]]:
        vid = literal_vid(words)
        words.expect(":")
        return vid, _values(words)

    return InsertVertices(tags, words.commas(row), missing)


def _values(words: Cursor) -> tuple[Expression, ...]:
    return words.commas(words.expression, "(", ")")


def _piped_key(words: Cursor) -> tuple[str, str, str]:
    src = column_of_pipe(words)
    words.expect("->")
    dst = column_of_pipe(words)
    words.expect("@")
    return src, dst, column_of_pipe(words)
