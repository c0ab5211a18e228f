"""An answer that is known to be true."""

import msgspec

from schemas.claim import Value
from schemas.entity import Entity
from schemas.instant import Instant


class Gold(msgspec.Struct, frozen=True):
    """The true value of an entity's attribute, at a time or now."""

    entity: Entity
    attribute: str
    value: Value
    as_of: Instant | None = None
