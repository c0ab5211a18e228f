"""An entity: somebody or something that beliefs are about."""

from functools import lru_cache

import msgspec

from schemas.identity import digest, normal_name

DEFAULT_TYPE = "thing"


class Entity(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A name and a type; same name and different type stay two entities."""

    name: str
    type: str = DEFAULT_TYPE


@lru_cache(maxsize=65_536)
def entity_id(bank: str, entity: Entity) -> str:
    """Identity of an entity: bank, type and normalised name."""
    return "n" + digest(bank, normal_name(entity.type), normal_name(entity.name))


def entity_key(bank: str, entity: Entity) -> str:
    """The routing key of everything about an entity."""
    return f"{bank}/{entity_id(bank, entity)}"
