"""A caller's question turned into a query: defaults filled in, times read, names checked."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from beliefmesh.settings import RecallSettings
from schemas.entity import Entity
from schemas.errors import InvalidInput
from schemas.fields import read_entity, read_scope
from schemas.instant import Instant, parse_instant
from schemas.limits import MAX_NAME_BYTES, check_name, check_text
from schemas.query import Principal, Query

_TIMES = ("as_of", "known_at", "question_time", "occurred_from", "occurred_to")
_FIELDS = frozenset(Query.__struct_fields__) - {"bank", "text", "now"}
_PLACE = re.compile(r"(.*) - at `\$\.(.*)`", re.DOTALL)
"""How msgspec says what is wrong with a value, and where it stands."""


def query_of(text: str, bank: str, now: Instant, defaults: RecallSettings, fields: Mapping[str, object]) -> Query:
    """Build a query from what a caller wrote. Raises InvalidInput naming the field."""
    check_fields(fields)
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name in _TIMES:
        if name in given:
            given[name] = parse_instant(given[name], name)
    if "entity" in given:
        given["entity"] = entity_of(given["entity"])
    if "principal" in given:
        given["principal"] = principal_of(given["principal"])
    if isinstance(given.get("scope"), Mapping):
        given["scope"] = read_scope(given["scope"], "scope")
    started = {
        "bank": bank,
        "text": check_text(text, "text"),
        "now": now,
        "limit": defaults.limit,
        "deadline": defaults.deadline,
        "fusion": defaults.fusion,
        "min_confidence": defaults.min_confidence,
    }
    try:
        query = msgspec.convert({**started, **msgspec.to_builtins(given)}, Query)
    except msgspec.ValidationError as error:
        place = _PLACE.fullmatch(str(error))
        raise (InvalidInput(place[2], place[1]) if place else InvalidInput("query", str(error))) from error
    except (TypeError, OverflowError, UnicodeError) as error:
        raise InvalidInput("query", f"holds something that is not plain data ({error})") from error
    _check_names(query)
    return query


def check_fields(fields: Iterable[str]) -> None:
    """Refuse what is not a field of a query; the bank, the text and the time of asking do not stand among them."""
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        raise InvalidInput(f"{unknown[0]:.80}", f"is not a field of a query; known are {', '.join(sorted(_FIELDS))}")


def _check_names(query: Query) -> None:
    """Refuse names that no store can look up, wherever they stand."""
    check_text(query.session, "session", limit=MAX_NAME_BYTES)
    if query.attribute is not None:
        check_name(query.attribute, "attribute")
    if query.entity is not None:
        check_name(query.entity.name, "entity")
        check_name(query.entity.type, "entity.type")
    for pair in query.scope:
        for part in pair:
            check_text(part, "scope", limit=MAX_NAME_BYTES)


def principal_of(asked: Principal | str | Mapping[str, object] | None) -> Principal:
    """A principal by name, or as given; nobody in particular when there is none."""
    match asked:
        case None | "":
            return Principal()
        case Principal():
            principal = asked
        case str():
            principal = Principal(check_text(asked, "principal"))
        case _:
            try:
                principal = msgspec.convert(asked, Principal)
            except (msgspec.ValidationError, TypeError) as error:
                raise InvalidInput("principal", str(error)) from error
    for name in (principal.id, *principal.groups):
        check_text(name, "principal", limit=MAX_NAME_BYTES)
    return principal


def entity_of(asked: object) -> Entity:
    """An entity by name, as a mapping, or as given."""
    if isinstance(asked, Entity):
        return asked
    entity: Entity = read_entity(asked, "entity")
    return entity


def slot_name(entity: object, attribute: str | None) -> tuple[Entity, str]:
    """The slot that a caller names by entity and attribute."""
    if entity is None or attribute is None:
        raise InvalidInput("slot", "name it by the id of a belief or slot, or by entity and attribute together")
    return entity_of(entity), check_name(attribute, "attribute")
