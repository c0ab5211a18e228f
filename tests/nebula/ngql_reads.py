"""The grammar of FETCH, GO, LOOKUP and of what stands after a pipe (section 9)."""

from graph_errors import syntax, unspoken
from ngql_expressions import AGGREGATES, Cursor, walk
from ngql_keys import column_of_pipe, edge_key, some_vids
from ngql_tree import (
    Call,
    Column,
    Element,
    FetchEdges,
    FetchVertices,
    Go,
    GroupBy,
    Limit,
    Lookup,
    Name,
    OrderBy,
    Parameter,
    Project,
    Statement,
    Yield,
)

NEEDS_ALIAS = ("vertex", "edge", "$$", "$^")
NO_YIELD = "Missing yield clause."


def yield_clause(words: Cursor) -> Yield:
    """YIELD [DISTINCT] with a name for every column; an unknown parameter here is no parameter to the grammar."""
    if not words.take("YIELD"):
        raise syntax(NO_YIELD)
    yields = columns_of(words)
    for part in walk(yields):
        if isinstance(part, Parameter) and part.name not in words.parameters:
            raise syntax(f"syntax error near `${part.name}'")
    return yields


def columns_of(words: Cursor) -> Yield:
    """The columns of a YIELD, RETURN or WITH."""
    distinct = words.take("DISTINCT")

    def column() -> Column:
        expression = words.expression()
        inner = [part for part in walk(expression) if isinstance(part, Call) and part is not expression]
        if any(part.function in AGGREGATES for part in inner):
            raise unspoken("an aggregate inside of another expression")
        if words.take("AS"):
            return Column(expression, words.name())
        if isinstance(expression, Element) and expression.kind in NEEDS_ALIAS:
            raise syntax(f"please add alias when using `{expression.kind}'")
        if isinstance(expression, Name):
            return Column(expression, expression.name)
        raise unspoken("columns without AS")

    return Yield(words.commas(column), distinct)


def has_aggregate(yields: Yield) -> bool:
    """Whether a column counts or sums rows."""
    return any(isinstance(part, Call) and part.function in AGGREGATES for part in walk(yields))


def fetch(words: Cursor) -> Statement:
    """FETCH PROP ON tags or an edge type; which of them, the keys say."""
    from_pipe = words.take("PROP", "ON")
    if not from_pipe:
        raise words.wrong()
    names = () if words.take("*") else words.commas(words.name)
    if words.word.kind == "string" and words.ahead(1).written == "->":
        if len(names) != 1:
            raise words.wrong()
        keys = words.commas(lambda: edge_key(words))
        return FetchEdges(names[0], keys, _plain_yield(words))
    vids = some_vids(words)
    return FetchVertices(names, vids, _plain_yield(words))


def go(words: Cursor) -> Statement:
    """GO, of any number of steps."""
    least = most = 1
    if words.word.kind == "int":
        least = most = words.integer()
        if words.take("TO"):
            most = words.integer()
        if not (words.take("STEPS") or words.take("STEP")):
            raise words.wrong()
    words.expect("FROM")
    if words.word.kind == "parameter":
        raise syntax(f"syntax error near `{words.word.written}'")
    vids = some_vids(words)
    words.expect("OVER")
    types = () if words.take("*") else words.commas(words.name)
    direction = "in" if words.take("REVERSELY") else "both" if words.take("BIDIRECT") else "out"
    where = words.expression() if words.take("WHERE") else None
    yields = _plain_yield(words)
    if words.word.written == "SAMPLE":
        raise unspoken("SAMPLE")
    limits = words.commas(words.integer, "[", "]") if words.take("LIMIT") else ()
    return Go(least, most, vids, types, direction, where, yields, limits)


def lookup(words: Cursor) -> Statement:
    """LOOKUP ON a tag or an edge type."""
    words.expect("ON")
    on = words.name()
    where = words.expression() if words.take("WHERE") else None
    return Lookup(on, where, _plain_yield(words))


def after_pipe(words: Cursor) -> Statement | None:
    """ORDER BY, LIMIT, GROUP BY or YIELD after a pipe; nothing when it is another statement."""
    if words.take("ORDER"):
        words.expect("BY")
        return OrderBy(words.commas(lambda: _sorted_by(words)))
    if words.take("LIMIT"):
        return _limit(words)
    if words.take("GROUP"):
        words.expect("BY")
        return GroupBy(words.commas(words.expression), yield_clause(words))
    if words.word.written == "YIELD":
        yields = yield_clause(words)
        if has_aggregate(yields):
            return GroupBy((), yields)
        return Project(yields, words.expression() if words.take("WHERE") else None)
    return None


def going_down(words: Cursor) -> bool:
    """Whether DESC stands here; ASC may."""
    if words.take("DESC"):
        return True
    words.take("ASC")
    return False


def _plain_yield(words: Cursor) -> Yield:
    yields = yield_clause(words)
    if has_aggregate(yields):
        raise syntax("aggregates may stand only after a pipe")
    return yields


def _sorted_by(words: Cursor) -> tuple[str, bool]:
    column = column_of_pipe(words) if words.word.written == "$-" else words.name()
    return column, going_down(words)


def _limit(words: Cursor) -> Limit:
    if words.word.kind == "parameter":
        raise words.wrong()
    first = words.integer()
    if words.take(","):
        return Limit(first, words.integer())
    if words.take("OFFSET"):
        return Limit(words.integer(), first)
    return Limit(0, first)
