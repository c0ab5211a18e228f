"""A belief: the conclusion that evidence speaks for or against; what is stored of it is a view."""

from typing import Literal

import msgspec

from schemas.claim import EVERYWHERE, Kind, Network, Scope, Tier, Value, ValueType
from schemas.entity import Entity
from schemas.instant import Instant

Status = Literal["active", "contested", "revoked", "stale", "archived"]
Reason = Literal["", "superseded", "outweighed", "refuted", "retracted", "expired", "decayed", "overruled", "unfounded"]

LIVE: tuple[Status, ...] = ("active", "contested")


class Mass(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Evidence of one half-life class, summed as of a time; its share at t is amount * 2 ** (-(t - as_of) / half_life).

    `half_life` in microseconds, None for what does not decay. `until` ends the whole mass.
    """

    amount: float
    as_of: Instant
    half_life: int | None = None
    until: Instant | None = None


class Belief(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """(entity, attribute, scope, value) with its masses for and against, and its status as of a time.

    `first_support` and `newest_support` are effective times over counted evidence. `exceptions` are the
    narrower scopes that other beliefs hold now. `by` names the belief (or evidence) that revoked this one.
    `opinion` is the confidence of an opinion, from 0 to 1, folded from its evidence; None for any other belief.
    """

    id: str
    bank: str
    slot: str
    entity: Entity
    statement: str
    status: Status
    attribute: str | None = None
    value: Value | None = None
    value_type: ValueType = "text"
    scope: Scope = EVERYWHERE
    kind: Kind = "observation"
    network: Network = "world"
    tier: Tier = "medium"
    reason: Reason = ""
    by: str = ""
    support: tuple[Mass, ...] = ()
    refutation: tuple[Mass, ...] = ()
    first_support: Instant | None = None
    newest_support: Instant | None = None
    valid_until: Instant | None = None
    occurred_start: Instant | None = None
    occurred_end: Instant | None = None
    exceptions: tuple[Scope, ...] = ()
    rivals: tuple[str, ...] = ()
    supports: int = 0
    refutes: int = 0
    pinned: bool = False
    opinion: float | None = None
    version: int = 0
