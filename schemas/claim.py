"""A claim: what an observation says about one entity, before it is kept as evidence."""

from typing import Literal

import msgspec

from schemas.entity import Entity
from schemas.instant import Instant

Value = str | int | float | bool
Scope = tuple[tuple[str, str], ...]
"""Qualifiers (name, value), sorted by name; empty means everywhere."""

Stance = Literal["supports", "refutes", "retracts"]
Kind = Literal["instruction", "observation", "derivation"]
Network = Literal["world", "experience", "opinion", "observation"]
Tier = Literal["low", "medium", "high"]
ValueType = Literal["text", "number", "money", "date", "time", "version", "boolean", "enum", "name", "code"]

EVERYWHERE: Scope = ()


class Claim(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Entity, attribute, value, scope and stance; without an attribute it is a free claim.

    A free claim carries its text in `statement`. `value` is None for a free claim, and for a
    retraction that ends every value of its scope. `None` elsewhere means: as the observation says.
    """

    entity: Entity
    attribute: str | None = None
    value: Value | None = None
    value_type: ValueType | None = None
    scope: Scope = EVERYWHERE
    stance: Stance = "supports"
    statement: str = ""
    kind: Kind | None = None
    network: Network | None = None
    tier: Tier | None = None
    weight: float | None = None
    effective_at: Instant | None = None
    valid_until: Instant | None = None
    occurred_start: Instant | None = None
    occurred_end: Instant | None = None
    mentions: tuple[Entity, ...] = ()
    premises: tuple[str, ...] = ()
    extractor: str = "structured"


def scope_of(qualifiers: dict[str, str]) -> Scope:
    """The canonical scope of a set of qualifiers."""
    return tuple(sorted(qualifiers.items()))
