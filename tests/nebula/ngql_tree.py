"""What a statement says, as data: the expressions, and one class for each kind of statement that is spoken here."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Literal:
    """A constant of the text."""

    value: Any


@dataclass(frozen=True)
class Parameter:
    """`$name`: a value that travelled beside the text."""

    name: str


@dataclass(frozen=True)
class Name:
    """A bare name: a property in UPDATE, or a tag or edge type before a dot."""

    name: str


@dataclass(frozen=True)
class Input:
    """`$-.column`: a column of the rows that came through the pipe."""

    column: str


@dataclass(frozen=True)
class Element:
    """`vertex`, `edge`, `$$` (the far end of a hop) or `$^` (the near end)."""

    kind: str


@dataclass(frozen=True)
class Attribute:
    """`of.name`."""

    of: "Expression"
    name: str


@dataclass(frozen=True)
class Call:
    """A function and its arguments; `distinct` is for aggregates, `count(*)` has no argument."""

    function: str
    arguments: tuple["Expression", ...]
    distinct: bool = False


@dataclass(frozen=True)
class Unary:
    """`-`, `NOT`, or one of the tests `IS NULL`, `IS NOT NULL`, `IS EMPTY`, `IS NOT EMPTY`."""

    operator: str
    of: "Expression"


@dataclass(frozen=True)
class Binary:
    """Two expressions under an operator, named in upper case."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Listed:
    """`[a, b]` or `LIST[a, b]`."""

    items: tuple["Expression", ...]


Expression = Literal | Parameter | Name | Input | Element | Attribute | Call | Unary | Binary | Listed


@dataclass(frozen=True)
class Column:
    """One item of YIELD, and what it is called."""

    expression: Expression
    alias: str


@dataclass(frozen=True)
class Yield:
    """What a reading statement gives."""

    columns: tuple[Column, ...]
    distinct: bool = False


@dataclass(frozen=True)
class Vids:
    """The vids of a statement: written ones, or a column of the pipe."""

    written: tuple[str, ...] = ()
    piped: str | None = None


@dataclass(frozen=True)
class EdgeKey:
    """`src->dst@rank`, the rank 0 when not written."""

    src: str
    dst: str
    rank: int


@dataclass(frozen=True)
class Field:
    """A column of a tag or an edge type; `size` of a fixed_string; without `default` it has none."""

    name: str
    type: str
    nullable: bool = True
    default: Any = None
    has_default: bool = False
    size: int = 0
    comment: str = ""


@dataclass(frozen=True)
class Use:
    """USE space."""

    space: str


@dataclass(frozen=True)
class CreateSpace:
    """CREATE SPACE."""

    name: str
    if_not_exists: bool
    partitions: int
    replicas: int
    vid_bytes: int
    comment: str


@dataclass(frozen=True)
class DropSpace:
    """DROP SPACE, and with `keep` CLEAR SPACE, which leaves the schema."""

    name: str
    if_exists: bool
    keep: bool


@dataclass(frozen=True)
class CreateSchema:
    """CREATE TAG or CREATE EDGE; `kind` is tag or edge."""

    kind: str
    name: str
    if_not_exists: bool
    fields: tuple[Field, ...]
    comment: str = ""


@dataclass(frozen=True)
class AddFields:
    """ALTER TAG or ALTER EDGE ... ADD (...)."""

    kind: str
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class CreateIndex:
    """CREATE TAG INDEX or CREATE EDGE INDEX; each column with its length, 0 when none is written."""

    kind: str
    name: str
    if_not_exists: bool
    on: str
    columns: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class DropIndex:
    """DROP TAG INDEX or DROP EDGE INDEX."""

    kind: str
    name: str
    if_exists: bool


@dataclass(frozen=True)
class RebuildIndex:
    """REBUILD TAG INDEX or REBUILD EDGE INDEX."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Show:
    """SHOW or DESCRIBE of `what`, such as `tags` or `describe tag`, with its name or number."""

    what: str
    name: Any = None


@dataclass(frozen=True)
class SubmitStats:
    """SUBMIT JOB STATS."""


@dataclass(frozen=True)
class InsertVertices:
    """INSERT VERTEX: the tags with their property names, and for each vid all their values in that order."""

    tags: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[tuple[str, tuple[Expression, ...]], ...]
    if_not_exists: bool


@dataclass(frozen=True)
class InsertEdges:
    """INSERT EDGE."""

    type: str
    names: tuple[str, ...]
    rows: tuple[tuple[EdgeKey, tuple[Expression, ...]], ...]
    if_not_exists: bool


@dataclass(frozen=True)
class UpdateVertex:
    """UPDATE VERTEX ON tag, and with `insert` UPSERT VERTEX ON tag."""

    tag: str
    vid: str
    sets: tuple[tuple[str, Expression], ...]
    when: Expression | None
    yields: Yield | None
    insert: bool


@dataclass(frozen=True)
class DeleteVertices:
    """DELETE VERTEX, with their edges when so said."""

    vids: Vids
    with_edge: bool


@dataclass(frozen=True)
class DeleteEdges:
    """DELETE EDGE; `piped` are the expressions of `$-.src -> $-.dst @ $-.rank`."""

    type: str
    keys: tuple[EdgeKey, ...]
    piped: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class DeleteTags:
    """DELETE TAG ... FROM; no tags mean all of them."""

    tags: tuple[str, ...]
    vids: Vids


@dataclass(frozen=True)
class FetchVertices:
    """FETCH PROP ON tags; no tags mean all of them."""

    tags: tuple[str, ...]
    vids: Vids
    yields: Yield


@dataclass(frozen=True)
class FetchEdges:
    """FETCH PROP ON an edge type."""

    type: str
    keys: tuple[EdgeKey, ...]
    yields: Yield


@dataclass(frozen=True)
class Go:
    """GO; `types` empty for `*`; `direction` is out, in or both; `limits` caps each step."""

    least: int
    most: int
    vids: Vids
    types: tuple[str, ...]
    direction: str
    where: Expression | None
    yields: Yield
    limits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lookup:
    """LOOKUP ON a tag or an edge type; which one it is, the schema says."""

    on: str
    where: Expression | None
    yields: Yield


@dataclass(frozen=True)
class OrderBy:
    """ORDER BY after a pipe: columns, each with whether it goes down."""

    columns: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Limit:
    """LIMIT after a pipe."""

    offset: int
    count: int


@dataclass(frozen=True)
class GroupBy:
    """GROUP BY after a pipe; a YIELD of aggregates after a pipe is one without keys."""

    keys: tuple[Expression, ...]
    yields: Yield


@dataclass(frozen=True)
class Project:
    """YIELD after a pipe, or alone."""

    yields: Yield
    where: Expression | None = None


@dataclass(frozen=True)
class Pipe:
    """Statements joined by `|`: each gets the rows of the one before."""

    parts: tuple["Statement", ...]


Statement = (
    Use
    | CreateSpace
    | DropSpace
    | CreateSchema
    | AddFields
    | CreateIndex
    | DropIndex
    | RebuildIndex
    | Show
    | SubmitStats
    | InsertVertices
    | InsertEdges
    | UpdateVertex
    | DeleteVertices
    | DeleteEdges
    | DeleteTags
    | FetchVertices
    | FetchEdges
    | Go
    | Lookup
    | OrderBy
    | Limit
    | GroupBy
    | Project
    | Pipe
)
