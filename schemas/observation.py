"""An observation: one message from an agent or a source, as it arrived; never changed, never lost."""

from typing import Literal

import msgspec

from schemas.claim import Claim, Kind, Network, Tier
from schemas.entity import Entity
from schemas.instant import Instant

Visibility = Literal["private", "group", "bank"]
SourceType = Literal["dialogue", "document", "ticket", "log", "tool", "feedback", "recall", "other"]


class Source(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Where an observation comes from; `origin` names who speaks, so that one voice counts once."""

    id: str
    origin: str = ""
    type: SourceType = "other"


class Observation(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What an agent or source says, with who, when, for whom to see, and the claims it states itself.

    `observed_at` is when the source recorded it; `effective_at` the date from which it says it holds,
    if it names one. `turn` orders observations within a session.
    """

    id: str
    bank: str
    source: Source
    observed_at: Instant
    agent: str = ""
    text: str = ""
    claims: tuple[Claim, ...] = ()
    entity: Entity | None = None
    session: str = ""
    turn: int | None = None
    kind: Kind | None = None
    network: Network | None = None
    tier: Tier | None = None
    weight: float = 1.0
    pinned: bool = False
    effective_at: Instant | None = None
    valid_until: Instant | None = None
    occurred_start: Instant | None = None
    occurred_end: Instant | None = None
    owner: str = ""
    visibility: Visibility = "bank"
    readers: tuple[str, ...] = ()
    metadata: dict[str, str] = {}


def observation_key(observation: Observation) -> str:
    """The routing key: bank and source session, or bank and subject entity where one is given."""
    if observation.entity is not None:
        return f"{observation.bank}/{observation.entity.type}/{observation.entity.name}"
    return f"{observation.bank}/{observation.session or observation.source.id}"
