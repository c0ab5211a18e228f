"""The grammar of spaces, tags, edge types, indexes, and of what shows them (section 7)."""

from dataclasses import replace

from graph_errors import syntax, unspoken
from ngql_expressions import Cursor
from ngql_tree import (
    AddFields,
    CreateIndex,
    CreateSchema,
    CreateSpace,
    DropIndex,
    DropSpace,
    Field,
    Literal,
    RebuildIndex,
    Show,
    Statement,
    SubmitStats,
    Use,
)

TYPES = {
    "BOOL": "bool", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "INT": "int64",
    "FLOAT": "float", "DOUBLE": "double", "STRING": "string", "FIXED_STRING": "fixed_string", "TIMESTAMP": "timestamp",
}  # fmt: skip
"""Property types that are spoken here, as DESCRIBE names them; dates, durations and geography are not."""
COMMENT_BYTES = 256
COUNTED = ("PARTITION_NUM", "REPLICA_FACTOR")
SHOWN = ("SPACES", "TAGS", "EDGES", "HOSTS", "STATS")


def use(words: Cursor) -> Statement:
    """USE space."""
    return Use(words.name())


def create(words: Cursor) -> Statement:
    """CREATE SPACE, TAG, EDGE, TAG INDEX or EDGE INDEX."""
    if words.take("SPACE"):
        return _space(words)
    kind = _kind(words, "CREATE")
    if words.take("INDEX"):
        return _index(words, kind)
    missing = _if(words, "NOT", "EXISTS")
    name = words.name()
    fields = words.commas(lambda: _field(words), "(", ")")
    comment = _comment(words) if words.word.written == "COMMENT" else ""
    if words.word.written in ("TTL_DURATION", "TTL_COL"):
        raise unspoken("TTL: an expired row vanishes from reads with no trace")
    return CreateSchema(kind, name, missing, fields, comment)


def alter(words: Cursor) -> Statement:
    """ALTER TAG or EDGE ... ADD."""
    kind = _kind(words, "ALTER")
    name = words.name()
    if not words.take("ADD"):
        raise unspoken(f"ALTER {kind.upper()} {name} {words.word.written}")
    return AddFields(kind, name, words.commas(lambda: _field(words), "(", ")"))


def drop(words: Cursor) -> Statement:
    """DROP SPACE, TAG INDEX or EDGE INDEX."""
    if words.take("SPACE"):
        present = _if(words, "EXISTS")
        return DropSpace(words.name(), present, keep=False)
    kind = _kind(words, "DROP")
    if not words.take("INDEX"):
        raise unspoken(f"DROP {kind.upper()}")
    present = _if(words, "EXISTS")
    return DropIndex(kind, words.name(), present)


def clear(words: Cursor) -> Statement:
    """CLEAR SPACE."""
    words.expect("SPACE")
    present = _if(words, "EXISTS")
    return DropSpace(words.name(), present, keep=True)


def rebuild(words: Cursor) -> Statement:
    """REBUILD TAG INDEX or EDGE INDEX, by name."""
    kind = _kind(words, "REBUILD")
    words.expect("INDEX")
    return RebuildIndex(kind, words.commas(words.name))


def submit(words: Cursor) -> Statement:
    """SUBMIT JOB STATS."""
    words.expect("JOB")
    if not words.take("STATS"):
        raise unspoken(f"SUBMIT JOB {words.word.written}")
    return SubmitStats()


def show(words: Cursor) -> Statement:
    """SHOW of spaces, tags, edges, hosts, stats, indexes, a job."""
    for each in SHOWN:
        if words.take(each):
            return Show(each.lower())
    if words.take("JOB"):
        return Show("job", words.integer())
    for kind in ("TAG", "EDGE"):
        if words.take(kind, "INDEXES"):
            return Show(f"{kind.lower()} indexes")
        if words.take(kind, "INDEX", "STATUS"):
            return Show(f"{kind.lower()} index status")
    raise unspoken(f"SHOW {words.word.written}")


def describe(words: Cursor) -> Statement:
    """DESCRIBE SPACE, TAG, EDGE, TAG INDEX or EDGE INDEX."""
    if words.take("SPACE"):
        return Show("describe space", words.name())
    kind = _kind(words, "DESCRIBE")
    index = " index" if words.take("INDEX") else ""
    return Show(f"describe {kind}{index}", words.name())


def _kind(words: Cursor, verb: str) -> str:
    for kind in ("TAG", "EDGE"):
        if words.take(kind):
            return kind.lower()
    raise unspoken(f"{verb} {words.word.written}")


def _if(words: Cursor, *condition: str) -> bool:
    return words.take("IF", *condition)


def _comment(words: Cursor) -> str:
    words.expect("COMMENT")
    words.take("=")
    comment = words.text()
    if len(comment.encode()) > COMMENT_BYTES:
        raise syntax("a comment has 256 bytes at most")
    return comment


def _space(words: Cursor) -> Statement:
    missing = _if(words, "NOT", "EXISTS")
    name = words.name()
    options: dict[str, int] = {}

    def option() -> None:
        for key in COUNTED:
            if words.take(key, "="):
                options[key] = words.integer()
                return
        words.expect("VID_TYPE", "=")
        if not words.take("FIXED_STRING"):
            raise unspoken("a vid_type other than FIXED_STRING(n)")
        words.expect("(")
        options["VID_TYPE"] = words.integer()
        words.expect(")")

    words.commas(option, "(", ")")
    comment = _comment(words) if words.word.written == "COMMENT" else ""
    if "VID_TYPE" not in options:
        raise syntax("Create space must specify vid_type")
    return CreateSpace(
        name,
        missing,
        options.get("PARTITION_NUM", 100),
        options.get("REPLICA_FACTOR", 1),
        options["VID_TYPE"],
        comment,
    )


def _index(words: Cursor, kind: str) -> Statement:
    missing = _if(words, "NOT", "EXISTS")
    name = words.name()
    words.expect("ON")
    on = words.name()

    def column() -> tuple[str, int]:
        named = words.name()
        if not words.take("("):
            return named, 0
        length = words.integer()
        words.expect(")")
        return named, length

    return CreateIndex(kind, name, missing, on, words.commas(column, "(", ")"))


def _field(words: Cursor) -> Field:
    name = words.name()
    type = TYPES.get(words.word.written)
    if type is None:
        raise unspoken(f"the property type {words.word.written.lower()}")
    words.next()
    size = 0
    if type == "fixed_string":
        words.expect("(")
        size = words.integer()
        words.expect(")")
    field = Field(name, type, size=size)
    while True:
        if words.take("NOT", "NULL"):
            field = replace(field, nullable=False)
        elif words.take("NULL"):
            field = replace(field, nullable=True)
        elif words.take("DEFAULT"):
            given = words.expression()
            if not isinstance(given, Literal):
                raise unspoken("a DEFAULT that is no constant")
            field = replace(field, default=given.value, has_default=True)
        elif words.word.written == "COMMENT":
            field = replace(field, comment=_comment(words))
        else:
            return field
