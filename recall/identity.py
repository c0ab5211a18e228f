"""Who is the same as whom in one principal's sight, and the slots of a group of entities read as one.

Nothing is joined in the store: each entity keeps its own slots and evidence, so that to part them again needs no
undoing. A bank in which nothing was ever merged pays one look at the graph for a question.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from beliefs.resolve import resolve
from beliefs.sameness import Group, Link, as_one, groups_of, link_of
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.reserved import SAME_AS, is_same_as, merges_of
from schemas.slot import APART, Slot, StoredSlot, slot_of
from stores.ports import GraphStore

_FIRST_REACH = 32
"""Edges of an entity that are read at first; a store gives those of merges before all others."""

Allowed = Callable[[Iterable[Evidence]], list[Evidence]]
Supposed = Mapping[str, Link | None]
"""Links by entity id that are taken for granted, or (None) left out, whatever the evidence says: for previews."""

NOTHING_SUPPOSED: Supposed = {}


class Identity:
    """The groups of a bank's entities as one principal may see them at one moment. For one thread."""

    def __init__(
        self,
        graph: GraphStore,
        bank: str,
        policy: Policy,
        moment: Instant,
        allowed: Allowed,
        supposed: Supposed = NOTHING_SUPPOSED,
    ) -> None:
        self._graph = graph
        self._bank = bank
        self._policy = policy
        self._moment = moment
        self._allowed = allowed
        self._supposed = supposed
        self._any: bool | None = None
        self._explored: set[str] = set()
        self._links: dict[str, Link | None] = {}
        self._groups: dict[str, Group] = {}

    def any(self) -> bool:
        """Whether anything was ever merged in the bank."""
        if self._any is None:
            self._any = bool(self._supposed) or bool(self._graph.neighbours(self._bank, [merges_of(self._bank)], 1))
        return self._any

    def groups(self, ids: Iterable[str]) -> dict[str, Group]:
        """The groups of those of these entities that are in one, by entity id."""
        asked = list(ids)
        if not self.any():
            return {}
        self._explore(asked)
        return {id: self._groups[id] for id in asked if id in self._groups}

    def link(self, id: str) -> Link | None:
        """The merge of one entity into another that holds."""
        if self.any():
            self._explore([id])
        return self._links.get(id)

    def members(self, ids: Iterable[str]) -> list[str]:
        """These entities and all that are the same as any of them, each once."""
        asked = list(dict.fromkeys(ids))
        groups = self.groups(asked)
        return list(dict.fromkeys(other for id in asked for other in (id, *_members(groups.get(id)))))

    def everyone(self) -> dict[str, Group]:
        """Every group of the bank, by the id of each of its entities."""
        if self.any():
            root = merges_of(self._bank)
            merged = {edge.dst for edge in self._merge_edges([root]) if edge.src == root}
            self._explore(sorted(merged | self._supposed.keys()))
        return dict(self._groups)

    def slots(self, ids: Sequence[str]) -> dict[str, StoredSlot]:
        """The slots that exist; one of an entity in a group with the evidence of all its entities, told of one."""
        stored = self._graph.load_slots(self._bank, ids)
        if not stored or not self.any():
            return stored
        return self.joined(stored)

    def joined(self, stored: Mapping[str, StoredSlot]) -> dict[str, StoredSlot]:
        """The same slots, each joined with those of the same attribute of all entities of its group."""
        owners = {id: entity_id(self._bank, slot.slot.entity) for id, slot in stored.items()}
        groups = self.groups(dict.fromkeys(owners.values()))
        mates = {
            id: mates_of(groups[owners[id]], slot)
            for id, slot in stored.items()
            if owners[id] in groups and slot.evidence and not is_same_as(slot.slot.attribute)
        }
        missing = {mate for some in mates.values() for mate in some} - stored.keys()
        known = dict(stored) | (self._graph.load_slots(self._bank, sorted(missing)) if missing else {})
        return {
            id: _union(groups[owners[id]].canonical, [known[mate] for mate in mates[id] if mate in known])
            if id in mates
            else slot
            for id, slot in stored.items()
        }

    def places(self, entity: Entity, attribute: str) -> list[str]:
        """Ids of the slots in which an attribute of an entity and of its group may stand, those of facts first."""
        members = self.members([entity_id(self._bank, entity)])
        return [slot_of(member, attribute, network=one) for one in ("world", *APART) for member in members]

    def _explore(self, ids: Iterable[str]) -> None:
        """Follow merges, held and former, from these entities to all that they lead to, and group what holds."""
        frontier = set(ids) - self._explored
        fresh = False
        while frontier:
            self._explored |= frontier
            edges = self._merge_edges(sorted(frontier))
            root = merges_of(self._bank)
            sources = {edge.src for edge in edges} - {root}
            self._read((sources | (frontier & self._supposed.keys())) - self._links.keys())
            fresh = fresh or bool(sources) or bool(frontier & self._supposed.keys())
            ends = {end for edge in edges for end in (edge.src, edge.dst)} | self._supposed_ends(frontier)
            frontier = ends - self._explored - {root}
        if fresh:
            self._groups = groups_of(self._bank, [link for link in self._links.values() if link is not None])

    def _supposed_ends(self, frontier: set[str]) -> set[str]:
        """Both ends of what is supposed of any of these entities."""
        ends: set[str] = set()
        for id, link in self._supposed.items():
            if link is not None:
                both = {id, entity_id(self._bank, link.into)}
                ends |= both if both & frontier else set()
        return ends

    def _merge_edges(self, nodes: Sequence[str]) -> list[Edge]:
        """All edges of merges of these nodes; a node that may have more than were read is asked again."""
        found: list[Edge] = []
        limit = _FIRST_REACH
        while nodes:
            edges = [edge for edge in self._graph.neighbours(self._bank, nodes, limit) if edge.type == "same_as"]
            found += edges
            count: dict[str, int] = {}
            for edge in edges:
                for end in (edge.src, edge.dst):
                    count[end] = count.get(end, 0) + 1
            nodes = [node for node in nodes if count.get(node, 0) >= limit]
            limit *= 32
        return found

    def _read(self, entities: set[str]) -> None:
        """Decide the merges of these entities from what may be seen of them."""
        places = {slot_of(id, SAME_AS): id for id in entities if id not in self._supposed}
        self._links.update({id: self._supposed[id] for id in entities if id in self._supposed})
        stored = self._graph.load_slots(self._bank, sorted(places)) if places else {}
        for place, id in places.items():
            pieces = self._allowed(stored[place].evidence) if place in stored else []
            self._links[id] = link_of(resolve(pieces, self._policy, self._moment)) if pieces else None


def _members(group: Group | None) -> tuple[str, ...]:
    return () if group is None else group.members


def mates_of(group: Group, stored: StoredSlot) -> list[str]:
    """Ids of the slots of a group's entities that stand for one attribute, or for one free statement."""
    first = stored.evidence[0]
    attribute = stored.slot.attribute
    return [slot_of(member, attribute, first.statement, first.network) for member in group.members]


def _union(canonical: Entity, parts: Sequence[StoredSlot]) -> StoredSlot:
    """Slots as one: all their evidence as the canonical entity's, the beliefs that the store knows, versions summed."""
    evidence = as_one((piece for part in parts for piece in part.evidence), canonical)
    slot: Slot = msgspec.structs.replace(
        parts[0].slot,
        id=evidence[0].slot,
        entity=canonical,
        beliefs=tuple(belief for part in parts for belief in part.slot.beliefs),
        version=sum(part.slot.version for part in parts),
    )
    return StoredSlot(slot, evidence)
