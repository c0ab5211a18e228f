"""What the benchmark measures of jobs: decay where little is due against all, and compaction."""

import tempfile
import time
from collections.abc import Iterator
from typing import Any

from beliefmesh.evaluate.place import NO_EMBEDDER, Report
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.instant import DAY, SECOND, Instant

_START: Instant = 1_700_000_000 * SECOND
_REPEATS = 10
_AT_ONCE = 2_000
_EARLIER: Instant = 20 * DAY
_FIRST_DUE: Instant = 60 * DAY
_ALL_DUE: Instant = 90 * DAY
"""A single sighting is held for 69.5 days by the default policy, so those told 20 days earlier are due first."""


class _Clock:
    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> Instant:
        return self.now


def jobs(slots: int, report: Report) -> dict[str, Any]:
    """Decay over that many slots with one in a hundred due and with the rest due, and compaction of as many pieces."""
    figures = {"slots": slots, **_decay(slots), **_compaction(slots)}
    report(f"jobs: decay {figures['decay_share']:.1%}, compaction {figures['compaction_per_second']:,.0f} pieces/s")
    return figures


def _decay(slots: int) -> dict[str, Any]:
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder, _memory(folder, clock) as memory:
        for batch in _batches(slots, 1):
            memory.retain(batch)
        some, some_seconds = _timed(memory, "decay", clock, _FIRST_DUE)
        rest, rest_seconds = _timed(memory, "decay", clock, _ALL_DUE)
    return {
        "decay_some": some.get("slots", 0),
        "decay_some_seconds": round(some_seconds, 4),
        "decay_rest": rest.get("slots", 0),
        "decay_rest_seconds": round(rest_seconds, 4),
        "decay_share": round(some_seconds / (some_seconds + rest_seconds), 4),
    }


def _compaction(pieces: int) -> dict[str, Any]:
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder, _memory(folder, clock) as memory:
        for batch in _batches(pieces // _REPEATS, _REPEATS):
            memory.retain(batch)
        counts, seconds = _timed(memory, "compaction", clock, DAY)
    return {
        "compaction_evidence": pieces,
        "compaction_archived": counts.get("archived", 0),
        "compaction_seconds": round(seconds, 3),
        "compaction_per_second": round(pieces / seconds, 1),
    }


def _memory(folder: str, clock: _Clock) -> Memory:
    settings = Settings(mesh=MeshSettings(folder=folder, runtime="inline"), stores=StoreSettings(embedder=NO_EMBEDDER))
    return Memory(settings=settings, clock=clock)


def _timed(memory: Memory, job: str, clock: _Clock, after: Instant) -> tuple[dict[str, int], float]:
    clock.now = _START + after
    started = time.perf_counter()
    run = memory.run_job(job)
    return run.counts, time.perf_counter() - started


def _batches(slots: int, repeats: int) -> Iterator[list[dict[str, object]]]:
    """Sightings, each slot's told an hour apart; the first of a hundred slots twenty days earlier."""
    for start in range(0, slots * repeats, _AT_ONCE):
        yield [_told(*divmod(one, repeats)) for one in range(start, min(start + _AT_ONCE, slots * repeats))]


def _told(slot: int, repeat: int) -> dict[str, object]:
    at = _START - (_EARLIER if slot % 100 == 0 else DAY) + repeat * 3_600 * SECOND
    return {
        "id": f"o{slot}-{repeat}",
        "entity": f"host {slot}",
        "observed_at": at / SECOND,
        "source": {"id": "monitor", "type": "tool"},
        "claims": [{"attribute": "state", "value": "up"}],
    }
