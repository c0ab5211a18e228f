"""Sees to it that banks stay within their budgets while evidence comes in: portions that fit, and room between them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from threading import Lock

import msgspec
import structlog

from actors.mesh import Applied, Batches, Mesh
from beliefs.forget import HIGH, fullness
from jobs.budget import is_bounded
from schemas.budget import MEASURES, Budget, Use, added
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.slot import Change
from schemas.wire import dump
from stores.ports import GraphStore

_CLOSE = 0.01
"""Room is made when less than this share of a bound is left."""
_STEP = 0.05
"""Where no room is to be had, it is sought again when the bank has grown by this share of a bound."""
_PATIENCE_SECONDS = 30.0
_UNMEASURED = Use(beliefs=1, bytes=1_000, importance=4.0)
"""What a piece of evidence is taken to bring as long as nothing is known of the bank."""

log_events = structlog.get_logger("jobs")


class Level(msgspec.Struct):
    """How full a bank is taken to be: `each` is what a belief takes on average; `sought` where no room was found."""

    use: Use
    each: Use
    sought: float = 0.0

    def fits(self, budget: Budget, share: float = 1.0) -> int:
        """How many pieces can come until use reaches a share of a bound, if each brings a belief."""
        rooms = [
            (bound * share - getattr(self.use, name)) / getattr(self.each, name)
            for name in MEASURES
            if (bound := getattr(budget, name)) is not None
        ]
        return max(0, int(min(rooms)))

    def pieces(self, budget: Budget, share: float) -> int:
        """How many pieces make up a share of the tightest bound; at least one."""
        return max(1, Level(Use(), self.each).fits(budget, share))

    def is_tight(self, budget: Budget) -> bool:
        """Whether room should be made before more comes in."""
        return self.fits(budget) < self.pieces(budget, _CLOSE) and fullness(self.use, budget) >= self.sought


class Keeper:
    """Admits evidence of banks that have a budget in portions that fit, and has room made when little is left.

    `measure` gives the use as it was last measured, None where it never was, and `relieve` runs the budget job;
    `treats` says of which banks it may. `turn` is held by whoever runs a job in this process. Of what other processes
    write it learns only when it measures.
    """

    def __init__(
        self,
        graph: GraphStore,
        measure: Callable[[str], Use | None],
        relieve: Callable[[str], object],
        treats: Callable[[str], bool],
    ) -> None:
        self.turn = Lock()
        self._graph = graph
        self._measure = measure
        self._relieve = relieve
        self._treats = treats
        self._levels: dict[str, Level] = {}
        self._waiting = False

    def admit(self, mesh: Mesh, batches: Batches, now: Instant) -> Applied:
        """See `actors.mesh.Watch`: apply everything, whether room can be made for it or not."""
        budgets = self._budgets({piece.bank for pieces in batches.values() for piece in pieces})
        if not budgets:
            return mesh.apply(batches, now)
        results: Applied = {partition: [] for partition in batches}
        left = {partition: list(pieces) for partition, pieces in batches.items() if pieces}
        while left:
            portion = _portion(left, {bank: self._allowance(bank, budget) for bank, budget in budgets.items()})
            applied = mesh.apply(portion, now)
            for partition, result in applied.items():
                left[partition] = [] if isinstance(result, Exception) else left[partition][len(portion[partition]) :]
                results[partition] = _joined(results[partition], result)
            self._grown(portion, applied)
            left = {partition: pieces for partition, pieces in left.items() if pieces}
        return results

    def waits(self) -> bool:
        """Whether evidence waits for the job that has the turn."""
        return self._waiting

    def pressed(self, banks: Iterable[str]) -> list[str]:
        """Those of these banks in which room should be made before long, whoever has written into them."""
        found = []
        for bank, budget in self._budgets(banks).items():
            level = self._levels.get(bank)
            if level is None or self._graph.counts(bank)["beliefs"] > level.use.beliefs:
                level = self.measured(bank, level.sought if level else 0.0)
            if level is not None and fullness(level.use, budget) >= max(HIGH, level.sought):
                found.append(bank)
        return found

    def settled(self, bank: str) -> None:
        """Take up what a run of the job has left; where that is still too much, let a while pass before the next."""
        level, budget = self.measured(bank), self._graph.policy(bank).budget
        share = 0.0 if level is None else fullness(level.use, budget)
        if level is None or share < HIGH:
            return
        level.sought = 1.0 - _CLOSE if share < 1.0 - _CLOSE else share + _STEP
        if share > 1.0:
            log_events.warning("budget.exceeded", bank=bank, share=round(share, 3))

    def measured(self, bank: str, sought: float = 0.0) -> Level | None:
        """Take a bank's level from what was last measured and from the beliefs that it has now."""
        last = self._measure(bank)
        if last is None:
            return None
        beliefs = self._graph.counts(bank)["beliefs"]
        each = _UNMEASURED
        if last.beliefs:
            each = Use(
                beliefs=1,
                bytes=max(1, last.bytes // last.beliefs),
                importance=max(0.1, last.importance / last.beliefs),
            )
        use = Use(beliefs=beliefs, bytes=each.bytes * beliefs, importance=each.importance * beliefs)
        self._levels[bank] = Level(use, each, sought)
        return self._levels[bank]

    def _budgets(self, banks: Iterable[str]) -> dict[str, Budget]:
        found = {bank: self._graph.policy(bank).budget for bank in banks}
        return {bank: budget for bank, budget in found.items() if is_bounded(budget) and self._treats(bank)}

    def _allowance(self, bank: str, budget: Budget) -> int:
        """How many pieces of the bank may come in before it is looked at again."""
        level = self._levels.get(bank) or self.measured(bank)
        if level is None or level.is_tight(budget):
            level = self._roomier(bank, budget, level)
        return max(level.fits(budget), level.pieces(budget, _CLOSE if level.sought == 0.0 else _STEP))

    def _roomier(self, bank: str, budget: Budget, level: Level | None) -> Level:
        """The level after room was made, if that was possible; meanwhile nothing comes in."""
        self._waiting = True
        came = self.turn.acquire(timeout=_PATIENCE_SECONDS)
        self._waiting = False
        if not came:
            self.settled(bank)
        else:
            try:
                level = self.measured(bank, level.sought if level else 0.0)
                if level is None or level.is_tight(budget):
                    self._relieve(bank)
                    self.settled(bank)
            finally:
                self.turn.release()
        return self._levels.setdefault(bank, level or Level(Use(), _UNMEASURED))

    def _grown(self, portion: Batches, applied: Applied) -> None:
        """Count what a portion brought."""
        sizes, told = Counter[str](), Counter[str]()
        for piece in chain.from_iterable(portion.values()):
            if piece.bank in self._levels:
                sizes[piece.bank] += len(dump(piece))
                told[piece.bank] += 1
        for change in chain.from_iterable(each for each in applied.values() if not isinstance(each, Exception)):
            level = self._levels.get(change.bank)
            if level is not None:
                new = sum(moved.before is None for moved in change.beliefs)
                more = max(0, change.added - new) * sizes[change.bank] // max(1, told[change.bank])
                brought = Use(beliefs=new, bytes=new * level.each.bytes + more, importance=new * level.each.importance)
                level.use = added(level.use, brought)


def _joined(before: list[Change] | Exception, result: list[Change] | Exception) -> list[Change] | Exception:
    if isinstance(before, Exception) or isinstance(result, Exception):
        return result if isinstance(result, Exception) else before
    return before + result


def _portion(left: Mapping[int, Sequence[Evidence]], allowed: dict[str, int]) -> dict[int, list[Evidence]]:
    """From the front of each partition what is allowed, bank by bank; at least one piece in all."""
    portion: dict[int, list[Evidence]] = {}
    for partition, pieces in left.items():
        taken: list[Evidence] = []
        for piece in pieces:
            if allowed.get(piece.bank, 1) < 1:
                break
            if piece.bank in allowed:
                allowed[piece.bank] -= 1
            taken.append(piece)
        if taken:
            portion[partition] = taken
    return portion
