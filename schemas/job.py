"""What one run of a job did: its mode, how far it is, counts, bytes, what and why."""

from typing import Literal

import msgspec

from schemas.instant import Instant

Mode = Literal["apply", "shadow", "dry run"]
"""`apply` does it. The others decide and report only: `shadow` for the schedule, `dry run` asked for by hand."""

Evaluation = Literal["rules", "entities", "config", "flight", "locomo", "budget"]
"""What `beliefmesh eval` can measure; the first two bring their data along."""


class JobRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it is kept. `cursor` is where the next page begins; without `ended` it has not come to its end yet.

    `arguments` is what it was told or what the settings say in its place. `counts` and `reasons` are numbers by name,
    summed over the pages, `figures` measures by name, `examples` the first few decisions in words, `bytes` what was
    written to the archive or read from it. `notes` say of the whole what numbers do not. `failed` is why it stopped
    early.
    """

    id: str
    job: str
    bank: str
    mode: Mode
    started: Instant
    ended: Instant | None = None
    cursor: str = ""
    pages: int = 0
    arguments: dict[str, str] = {}
    counts: dict[str, int] = {}
    figures: dict[str, float] = {}
    reasons: dict[str, int] = {}
    examples: tuple[str, ...] = ()
    bytes: int = 0
    notes: tuple[str, ...] = ()
    failed: str = ""


class JobRuns(msgspec.Struct, frozen=True):
    """Several runs, newest first; `next` is the place to go on from, if there may be more."""

    runs: tuple[JobRun, ...]
    next: str = ""


class ListedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job: what it does, hours from a run's end to the next one by itself (0: never), and its last run on a bank.

    `cpus` is what it takes of a cluster, `gpus` what it would use where there are any; `arguments` are the values that
    hold where nothing is told.
    """

    name: str
    summary: str
    hours: float
    cpus: float
    gpus: float
    arguments: dict[str, str] = {}
    last: JobRun | None = None


class ListedJobs(msgspec.Struct, frozen=True):
    """Jobs, as they travel; `next` is the place to go on from, if there may be more."""

    jobs: tuple[ListedJob, ...]
    next: str = ""


class JobSide(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison: the banks that scheduled jobs change (`treated`), or those where they only decide.

    `kept` is what they hold, `archived` pieces take `archive_bytes`; `runs` sums what runs counted, as `JOB COUNT`;
    `usage` counts recalls of beliefs and verdicts on them.
    """

    treated: bool
    banks: int
    kept: dict[str, int]
    archived: int
    archive_bytes: int
    runs: dict[str, int]
    usage: dict[str, int]


class JobSides(msgspec.Struct, frozen=True):
    """Both sides of a comparison of banks, the treated one first; `next` is the place of those not looked at yet."""

    sides: tuple[JobSide, JobSide]
    next: str = ""
