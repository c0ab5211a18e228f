"""From the text of a request to its statements; what is not spoken here is a syntax error that names it."""

from collections.abc import Callable, Set
from functools import partial

import ngql_schema as schema
from graph_errors import STATEMENT_EMPTY, Refused, semantic, syntax, unspoken
from ngql_expressions import Cursor
from ngql_reads import after_pipe, fetch, go, has_aggregate, lookup, yield_clause
from ngql_tree import (
    DeleteEdges,
    DeleteTags,
    DeleteVertices,
    FetchEdges,
    FetchVertices,
    Go,
    GroupBy,
    Limit,
    Lookup,
    OrderBy,
    Pipe,
    Project,
    Statement,
)
from ngql_writes import delete, insert, update

LONGEST = 4_194_304
MOST = 512
BEGINNINGS: dict[str, Callable[[Cursor], Statement]] = {
    "USE": schema.use,
    "CREATE": schema.create,
    "ALTER": schema.alter,
    "DROP": schema.drop,
    "CLEAR": schema.clear,
    "REBUILD": schema.rebuild,
    "SUBMIT": schema.submit,
    "SHOW": schema.show,
    "DESCRIBE": schema.describe,
    "DESC": schema.describe,
    "INSERT": insert,
    "UPDATE": partial(update, insert=False),
    "UPSERT": partial(update, insert=True),
    "DELETE": delete,
    "FETCH": fetch,
    "GO": go,
    "LOOKUP": lookup,
}
READS = FetchVertices | FetchEdges | Go | Lookup
DELETES = DeleteVertices | DeleteEdges | DeleteTags
INTO = DELETES | FetchVertices | Go | OrderBy | Limit | GroupBy | Project
"""What may stand after a pipe; UPDATE may not (section 8)."""


def statements_of(request: str, parameters: Set[str]) -> list[Statement]:
    """The statements of one request, at most 512 in 4 MiB of text (section 4)."""
    if len(request.encode("utf-8", "surrogateescape")) > LONGEST:
        raise syntax("Query is too large")
    try:
        found = _read(Cursor(request, parameters))
    except RecursionError:
        raise syntax("The above expression's depth exceeds the maximum depth:512") from None
    if not found:
        raise Refused(STATEMENT_EMPTY, "StatementEmpty: ")
    if len(found) > MOST:
        raise semantic("The maximum number of statements allowed has been exceeded")
    return found


def _read(words: Cursor) -> list[Statement]:
    found: list[Statement] = []
    while words.word.kind != "end":
        if words.take(";"):
            continue
        found.append(_piped(words))
        if words.word.kind != "end":
            words.expect(";")
    return found


def _piped(words: Cursor) -> Statement:
    """Statements joined by `|`; only FETCH, GO and LOOKUP are piped from here."""
    parts = [_first(words)]
    while words.word.written == "|":
        if not isinstance(parts[0], READS):
            raise unspoken(f"a pipe out of {type(parts[0]).__name__}")
        words.next()
        parts.append(after_pipe(words) or _single(words))
        if not isinstance(parts[-1], INTO) or isinstance(parts[-2], DELETES):
            raise syntax(f"syntax error near `| {type(parts[-1]).__name__}'")
    return parts[0] if len(parts) == 1 else Pipe(tuple(parts))


def _first(words: Cursor) -> Statement:
    """YIELD of constants may stand alone."""
    if words.word.written != "YIELD":
        return _single(words)
    yields = yield_clause(words)
    if has_aggregate(yields):
        raise unspoken("aggregates of nothing")
    return Project(yields)


def _single(words: Cursor) -> Statement:
    begin = BEGINNINGS.get(words.word.written) if words.word.kind == "name" else None
    if begin is None:
        raise unspoken(words.wrong().text.removeprefix("SyntaxError: syntax error near "))
    words.next()
    return begin(words)
