"""The figures of a mesh for those who run it: what it holds, what waits and since when, what this process has done."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from beliefmesh.home import Home
from beliefmesh.keeping import shortfall
from schemas.budget import MEASURES
from schemas.instant import SECOND, Instant, format_instant
from streams.backlog import Backlog, Place, backlogs, places
from streams.topology import STAGES
from streams.watermark import low_watermarks
from streams.worker import Worker


def figures(home: Home, bank: str | None = None) -> dict[str, Any]:
    """Those of a bank, or of all."""
    now = home.clock()
    return figures_at(home, now, places(home.log, home.topics), bank)


def figures_at(home: Home, now: Instant, found: Sequence[Place], bank: str | None = None) -> dict[str, Any]:
    """Those with the stages at known places; `now` was read before these were."""
    waiting = backlogs(home.log, found)
    banks = home.graph.banks() if bank is None else [bank]
    counts = {name: home.graph.counts(name) for name in banks}
    marks = low_watermarks(waiting, banks, now)
    partitions = {stage.name: _partitions(waiting, stage.name, now) for stage in STAGES}
    return {
        "banks": counts,
        "budgets": {name: _budget(home, name, counts[name]["beliefs"]) for name in banks},
        "lag": {stage: sum(each["records"] for each in some.values()) for stage, some in partitions.items()},
        "partitions": partitions,
        "low_watermark": {name: format_instant(at) for name, at in marks.items()},
        "freshness_seconds": msgspec.to_builtins(home.worker.freshness.counted()),
        "jobs": _jobs(home, bank),
        "dead_letters": home.letters.count(),
        "dead_lettered": dict(Counter(home.worker.dead_lettered) + home.letters.added),
        "handled": dict(home.worker.counts),
        "stages": _stages(home.worker),
        "pauses": dict(home.worker.pauses),
        "actors": dict(home.mesh.counts()),
        "runtime": home.runtime,
    }


def _jobs(home: Home, bank: str | None) -> list[dict[str, Any]]:
    """Of each job on each bank, by the folder's ledger: its last end, that run's figures, whether it failed since."""
    return [
        {
            "name": newest.job,
            "bank": newest.bank,
            "last_end": None if done is None or done.ended is None else format_instant(done.ended),
            "seconds": None if done is None or done.ended is None else (done.ended - done.started) / SECOND,
            "counts": {} if done is None else dict(done.counts),
            "failed": bool(newest.failed),
        }
        for newest, done in home.ledger.newest(bank)
    ]


def _stages(worker: Worker) -> dict[str, dict[str, Any]]:
    """By stage, histograms of the seconds and the records of the batches that this process has done."""
    sizes = worker.sizes.counted()
    return {
        stage: {"seconds": msgspec.to_builtins(seconds), "records": msgspec.to_builtins(sizes[stage])}
        for stage, seconds in worker.seconds.counted().items()
        if stage in sizes
    }


def _budget(home: Home, bank: str, beliefs: int) -> dict[str, Any]:
    """The bounds of a bank, its beliefs as of now, and what of the rest was last measured, and when."""
    last = home.usage.last_use(bank)
    use: dict[str, float] = {"beliefs": beliefs}
    if last is not None:
        use |= {"bytes": last[0].bytes, "importance": round(last[0].importance, 3)}
    budget = home.graph.policy(bank).budget
    return {
        "bounds": {name: bound for name in MEASURES if (bound := getattr(budget, name)) is not None},
        "use": use,
        "measured_at": None if last is None else format_instant(last[1]),
        "note": shortfall(home, bank),
    }


def _partitions(waiting: Sequence[Backlog], stage: str, now: Instant) -> dict[str, dict[str, Any]]:
    """By partition, how many records wait for the stage, and for how many seconds the oldest has."""
    return {
        str(backlog.place.partition): {"records": backlog.records, "seconds": backlog.seconds(now)}
        for backlog in waiting
        if backlog.place.stage == stage
    }
