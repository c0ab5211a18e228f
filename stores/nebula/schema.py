"""What stands in the graph on NebulaGraph: tags, edge types, indexes and the version of the schema."""

from typing import NamedTuple, get_args

from schemas.edge import EdgeType

VID_BYTES = 96
NEVER = 2**63 - 1
"""Stands for a review that no time brings about: it sorts last and is never due."""

VERSION = 4
"""Rises with MIGRATIONS, which lead from each version to the next."""


class Column(NamedTuple):
    """A property: its name, its type as DESCRIBE shows it, and how it is declared after the name."""

    name: str
    kind: str
    declared: str


class Shape(NamedTuple):
    """A tag or an edge type with its properties."""

    name: str
    is_edge: bool
    columns: tuple[Column, ...]


class Index(NamedTuple):
    """An index of a tag; `on` as it stands between the parentheses."""

    name: str
    tag: str
    on: str


def _text(name: str) -> Column:
    return Column(name, "string", 'string NOT NULL DEFAULT ""')


def _whole(name: str, default: int = 0) -> Column:
    return Column(name, "int64", f"int NOT NULL DEFAULT {default}")


def _tag(name: str, *columns: Column) -> Shape:
    return Shape(name, False, columns)


def _edge(name: str, *columns: Column) -> Shape:
    return Shape(name, True, columns)


LINKS: tuple[EdgeType, ...] = get_args(EdgeType)
"""The types of edges that slots state between entities, beliefs and evidence."""

MESH = _tag("mesh", _whole("schema_version"))
BANK = _tag("bank", _text("name"), _text("policy"))
ENTITY = _tag("entity", _text("bank"), _text("id"), _text("name"), _text("type"))
# A slot carries its whole view, so that one row is one moment of it. `claim` is the token of the writer at work,
# `claimed` that of the last one who began, `token` that of the last one who finished; `loose` is what may lie about
# outside of the body (stores/nebula/plan.py).
SLOT = _tag(
    "slot",
    _text("bank"),
    _text("id"),
    _whole("version"),
    _whole("review_at", NEVER),
    _text("claim"),
    _text("claimed"),
    _text("token"),
    _text("loose"),
    _text("body"),
)
# Where a belief is, and whether the index has it: `pending` is when it was written, 0 once it is indexed.
BELIEF = _tag(
    "belief", _text("bank"), _text("id"), _text("slot"), _text("status"), _whole("version"), _whole("pending")
)
ALIAS = _tag("alias", _text("target"))
EVIDENCE = _tag("evidence", _text("bank"), _text("id"), _text("body"))
# What all voices of a digest share (stores/nebula/pieces.py).
DIGEST = _tag("digest", _text("body"))
# What was forgotten, and on the vertex of its bank when that was last.
GRAVE = _tag("grave", _text("bank"))
BURIALS = _tag("burials", _whole("last"))

# slot -> evidence, visible from the slot's version `since` on.
HOLDS = _edge("holds", _whole("since"))
# observation -> evidence
TOLD = _edge("told", _text("id"))
# session -> evidence
SAID = _edge("said", _text("id"), _text("observation"), _whole("turn"), _whole("at"))
# normalised name -> entity
NAMED = _edge("named", _text("id"))
# entity -> slot
ABOUT = _edge("about", _text("id"))
_WEIGHT = Column("weight", "double", "double NOT NULL DEFAULT 1.0")

TAGS = (MESH, BANK, ENTITY, SLOT, BELIEF, ALIAS, EVIDENCE, DIGEST, GRAVE, BURIALS)
EDGES = (HOLDS, TOLD, SAID, NAMED, ABOUT, *(_edge(link, _WEIGHT, _text("source"), _text("target")) for link in LINKS))
SHAPES = (*TAGS, *EDGES)
# A bank's name has up to 64 bytes; what is cut of an id is looked up in the row.
INDEXES = (
    Index("banks", "bank", "name(64)"),
    Index("entities_in_order", "entity", "bank(64), id(64)"),
    Index("slots_of_bank", "slot", "bank(64), id(64)"),
    Index("slots_due", "slot", "review_at"),
    Index("beliefs_of_bank", "belief", "bank(64), status(16)"),
    Index("beliefs_pending", "belief", "pending"),
    Index("evidence_of_bank", "evidence", "bank(64)"),
)

MIGRATIONS: tuple[tuple[str, ...], ...] = ((), (), ())
"""What leads from version 1 to 2, from 2 to 3, and so on, beside making what is new: DDL that may run twice.

Only ever appended to.
"""
