"""The edges of a `same_as` slot, by which a group is found from each of its entities, and a bank's merges at all.

    entity  -> the entity that it is, or once was, merged into
    merges  -> entity, where `merges` is the bank's node for all of them (schemas/reserved.py)

An edge says where to look, not what holds: that is decided from the slot's evidence, as the asker may see it. Its
weight puts it before all others of a node, of which a store gives the strongest first.
"""

from collections.abc import Iterable

from schemas.belief import LIVE, Belief
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.reserved import entity_named, merges_of

HELD, FORMER = 2.0, 1.5


def merge_edges(bank: str, entity: Entity, beliefs: Iterable[Belief]) -> set[Edge]:
    """The edges of an entity's merges, held and former; none for what only refutes or retracts one."""
    id = entity_id(bank, entity)
    edges = set()
    for belief in beliefs:
        into = entity_named(belief.value)
        if belief.kind == "instruction" and into is not None:
            weight = HELD if belief.status in LIVE else FORMER
            edges |= {Edge(id, "same_as", entity_id(bank, into), weight), Edge(merges_of(bank), "same_as", id, HELD)}
    return edges


def strongest(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The edges with only the strongest of those that join the same ends, in order."""
    best: dict[tuple[str, str, str], Edge] = {}
    for edge in edges:
        place = (edge.src, edge.type, edge.dst)
        if place not in best or best[place].weight < edge.weight:
            best[place] = edge
    return tuple(best[place] for place in sorted(best))
