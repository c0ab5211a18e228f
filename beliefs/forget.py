"""What leaves a bank that is over its budget, in which order (design 10).

First compress, then demote, archive, and only then erase, the least valuable first. A plan is data; who carries it out
asks the shards, by slot and version. What is pinned and what holds a slot is never dropped: it may only be compressed,
which changes nothing that is believed.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from schemas.budget import MEASURES, Budget, Use, less
from schemas.plan import Action, BudgetCandidate, BudgetPlan, BudgetStep

HIGH = 0.95
"""The share of a bound above which there is something to do, so that the bound itself is not reached meanwhile."""
AIM = 0.85
"""The share of a bound down to which a plan goes, so that the next write is not over it again."""
FLOOR = 0.8
"""The share of the budget below which a plan does not go as long as there is another way."""


def plan(
    budget: Budget, use: Use, candidates: Sequence[BudgetCandidate], *, archive_room: int | None = None
) -> BudgetPlan:
    """Bring a bank that is near or over its budget to between 80 and 95 % of it; below that nothing is to do.

    `use` is the whole bank's. `archive_room` are the bytes that the archive takes, None: any, 0: there is none. What
    it does not take is erased where `budget.erase` allows that, else it stays.
    """
    draft = _Draft(budget, use)
    if not draft.over:
        return BudgetPlan(steps=(), before=use, after=use)
    ordered = sorted(candidates, key=lambda each: (each.value, each.slot))
    free = [each for each in ordered if not each.pinned and not each.holds]
    draft.take("compress", ordered, lambda each: Use(bytes=each.spare), floor=0.0)
    draft.take("demote", free, lambda each: each.demotion, floor=FLOOR)
    room = math.inf if archive_room is None else archive_room
    left = draft.drop(free, room, careful=True)
    if draft.exceeded():
        draft.drop(free, left, careful=False)
    return BudgetPlan(steps=draft.steps(), before=use, after=draft.use, notes=tuple(draft.notes(bool(free))))


def fullness(use: Use, budget: Budget) -> float:
    """The share of its bound that the fullest measure has; 0 without any bound."""
    return max(
        (_of(use, name) / bound for name in MEASURES if (bound := _bound(budget, name)) is not None), default=0.0
    )


class _Draft:
    """A plan in the making: what has been taken so far, by slot."""

    def __init__(self, budget: Budget, use: Use) -> None:
        self.use = use
        self._budget = budget
        self._taken: dict[str, list[BudgetStep]] = {}
        self.over = [name for name in MEASURES if _over(use, budget, name, HIGH)]
        self._kept_for_want_of_room = False

    def take(
        self,
        action: Action,
        candidates: Iterable[BudgetCandidate],
        frees: Callable[[BudgetCandidate], Use],
        *,
        floor: float,
    ) -> None:
        """Make slots smaller, the least valuable first, as far as it helps and is needed."""
        for each in candidates:
            freed = frees(each)
            if self._wants(freed, AIM, floor):
                self._note(action, each, freed)
                self.use = less(self.use, freed)

    def drop(self, candidates: Iterable[BudgetCandidate], room: float, *, careful: bool) -> float:
        """Archive slots while there is room, then erase if that is allowed; returns the room that is left."""
        for each in candidates:
            earlier = self._taken.get(each.slot, [])
            if any(step.action in ("archive", "erase") for step in earlier):
                continue
            rest = each.use
            for step in earlier:
                rest = less(rest, step.frees)
            if not (self._wants(rest, AIM, FLOOR) if careful else self._wants(rest, 1.0, 0.0)):
                continue
            fits = each.use.bytes <= room and room > 0
            if not fits and not self._budget.erase:
                self._kept_for_want_of_room = True
                continue
            room -= each.use.bytes if fits else 0
            self._taken.pop(each.slot, None)
            self._note("archive" if fits else "erase", each, each.use)
            self.use = less(self.use, rest)
        return room

    def exceeded(self) -> bool:
        """Whether a bound is still exceeded."""
        return fullness(self.use, self._budget) > 1.0

    def steps(self) -> tuple[BudgetStep, ...]:
        """What was taken, by action in the order of the design, the least valuable first."""
        order = ("compress", "demote", "archive", "erase")
        steps = [step for taken in self._taken.values() for step in taken]
        return tuple(sorted(steps, key=lambda step: (order.index(step.action), step.value, step.slot)))

    def notes(self, anything_free: bool) -> list[str]:
        """What could not be had."""
        share = fullness(self.use, self._budget)
        told = []
        if share > 1.0 and self._kept_for_want_of_room:
            told.append(
                f"use stays at {share:.0%} of the budget: the archive has no room, and the budget "
                "does not allow to erase"
            )
        elif share > 1.0:
            why = "what may be dropped is not enough" if anything_free else "nothing may be dropped"
            told.append(f"use stays at {share:.0%} of the budget: {why}; the rest is pinned or holds a slot")
        elif share < FLOOR:
            told.append(f"use falls to {share:.0%} of the budget: what could go was large")
        return told

    def _wants(self, freed: Use, aim: float, floor: float) -> bool:
        """Whether this would help where use is above the aim, and would not take the fullest measure below a floor."""
        needed = any(_of(freed, name) > 0 and _over(self.use, self._budget, name, aim) for name in self.over)
        return needed and fullness(less(self.use, freed), self._budget) >= floor

    def _note(self, action: Action, each: BudgetCandidate, frees: Use) -> None:
        step = BudgetStep(action=action, slot=each.slot, version=each.version, value=each.value, frees=frees)
        self._taken.setdefault(each.slot, []).append(step)


def _bound(budget: Budget, name: str) -> float | None:
    bound: float | None = getattr(budget, name)
    return bound


def _of(use: Use, name: str) -> float:
    amount: float = getattr(use, name)
    return amount


def _over(use: Use, budget: Budget, name: str, share: float) -> bool:
    bound = _bound(budget, name)
    return bound is not None and _of(use, name) > share * bound
