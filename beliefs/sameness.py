"""Which entities are one: what merges hold, the groups they make, and what joining slots does to the ids of beliefs.

An entity is merged into at most one other: its `same_as` slot is decided like any other, so the newest instruction
holds, until it is retracted. Followed from entity to entity, these links make groups. The canonical entity of a group
is the end of its chains; where they run in a circle, the smallest id on the circle. All of it depends on the set of
links alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

import msgspec

from beliefs.resolve import judged
from schemas.belief import LIVE, Belief
from schemas.claim import EVERYWHERE
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.reserved import entity_named
from schemas.slot import Slot, belief_id

_NEWEST = attrgetter("newest_support", "id")


class Link(msgspec.Struct, frozen=True):
    """One merge that holds: an entity, and the one that it is merged into."""

    entity: Entity
    into: Entity


class Group(msgspec.Struct, frozen=True):
    """Entities that are one: the canonical one, the ids of all, sorted, and the entities in that order."""

    canonical: Entity
    members: tuple[str, ...]
    entities: tuple[Entity, ...]


def merge_in(slot: Slot) -> Belief | None:
    """The merge that a `same_as` slot holds; sightings do not merge, nor does what holds in a scope only."""
    held = [belief for belief in slot.beliefs if belief.status in LIVE and _instructs(belief)]
    return max(held, key=_NEWEST, default=None)


def link_of(slot: Slot) -> Link | None:
    """The link that a `same_as` slot makes, if it holds one to another entity."""
    held = merge_in(slot)
    into = None if held is None else entity_named(held.value)
    if into is None or entity_id("", into) == entity_id("", slot.entity):
        return None
    return Link(slot.entity, into)


def groups_of(bank: str, links: Iterable[Link]) -> dict[str, Group]:
    """The group of every entity that a link touches, by the entity's id. At most one link an entity goes out."""
    names: dict[str, Entity] = {}
    into: dict[str, str] = {}
    for link in links:
        start, end = entity_id(bank, link.entity), entity_id(bank, link.into)
        into[start] = end
        for id, entity in ((start, link.entity), (end, link.into)):
            names[id] = min(names.get(id, entity), entity, key=_spelling)
    ends = {id: _end(id, into) for id in names}
    members: dict[str, list[str]] = {}
    for id in sorted(ends):
        members.setdefault(ends[id], []).append(id)
    made = {end: Group(names[end], tuple(some), tuple(names[id] for id in some)) for end, some in members.items()}
    return {id: made[end] for id, end in ends.items()}


def several_slots(evidence: Sequence[Evidence]) -> bool:
    """Whether evidence is of several entities' slots, which a group has joined."""
    first = evidence[0].slot
    return any(piece.slot != first for piece in evidence)


def leads_of(evidence: Sequence[Evidence], policy: Policy, now: Instant) -> dict[str, str]:
    """By each id that a slot of its own gives a belief: the id that bears its value where the slots are joined.

    A joined belief has the id that the slot of its oldest word gives it; so it is an id that a store knows, and stays
    one when the entities part again.
    """
    hearing, found = judged(evidence, policy, now)
    ids = {(candidate.scope, candidate.value_key): candidate.id for candidate in found.values()}
    leads: dict[str, str] = {}
    for voice in hearing.voices:
        piece = voice.evidence
        now_id = ids.get((piece.scope, voice.value_key))
        if now_id is not None:
            for key in {voice.value_key, voice.own_key or voice.value_key}:
                leads[belief_id(piece.slot, piece.scope, key)] = now_id
    return leads


def as_one(evidence: Iterable[Evidence], canonical: Entity) -> tuple[Evidence, ...]:
    """The evidence of several entities as that of the canonical one, in id order."""
    told = [
        piece if piece.entity == canonical else msgspec.structs.replace(piece, entity=canonical) for piece in evidence
    ]
    return tuple(sorted(told, key=attrgetter("id")))


def _instructs(belief: Belief) -> bool:
    return belief.kind == "instruction" and belief.scope == EVERYWHERE and belief.newest_support is not None


def _end(id: str, into: Mapping[str, str]) -> str:
    """Where the chain from an entity ends; on a circle, at the smallest id of the circle."""
    met: dict[str, int] = {}
    while id not in met:
        if id not in into:
            return id
        met[id] = len(met)
        id = into[id]
    circle = [other for other, place in met.items() if place >= met[id]]
    return min(circle)


def _spelling(entity: Entity) -> tuple[str, str]:
    return (entity.name, entity.type)
