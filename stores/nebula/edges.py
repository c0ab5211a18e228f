"""Which edges evidence, slots and entities have on NebulaGraph, and the statements that write and delete edges."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.identity import normal_name
from schemas.slot import Slot
from stores.nebula import statements as ngql
from stores.nebula.rows import Plain
from stores.nebula.schema import EDGES
from stores.nebula.script import ROWS_AT_ONCE, Line, Script, Words, name, number, quoted
from stores.nebula.vid import link_rank, vid

NO_TURN = -(2**63)
"""Stands for a missing turn, so that such evidence comes first in its session."""

_COLUMNS = {edge.name: Words(", ".join(name(column.name) for column in edge.columns)) for edge in EDGES}


class EdgeKey(NamedTuple):
    """What makes an edge that edge: another of the same key replaces it."""

    edge: str
    src: str
    rank: int
    dst: str


Edges = dict[EdgeKey, tuple[Plain, ...]]
"""Edges with their properties, in the order of the schema."""


def slot_edges(slot: Slot) -> Edges:
    """The edges that follow from a slot's state, and the one by which its entity leads to it."""
    about = EdgeKey("about", vid(slot.bank, entity_id(slot.bank, slot.entity)), 0, vid(slot.bank, slot.id))
    edges: Edges = {about: (slot.id,)}
    for edge in slot.edges:
        key = EdgeKey(edge.type, vid(slot.bank, edge.src), link_rank(slot.id, edge), vid(slot.bank, edge.dst))
        edges[key] = (float(edge.weight), edge.src, edge.dst)
    return edges


def evidence_edges(piece: Evidence, since: int) -> Edges:
    """The edges by which slot, observation and session lead to a piece of evidence."""
    end = vid(piece.bank, piece.id)
    edges: Edges = {
        EdgeKey("holds", vid(piece.bank, piece.slot), 0, end): (since,),
        EdgeKey("told", vid(piece.bank, piece.observation_id, "observation"), 0, end): (piece.id,),
    }
    if piece.session:
        turn = NO_TURN if piece.turn is None else piece.turn
        place = (piece.id, piece.observation_id, turn, piece.effective_at)
        edges[EdgeKey("said", vid(piece.bank, piece.session, "session"), 0, end)] = place
    return edges


def name_edge(bank: str, id: str, entity: Entity) -> Edges:
    """The edge by which a normalised name leads to an entity."""
    return {EdgeKey("named", vid(bank, normal_name(entity.name), "name"), 0, vid(bank, id)): (id,)}


def add_edges(script: Script, edges: Mapping[EdgeKey, tuple[Plain, ...]]) -> None:
    """Write edges, a statement a type."""
    rows: defaultdict[str, list[Line]] = defaultdict(list)
    for key, values in edges.items():
        blanks = [f"value{place}" for place in range(len(values))]
        template = ngql.EDGE_ROW.replace("{values}", ", ".join(f"{{{blank}}}" for blank in blanks))
        rows[key.edge].append(Line(template, _ends(key) | dict(zip(blanks, values, strict=True))))
    for edge, some in rows.items():
        script.add_rows(ngql.INSERT_EDGES, some, edge=name(edge), columns=_COLUMNS[edge])


def delete_edges(script: Script, keys: Iterable[EdgeKey]) -> None:
    """Delete edges, a statement a type; those that are not there do no harm."""
    by_edge: defaultdict[str, list[Words]] = defaultdict(list)
    for key in sorted(set(keys)):
        by_edge[key.edge].append(Words(ngql.EDGE_KEY.format(**_ends(key))))
    for edge, some in by_edge.items():
        for start in range(0, len(some), ROWS_AT_ONCE):
            script.add(ngql.DELETE_EDGES, edge=name(edge), keys=Words(", ".join(some[start : start + ROWS_AT_ONCE])))


def _ends(key: EdgeKey) -> dict[str, Plain | Words]:
    return {"src": quoted(key.src), "dst": quoted(key.dst), "rank": number(key.rank)}
