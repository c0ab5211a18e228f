"""What one run of a job did: its mode, how far it is, counts, bytes, what and why."""

from typing import Literal

import msgspec

from schemas.instant import Instant

Mode = Literal["apply", "shadow", "dry run"]
"""`apply` does it. The others decide and report only: `shadow` for the schedule, `dry run` asked for by hand."""


class JobRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it is kept. `cursor` is where the next page begins; without `ended` it has not come to its end yet.

    `counts` and `reasons` are numbers by name, `examples` the first few decisions in words, `bytes` what was written
    to the archive or read from it. `notes` say of the whole what numbers do not. `failed` is why it stopped early.
    """

    id: str
    job: str
    bank: str
    mode: Mode
    started: Instant
    ended: Instant | None = None
    cursor: str = ""
    pages: int = 0
    counts: dict[str, int] = {}
    reasons: dict[str, int] = {}
    examples: tuple[str, ...] = ()
    bytes: int = 0
    notes: tuple[str, ...] = ()
    failed: str = ""


class JobRuns(msgspec.Struct, frozen=True):
    """Several runs, newest first; `next` is the place to go on from, if there may be more."""

    runs: tuple[JobRun, ...]
    next: str = ""
