"""The attributes that the mesh reads itself: who is the same as whom, and by which names an entity is found."""

from functools import lru_cache

from schemas.claim import Claim, Value
from schemas.entity import Entity, entity_id
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.identity import digest, normal_name
from schemas.limits import check_name, shown

SAME_AS = "same_as"
"""Its value names the entity that this one is merged into, as `entity_value` writes it; instructions alone merge."""

ALIAS = "alias"
"""Each of its values is a further name of the entity."""

ALIAS_TYPE = "alias"
"""The type under which an alias itself is listed among the entities, so that a name leads to it."""

_SLASH, _ESCAPED = "/", "%2F"


@lru_cache(maxsize=16_384)
def is_same_as(attribute: str | None) -> bool:
    """Whether an attribute, however it is spelled, says who an entity is the same as."""
    return attribute is not None and normal_name(attribute) == SAME_AS


@lru_cache(maxsize=16_384)
def is_alias(attribute: str | None) -> bool:
    """Whether an attribute, however it is spelled, says by which further name an entity is known."""
    return attribute is not None and normal_name(attribute) == ALIAS


def entity_value(entity: Entity) -> str:
    """An entity as the value of a claim: type/name, a slash of the type written as %2F."""
    return f"{entity.type.replace(_SLASH, _ESCAPED)}{_SLASH}{entity.name}"


def entity_named(value: Value | None) -> Entity | None:
    """The entity that a value names as `entity_value` writes it; None where it names none."""
    if not isinstance(value, str):
        return None
    type, slash, name = value.partition(_SLASH)
    if not slash or not type.strip() or not name.strip():
        return None
    return Entity(name, type.replace(_ESCAPED, _SLASH))


def merges_of(bank: str) -> str:
    """The node that leads to every entity of a bank that was ever merged; a bank without merges has none."""
    return "n" + digest(bank, SAME_AS)


def check_reserved(said: Claim | Evidence, path: str) -> None:
    """Refuse a claim that gives a reserved attribute what it cannot mean. Raises InvalidInput by field."""
    if is_same_as(said.attribute):
        _check_same_as(said, path)
    elif is_alias(said.attribute) and said.value is not None:
        if not isinstance(said.value, str):
            raise InvalidInput(f"{path}value", f"is {shown(said.value)}; an alias is a name, so write text")
        check_name(said.value, f"{path}value")


def _check_same_as(said: Claim | Evidence, path: str) -> None:
    if said.scope:
        raise InvalidInput(f"{path}scope", "does not apply to same_as: an entity is the same everywhere or nowhere")
    if said.value is None:
        return
    named = entity_named(said.value)
    if named is None:
        raise InvalidInput(
            f"{path}value", f"is {shown(said.value)}; same_as names an entity as 'type/name', such as 'person/Bob'"
        )
    check_name(named.name, f"{path}value")
    check_name(named.type, f"{path}value")
    if entity_id("", named) == entity_id("", said.entity):
        raise InvalidInput(f"{path}value", f"is {shown(said.value)} itself; an entity is merged into another one")
