"""The entities of a bank as one principal may see them: by name and alias, with what each is the same as."""

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from recall.seen import Seen, SeenSlot
from schemas.belief import LIVE
from schemas.entity import DEFAULT_TYPE, Entity, entity_id
from schemas.identity import normal_name
from schemas.reserved import ALIAS, ALIAS_TYPE, is_alias, is_same_as

_REACH = 256
"""How many edges of a name, and how many slots of an entity, are looked at to find out whether it may be seen."""

_PAGE = 100
_FEW = 8

Named = tuple[str, Entity]
"""An entity with its id."""


class Listed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entity: its further names, the canonical one of its group, and the others of the group."""

    id: str
    entity: Entity
    canonical: Entity
    aliases: tuple[str, ...] = ()
    same_as: tuple[Entity, ...] = ()


def known_by(seen: Seen, name: str) -> list[Named]:
    """The entities that bear a name, then those that it is an alias of, each once and only where they may be seen."""
    found = seen.graph.entities(seen.sight.bank, [name])
    own = [named for named in found if named[1].type != ALIAS_TYPE and is_visible(seen, named[0])]
    return list(dict(own + bearers(seen, found)).items())


def bearers(seen: Seen, found: Iterable[Named]) -> list[Named]:
    """The entities of which the aliases among these are a further name."""
    bank = seen.sight.bank
    names = {id: normal_name(entity.name) for id, entity in found if entity.type == ALIAS_TYPE}
    if not names:
        return []
    edges = [edge for edge in seen.graph.neighbours(bank, sorted(names), _REACH) if edge.type == "mentions"]
    beliefs = seen.graph.beliefs(bank, sorted({edge.dst for edge in edges if edge.src in names}))
    slots = seen.slots(belief.slot for belief in beliefs.values() if is_alias(belief.attribute))
    asked = set(names.values())
    owners = [slot.slot.entity for slot in slots.values() if asked & {normal_name(name) for name in _live(slot)}]
    return [(entity_id(bank, entity), entity) for entity in dict.fromkeys(owners)]


def asked_about(seen: Seen, entity: Entity) -> list[str]:
    """Ids of the entity that a query names, of those that bear its names, and of all that are the same as any."""
    bank = seen.sight.bank
    namesakes = bearers(seen, seen.graph.entities(bank, [entity.name]))
    wanted = [id for id, other in namesakes if entity.type in (other.type, DEFAULT_TYPE)]
    names = aliases_of(seen, entity)
    called = seen.graph.entities(bank, names) if names else []
    wanted += [id for id, other in called if other.type in (entity.type, DEFAULT_TYPE)]
    return seen.identity.members([entity_id(bank, entity), *wanted])


def aliases_of(seen: Seen, entity: Entity) -> tuple[str, ...]:
    """The further names of an entity and of those that it is the same as, sorted."""
    slots = seen.slots(seen.identity.places(entity, ALIAS))
    return tuple(sorted({name for slot in slots.values() for name in _live(slot)}))


def is_visible(seen: Seen, id: str) -> bool:
    """Whether anything is said of an entity, or mentions it, that the principal may see."""
    bank = seen.sight.bank
    if any(not is_same_as(slot.slot.attribute) for slot in seen.slots(_slots_of(seen, id)).values()):
        return True
    edges = seen.graph.neighbours(bank, [id], _REACH)
    mentioning = seen.graph.beliefs(bank, [edge.dst for edge in edges if edge.type == "mentions" and edge.src == id])
    slots = seen.slots(belief.slot for belief in mentioning.values() if not is_same_as(belief.attribute))
    return any(
        entity_id(bank, other) == id
        for slot in slots.values()
        for piece in slot.evidence
        for other in (piece.entity, *piece.mentions)
    )


def listed(seen: Seen, entity: Entity) -> Listed:
    """An entity with its aliases and its group."""
    id = entity_id(seen.sight.bank, entity)
    group = seen.identity.groups([id]).get(id)
    if group is None:
        return Listed(id, entity, entity, aliases_of(seen, entity))
    others = tuple(other for other, member in zip(group.entities, group.members, strict=True) if member != id)
    return Listed(id, entity, group.canonical, aliases_of(seen, entity), others)


def everybody(seen: Seen, limit: int, after: str = "") -> list[Named]:
    """The first `limit` entities whose ids are greater than `after` and of which something may be seen, in order."""
    return list(islice(_shown_after(seen, after), limit))


def _shown_after(seen: Seen, after: str) -> Iterator[Named]:
    bank = seen.sight.bank
    while page := seen.graph.scan_entities(bank, after, _PAGE):
        yield from (named for named in page if named[1].type != ALIAS_TYPE and _is_shown(seen, named[0]))
        after = page[-1][0]


def _is_shown(seen: Seen, id: str) -> bool:
    """As `is_visible`, at first by a look at what is said of it alone, a few slots at a time."""
    bank, ids = seen.sight.bank, _slots_of(seen, id)
    for start in range(0, len(ids), _FEW):
        stored = seen.graph.load_slots(bank, ids[start : start + _FEW])
        if any(not is_same_as(slot.slot.attribute) and seen.sight.allowed(slot.evidence) for slot in stored.values()):
            return True
    return is_visible(seen, id)


def _slots_of(seen: Seen, id: str) -> list[str]:
    return seen.graph.slots_of_entity(seen.sight.bank, id, _REACH)


def _live(slot: SeenSlot) -> list[str]:
    """The names that an alias slot holds."""
    return [str(belief.value) for belief in slot.slot.beliefs if belief.status in LIVE]
