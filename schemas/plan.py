"""What leaves a bank that is over its budget: what is weighed, each step, and the whole plan."""

from typing import Literal

import msgspec

from schemas.budget import Use

Action = Literal["compress", "demote", "archive", "erase"]

NOTHING = Use()


class BudgetCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A slot that may be made smaller or leave: what it is worth, what it takes, and what is in the way.

    A slot goes as a whole, since its beliefs weigh on each other. `spare` are the bytes of its spent evidence
    (beliefs/compaction.py); `demotion` is what leaving the vectors would free. `holds` says that some value holds it.
    """

    slot: str
    value: float
    use: Use
    version: int = 0
    spare: int = 0
    demotion: Use = NOTHING
    pinned: bool = False
    holds: bool = False


class BudgetStep(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do to a slot at a version, and what that frees."""

    action: Action
    slot: str
    version: int
    value: float
    frees: Use


class BudgetPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do, in this order; use before and after it. `notes` say plainly what could not be had."""

    steps: tuple[BudgetStep, ...]
    before: Use
    after: Use
    notes: tuple[str, ...] = ()
