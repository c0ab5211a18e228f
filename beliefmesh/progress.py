"""How far a process has come with what waits: since nothing waited last, and with what it found when it began."""

from collections.abc import Iterable, Sequence
from threading import Lock

import msgspec

from beliefmesh.home import Home
from streams.backlog import Place, backlogs
from streams.topology import STAGES

ALL = 100.0

_Spot = tuple[str, int]


class CaughtUp(msgspec.Struct, frozen=True):
    """How much of the work is done, in percent, and how many records or beliefs wait."""

    percent: float
    waiting: int


def still_waiting(home: Home, found: Iterable[Place]) -> list[Place]:
    """The places where something is left to read; offsets alone may tell of records that are gone."""
    behind = [place for place in found if place.committed < place.end]
    return [backlog.place for backlog in backlogs(home.log, behind, limit=1) if backlog.head]


class CatchingUp:
    """What has been worked off of the stream since nothing waited last."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._from: int | None = None

    def look(self, found: Sequence[Place], behind: Sequence[Place]) -> CaughtUp | None:
        """How far it is, of all places and those where something waits; None where nothing does."""
        committed = sum(place.committed for place in found)
        waiting = sum(place.end - place.committed for place in behind)
        with self._turn:
            if not waiting:
                self._from = None
                return None
            if self._from is None:
                self._from = committed
            return _progress(committed - self._from, waiting)


class Hydration:
    """Whether all that lay in the log when this was first asked is recallable; once it is, it stays so.

    The end of a stage's topic counts as it is when the stage before has come to its own end, since until then what lay
    there at first makes it longer. What the index lacked must have been indexed, too, where this process does that. A
    process that leaves the stream to others has nothing to wait for.
    """

    def __init__(self) -> None:
        self.done = False
        self._turn = Lock()
        self._ends: dict[_Spot, int] = {}
        self._from: int | None = None

    def look(self, home: Home, found: Sequence[Place]) -> CaughtUp:
        """How far it is. Raises StoreUnavailable."""
        with self._turn:
            self.done = self.done or not home.worker.here
            if self.done:
                return CaughtUp(ALL, 0)
            places = {(place.stage, place.partition): place for place in found}
            self._extend(home, places)
            waiting = sum(max(0, end - places[spot].committed) for spot, end in self._ends.items() if spot in places)
            if not home.worker.caught_up:
                waiting += max(1, sum(home.graph.counts(bank)["unindexed"] for bank in home.graph.banks()))
            committed = sum(place.committed for place in found)
            if self._from is None:
                self._from = committed
            self.done = not waiting
            return CaughtUp(ALL, 0) if self.done else _progress(committed - self._from, waiting)

    def _extend(self, home: Home, places: dict[_Spot, Place]) -> None:
        """Note the ends of the stages up to the first that has not come to its own; where nothing is left, it has."""
        for stage in STAGES:
            mine = {spot: place for spot, place in places.items() if spot[0] == stage.name}
            self._ends = {**{spot: place.end for spot, place in mine.items()}, **self._ends}
            short = [place for spot, place in mine.items() if place.committed < self._ends[spot]]
            if still_waiting(home, short):
                return
            self._ends |= {(place.stage, place.partition): place.committed for place in short}


def _progress(done: int, waiting: int) -> CaughtUp:
    done = max(0, done)
    return CaughtUp(round(ALL * done / (done + waiting), 1), waiting)
