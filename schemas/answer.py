"""An answer: beliefs with their reasons, and the account of how they were found."""

from typing import Literal

import msgspec

from schemas.belief import Belief, Status
from schemas.claim import Kind, Stance
from schemas.evidence import Evidence
from schemas.instant import Instant

Report = Literal["ok", "late", "failed", "skipped"]


class Contribution(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of evidence and its term in the log-odds of a belief: factor * weight * reliability * decay.

    `log_odds` is signed: above zero for, below zero against, zero where it does not count (`note` says why).
    `step` is by how much it moved the confidence of an opinion, which has no log-odds.
    `outcomes` is the number of verified answers that `reliability` was learned from; 0: it was not learned. `voices` is
    how many voices the digest has that it is one of; 0: it has words of its own.
    """

    evidence: Evidence
    stance: Stance
    kind: Kind
    factor: float
    weight: float
    reliability: float
    decay: float
    half_life_days: float | None
    log_odds: float
    counted: bool
    note: str = ""
    outcomes: int = 0
    step: float = 0.0
    voices: int = 0


class Premise(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One belief beneath a conclusion: `of` is the belief that rests on it, `held` whether it carries that.

    `depth` is 1 for the premises of the belief itself. `status` is None, and nothing is said of it, where nobody knows
    such a belief or the asker may not see it.
    """

    id: str
    of: str
    depth: int
    held: bool
    status: Status | None = None
    statement: str = ""


class Explanation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every term of one belief's confidence at a moment, and what it was concluded from, step by step.

    `archived` pieces of its slot's evidence lie in the archive and are no terms; the job `restore` brings them back.
    """

    belief: Belief
    moment: Instant
    base: float
    support: float
    refutation: float
    confidence: float
    contributions: tuple[Contribution, ...]
    premises: tuple[Premise, ...] = ()
    archived: int = 0


NEWEST_TURNS = 200
"""So many turns of a slot are told where nobody asks for more."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step in a slot's history: what was believed from `at` on, and the evidence that changed it."""

    at: Instant
    beliefs: tuple[Belief, ...]
    evidence: tuple[Evidence, ...]


class History(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The turns of a slot, oldest first; `beliefs` is its state at the moment of asking.

    `earlier` says that there are turns before these; `next` is the place to go on from, if there are any after them.
    `archived` pieces of its evidence lie in the archive and are in no turn; the job `restore` brings them back.
    """

    slot: str
    turns: tuple[Turn, ...]
    beliefs: tuple[Belief, ...]
    earlier: bool = False
    next: str = ""
    archived: int = 0


class Found(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A belief in an answer: how surely it is held at the answer's moment, why, and how it was found."""

    belief: Belief
    confidence: float
    score: float
    scores: dict[str, float]
    evidence: tuple[Contribution, ...]
    rivals: tuple[Belief, ...] = ()
    premises: tuple[Premise, ...] = ()


class RetrieverReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one retriever did: how many hits, in how many milliseconds, and why not, if not."""

    name: str
    state: Report
    hits: int = 0
    milliseconds: float = 0.0
    note: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The beliefs found, best first, what was left out and why, and each retriever's report.

    `needs_fresh_look` are beliefs that fit but expired, or rest on what did, with nothing in their place: not current.
    `archived` says that some of the bank's evidence of the time asked about lies in the archive, where nothing stands
    for it; false unless a time was asked about. The job `restore` brings it back.
    """

    id: str
    bank: str
    question: str
    moment: Instant
    found: tuple[Found, ...]
    needs_fresh_look: tuple[Found, ...] = ()
    recent: tuple[Evidence, ...] = ()
    left_out: dict[str, int] = {}
    reports: tuple[RetrieverReport, ...] = ()
    tokens: int = 0
    archived: bool = False

    @property
    def degraded(self) -> bool:
        """Whether a retriever failed or was late, so that something may be missing."""
        return any(report.state in ("late", "failed") for report in self.reports)
