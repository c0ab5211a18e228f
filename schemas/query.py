"""A query: who asks what, of which bank, as of when, and how much may come back."""

from typing import Literal

import msgspec

from schemas.belief import LIVE, Status
from schemas.claim import EVERYWHERE, Network, Scope
from schemas.entity import Entity
from schemas.instant import Instant

Fusion = Literal["zscore", "rrf"]
RETRIEVERS = ("semantic", "keyword", "spread", "temporal")


class Principal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who asks, and the groups that they belong to; an empty id sees what the whole bank sees."""

    id: str = ""
    groups: tuple[str, ...] = ()


class Query(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question to a bank.

    `now` is the time of asking. `as_of` asks what held at a time (effective times up to it), `known_at` what
    the mesh believed at a time (ingested up to it). `question_time` is what "yesterday" is relative to.
    `recent` adds the last n turns of `session`. `deadline` in seconds for each retriever.
    """

    bank: str
    text: str
    now: Instant
    principal: Principal = Principal()
    limit: int = 10
    min_confidence: float = 0.0
    statuses: tuple[Status, ...] = LIVE
    networks: tuple[Network, ...] = ()
    entity: Entity | None = None
    attribute: str | None = None
    scope: Scope = EVERYWHERE
    as_of: Instant | None = None
    known_at: Instant | None = None
    question_time: Instant | None = None
    occurred_from: Instant | None = None
    occurred_to: Instant | None = None
    max_tokens: int | None = None
    session: str = ""
    recent: int = 0
    retrievers: tuple[str, ...] = RETRIEVERS
    fusion: Fusion = "zscore"
    deadline: float = 2.0

    @property
    def moment(self) -> Instant:
        """The time at which beliefs are judged."""
        return self.now if self.as_of is None else self.as_of
