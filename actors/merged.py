"""Which entities were ever merged, as the index must know it: what holds of them is decided when they are read.

The stored status of such an entity's beliefs says nothing about the group's, so their rows pass every filter by status.
An entity stays among them after it was parted from the others: past times are asked about, too.
"""

from collections.abc import Iterable, Sequence

from schemas.entity import entity_id
from schemas.reserved import SAME_AS, merges_of
from schemas.slot import Change, slot_id
from stores.ports import GraphStore

_MOST_SLOTS = 100_000
_MOST_MERGES = 256
"""Edges of an entity's merges that are followed, held ones first; of one entity there are seldom more than two."""


def merged_among(graph: GraphStore, bank: str, entities: Iterable[str]) -> set[str]:
    """Those of these entities that were ever merged into another one, or another one into them.

    A store gives the edges of merges before all others, so the strongest one of each entity tells.
    """
    asked = set(entities)
    if not asked or not graph.neighbours(bank, [merges_of(bank)], 1):
        return set()
    edges = graph.neighbours(bank, sorted(asked), 1)
    return asked & {end for edge in edges if edge.type == "same_as" for end in (edge.src, edge.dst)}


def slots_of_merges(graph: GraphStore, changes: Sequence[Change]) -> dict[str, set[str]]:
    """By bank, the slots of both entities of every merge that these changes may have brought or ended."""
    found: dict[str, set[str]] = {}
    for change in changes:
        if change.slot == slot_id(change.bank, change.entity, SAME_AS):
            id = entity_id(change.bank, change.entity)
            edges = graph.neighbours(change.bank, [id], _MOST_MERGES)
            for entity in {id, *(edge.dst for edge in edges if edge.type == "same_as" and edge.src == id)}:
                ids = graph.slots_of_entity(change.bank, entity, _MOST_SLOTS)
                found.setdefault(change.bank, set()).update(ids)
    return found
