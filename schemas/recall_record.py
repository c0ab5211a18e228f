"""A line of the recall log: what was asked and what was answered, so that a wrong answer can be traced."""

from typing import Literal

import msgspec

from schemas.instant import Instant
from schemas.query import Principal

Usefulness = Literal["right", "wrong", "used"]
"""How a recalled belief did, as an agent says."""


class UsedBelief(msgspec.Struct, frozen=True):
    """A belief as it was given: version, status, confidence, and the evidence behind it."""

    id: str
    version: int
    status: str
    confidence: float
    evidence: tuple[str, ...]


class RecallRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One recall."""

    id: str
    bank: str
    question: str
    principal: Principal
    at: Instant
    moment: Instant
    beliefs: tuple[UsedBelief, ...] = ()
    left_out: dict[str, int] = {}
    degraded: tuple[str, ...] = ()


class Feedback(msgspec.Struct, frozen=True):
    """What an agent says became of a recalled belief."""

    bank: str
    belief: str
    version: int
    verdict: Usefulness
    agent: str
    at: Instant
