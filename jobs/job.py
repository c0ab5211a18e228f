"""The one definition of a job: a name, a schedule, resources, and a plain function that does one page of the work."""

from collections.abc import Callable, Sequence

import msgspec

from actors.mesh import Mesh
from jobs.weigh import Scales
from schemas.budget import Use
from schemas.instant import DAY, Instant
from schemas.job import Mode
from schemas.slot import Change
from stores.archive import Archive
from stores.plans import Plans
from stores.ports import GraphStore

YEAR: Instant = 365 * DAY
PAGE = 500
"""Slots in a page; between two pages a run can be stopped, and goes on from there."""


class Budgeting(msgspec.Struct, frozen=True, kw_only=True):
    """What the budget job needs besides: scales as of now, its plans, where use is kept, bytes the archive may take."""

    scales: Callable[[], Scales]
    plans: Plans
    keep_use: Callable[[Use], None]
    archive_bytes: int


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What a job works on: one bank, through the mesh that owns it. `announce` tells others what changed.

    `archive_after` is how long nobody must have spoken of a slot that is archived as a whole.
    """

    mesh: Mesh
    graph: GraphStore
    bank: str
    clock: Callable[[], Instant]
    announce: Callable[[Sequence[Change]], None]
    archive: Archive
    archive_after: Instant = YEAR
    budgeting: Budgeting | None = None
    mode: Mode = "apply"

    @property
    def applies(self) -> bool:
        """Whether something is to be changed; else it is to be decided and reported only."""
        return self.mode == "apply"


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one page, and where the next begins: `after` None is the end. See `JobRun` for the rest."""

    after: str | None
    counts: dict[str, int] = {}
    reasons: dict[str, int] = {}
    examples: tuple[str, ...] = ()
    bytes: int = 0
    notes: tuple[str, ...] = ()


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job. `step` does the page after a cursor ("" is the beginning), and may run twice with the effect of once.

    `of` names the count (`GraphStore.counts`) that the job's own count `slots` runs up to; `cpus` and `gpus` are what
    it wants of a cluster.
    """

    name: str
    summary: str
    step: Callable[[Work, str], Page]
    of: str = "slots"
    cpus: float = 1.0
    gpus: float = 0.0
