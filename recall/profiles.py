"""What a principal may know of every entity of a bank, gathered to find those that may be one."""

from collections.abc import Iterable, Iterator

from beliefs.likeness import Fact, Profile
from beliefs.rulebook import Rulebook, rulebook
from recall.seen import Seen, SeenSlot
from schemas.belief import LIVE
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.identity import normal_name
from schemas.reserved import ALIAS_TYPE, is_alias, is_same_as

_PAGE = 500
_MOST_FACTS = 64
_MOST_SESSIONS = 64


class _Gathered:
    """One entity's profile while slots are read."""

    def __init__(self, entity: Entity) -> None:
        self.entity = entity
        self.aliases: set[str] = set()
        self.facts: set[Fact] = set()
        self.single: set[str] = set()
        self.sessions: set[str] = set()
        self.met: set[str] = set()


def profiles_of(seen: Seen) -> list[Profile]:
    """A profile of every entity that something is told of; those that are one already have one together."""
    found: dict[str, _Gathered] = {}
    together: dict[str, set[str]] = {}
    book = rulebook(seen.policy)
    for slot in _slots(seen):
        entity = slot.slot.entity
        id = entity_id(seen.sight.bank, entity)
        _add(found.setdefault(id, _Gathered(entity)), slot, book)
        for piece in slot.evidence:
            together.setdefault(piece.observation_id, set()).update(_named(seen, id, piece))
    for ids in together.values():
        for id in ids if len(ids) > 1 else ():
            if id in found:
                found[id].met |= ids - {id}
    return [_profile(id, one) for id, one in sorted(found.items())]


def _slots(seen: Seen) -> Iterator[SeenSlot]:
    after = ""
    met: set[str] = set()
    while page := seen.graph.scan(seen.sight.bank, after, _PAGE):
        for slot in seen.slots(page).values():
            if slot.slot.id not in met and not is_same_as(slot.slot.attribute):
                met.add(slot.slot.id)
                yield slot
        after = page[-1]


def _add(one: _Gathered, slot: SeenSlot, book: Rulebook) -> None:
    attribute = slot.slot.attribute
    if len(one.sessions) < _MOST_SESSIONS:
        one.sessions |= {piece.session for piece in slot.evidence if piece.session}
    held = [belief for belief in slot.slot.beliefs if belief.status in (*LIVE, "stale")]
    if is_alias(attribute):
        one.aliases |= {str(belief.value) for belief in held}
    elif attribute is not None and len(one.facts) < _MOST_FACTS:
        name = normal_name(attribute)
        one.facts |= {
            (name, book.normal_value(attribute, belief.value, belief.value_type)[1])
            for belief in held
            if belief.value is not None
        }
        if book.rule(attribute).cardinality != "many":
            one.single.add(name)


def _named(seen: Seen, id: str, piece: Evidence) -> Iterable[str]:
    """Whom a piece of evidence names; an alias that it tells is not somebody else."""
    others = (entity for entity in piece.mentions if entity.type != ALIAS_TYPE)
    return {id, *(entity_id(seen.sight.bank, entity) for entity in others)}


def _profile(id: str, one: _Gathered) -> Profile:
    return Profile(
        id=id,
        entity=one.entity,
        aliases=tuple(sorted(one.aliases)),
        facts=frozenset(one.facts),
        single=frozenset(one.single),
        sessions=frozenset(one.sessions),
        met=frozenset(one.met),
    )
