"""The grammar of vids and edge keys, where no parameter may stand (section 5)."""

from graph_errors import syntax, unspoken
from ngql_expressions import Cursor
from ngql_tree import EdgeKey, Vids


def literal_vid(words: Cursor) -> str:
    """A written vid; a parameter may not stand here (section 5)."""
    if words.word.kind == "parameter":
        raise syntax(f"Parameter is not supported in vid near `{words.word.written}'")
    if words.word.kind == "int":
        raise unspoken("vids that are integers")
    return words.text()


def some_vids(words: Cursor) -> Vids:
    """Written vids, or one column of the pipe."""
    if words.word.written == "$-":
        return Vids(piped=column_of_pipe(words))
    return Vids(words.commas(lambda: literal_vid(words)))


def edge_key(words: Cursor) -> EdgeKey:
    """`"src"->"dst"@rank`; the rank is a literal."""
    src = literal_vid(words)
    words.expect("->")
    dst = literal_vid(words)
    return EdgeKey(src, dst, words.integer() if words.take("@") else 0)


def column_of_pipe(words: Cursor) -> str:
    """`$-.column`."""
    words.expect("$-")
    words.expect(".")
    return words.name()
