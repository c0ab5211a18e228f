"""The one definition of a job: a name, resources, arguments, and a plain function that does one page of the work."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from actors.mesh import Mesh
from jobs.bank_files import BankFiles
from jobs.proposed import Proposed
from jobs.weigh import Scales
from schemas.budget import Use
from schemas.entity import Entity
from schemas.errors import InvalidInput
from schemas.gold import Gold
from schemas.instant import DAY, Instant
from schemas.job import Mode
from schemas.limits import check_text, shown
from schemas.slot import Change
from schemas.worth import ValueModel
from stores.archive import Archive
from stores.plans import Plans
from stores.ports import Embedder, GraphStore
from stores.sqlite.usage import UsageFile

PAGE = 500
"""Slots in a page; between two pages a run can be stopped, and goes on from there."""


class Budgeting(msgspec.Struct, frozen=True, kw_only=True):
    """What the budget job needs besides: scales as of now, its plans, where use is kept, bytes the archive may take."""

    scales: Callable[[], Scales]
    plans: Plans
    keep_use: Callable[[Use], None]
    archive_bytes: int


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What a job works on: one bank, through the mesh that owns it, and what else it may ask for.

    `announce` tells others what changed, `count_usage` brings `usage` up to the recall log, `summarise` writes an
    entity's summary again if what it cites has moved and says whether it did, `gold` reads a file of known answers,
    `evaluate` runs an evaluation (its name, where its data is) and returns its figures, `embedder` opens the one of the
    mesh; None where it has none.
    """

    mesh: Mesh
    graph: GraphStore
    bank: str
    clock: Callable[[], Instant]
    announce: Callable[[Sequence[Change]], None]
    archive: Archive
    budgeting: Budgeting
    usage: UsageFile
    count_usage: Callable[[], None]
    values: BankFiles[ValueModel]
    proposed: BankFiles[Proposed]
    summarise: Callable[[Entity], bool]
    gold: Callable[[str], Sequence[Gold]]
    evaluate: Callable[[str, str], Mapping[str, float]]
    arguments: Mapping[str, str]
    embedder: Callable[[], Embedder | None] | None
    mode: Mode = "apply"

    @property
    def applies(self) -> bool:
        """Whether something is to be changed; else it is to be decided and reported only."""
        return self.mode == "apply"


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one page, and where the next begins: `after` None is the end. See `JobRun` for the rest.

    Of `figures` the last page's stay, `sums` are figures that add up over the pages.
    """

    after: str | None
    counts: dict[str, int] = {}
    reasons: dict[str, int] = {}
    figures: dict[str, float] = {}
    sums: dict[str, float] = {}
    examples: tuple[str, ...] = ()
    bytes: int = 0
    notes: tuple[str, ...] = ()


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """What a run may be told; the setting `jobs.SETTING` holds where it is not.

    A number lies within `bounds`, a word is one of `choices`. A `local` one names a file of the machine that runs the
    mesh, so that nobody may give it from elsewhere.
    """

    name: str
    summary: str
    setting: str
    bounds: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    local: bool = False

    def checked(self, value: object) -> str:
        """The value as text. Raises InvalidInput."""
        text = check_text(value, self.name)
        if self.choices and text not in self.choices:
            raise InvalidInput(self.name, f"is {shown(text)}; use one of {', '.join(self.choices)}")
        if self.bounds is not None and not self._is_within(text, *self.bounds):
            low, high = self.bounds
            raise InvalidInput(self.name, f"is {shown(text)}; use a number from {low:g} to {high:g}")
        return text

    def _is_within(self, text: str, low: float, high: float) -> bool:
        try:
            return low <= float(text) <= high
        except ValueError:
            return False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job. `step` does the page after a cursor ("" is the beginning), and may run twice with the effect of once.

    It runs by itself by the setting `jobs.NAME_hours`. `of` names the count (`GraphStore.counts`) that the job's own
    count of the same name runs up to. `cpus` is what it takes of a cluster, `gpus` what it would use where it can.
    """

    name: str
    summary: str
    step: Callable[[Work, str], Page]
    of: str = "slots"
    cpus: float = 1.0
    gpus: float = 0.0
    arguments: tuple[Argument, ...] = ()

    @property
    def interval(self) -> str:
        """The name of the setting that says how often it runs by itself."""
        return f"{self.name.replace('-', '_')}_hours"

    def told(self, given: Mapping[str, object], settings: Mapping[str, object], *, far: bool = False) -> dict[str, str]:
        """Every argument of a run, from what was given, else from the settings. Raises InvalidInput.

        `far` says that it was given from elsewhere than this machine.
        """
        known = {argument.name: argument for argument in self.arguments}
        for name in given:
            if name not in known:
                allowed = f"it takes {', '.join(known)}" if known else "it takes none"
                raise InvalidInput(f"{name:.80}", f"is no argument of the job {self.name}; {allowed}")
            if far and known[name].local:
                raise InvalidInput(
                    name, f"names a file of the mesh's own machine; set jobs.{known[name].setting} there"
                )
        return {name: one.checked(given.get(name, f"{settings[one.setting]}")) for name, one in known.items()}


def digest_age(arguments: Mapping[str, str]) -> Instant | None:
    """How old evidence must be to become a voice of a digest, as a job was told; None: there are to be none."""
    days = float(arguments.get("digest_after_days", "0"))
    return round(days * DAY) if days else None
