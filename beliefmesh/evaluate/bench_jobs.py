"""What the benchmark measures of jobs: decay where little is due, compaction, the budget job, and what they take."""

import tempfile
import time
from threading import Event, Thread
from typing import Any

from beliefmesh.evaluate.place import NO_EMBEDDER, Report
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from beliefs.revise import revise
from schemas.budget import Budget
from schemas.digest import bytes_of
from schemas.instant import DAY, SECOND, Instant
from schemas.intake import observation_from
from schemas.policy import Policy
from stores.pages import all_slots

_BANK = "default"
_START: Instant = 1_700_000_000 * SECOND
_REPEATS = 10
_SITES = 15
_AT_ONCE = 2_000
_EARLIER: Instant = 20 * DAY
_FIRST_DUE: Instant = 60 * DAY
_ALL_DUE: Instant = 90 * DAY
"""A single sighting is held for 69.5 days by the default policy, so those told 20 days earlier are due first."""
_ROUNDS = 3


class _Clock:
    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> Instant:
        return self.now


def jobs(slots: int, report: Report) -> dict[str, Any]:
    """Decay over that many slots with one in a hundred due and with the rest due; compaction of a quarter as many
    pieces, said again and said alike by many; the budget job over a tenth as many slots, and as many claims streamed
    alone and beside jobs.
    """
    figures = {"slots": slots, **_decay(slots), **_compaction(slots // 4), **_digests(slots // 4)}
    report(f"jobs: decay {figures['decay_share']:.1%}, compaction {figures['compaction_per_second']:,.0f} pieces/s")
    report(f"jobs: digests {figures['digest_per_second']:,.0f} pieces/s, {figures['digest_saved']:.0%} of bytes saved")
    figures |= _budget(slots // 10)
    figures |= _beside(slots // 10)
    report(f"jobs: ingestion keeps {figures['ingestion_share']:.0%} of its rate beside a job")
    return figures


def _decay(slots: int) -> dict[str, Any]:
    """Seconds of a run and of the indexing that follows."""
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder, _memory(folder, clock) as memory:
        _fill(memory, slots, 1)
        memory.home.worker.drain()
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
        slots = pieces // _REPEATS
        _fill(memory, slots, _REPEATS)
        memory.home.worker.drain()
        counts, seconds = _timed(memory, "compaction", clock, DAY)
    return {
        "compaction_evidence": pieces,
        "compaction_archived": counts.get("archived", 0),
        "compaction_seconds": round(seconds, 3),
        "compaction_per_second": round(pieces / seconds, 1),
    }


def _digests(pieces: int) -> dict[str, Any]:
    """Compaction where fifteen sources say each thing alike.

    Bytes are those of the evidence of the slots that got a digest, as a budget counts them.
    """
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder, _memory(folder, clock) as memory:
        slots = pieces // _SITES
        _fill(memory, slots, _SITES, sites=True)
        memory.home.worker.drain()
        sizes = {one.slot.id: bytes_of(one.evidence) for one in all_slots(memory.home.graph, _BANK)}
        counts, seconds = _timed(memory, "compaction", clock, 60 * DAY)
        smaller = {one.slot.id: bytes_of(one.evidence) for one in all_slots(memory.home.graph, _BANK)}
        digested = [id for id, size in smaller.items() if size < sizes[id]]
        before, after = sum(sizes[id] for id in digested), sum(smaller[id] for id in digested)
    return {
        "digest_evidence": slots * _SITES,
        "digest_slots": len(digested),
        "digest_voices": counts.get("voices", 0),
        "digest_bytes_before": before,
        "digest_bytes_after": after,
        "digest_saved": round(1 - after / before, 3),
        "digest_seconds": round(seconds, 3),
        "digest_per_second": round(slots * _SITES / seconds, 1),
    }


def _budget(slots: int) -> dict[str, Any]:
    """Slots a second that the budget job weighs, and that it moves to the archive."""
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder, _memory(folder, clock) as memory:
        _fill(memory, slots, 1, free=True)
        memory.home.worker.drain()
        memory.set_policy(Policy(budget=Budget(beliefs=2 * slots)))
        _, weighing = _timed(memory, "budget", clock, DAY)
        memory.set_policy(Policy(budget=Budget(beliefs=slots // 2)))
        counts, seconds = _timed(memory, "budget", clock, DAY)
    moved = counts.get("archive slots", 0)
    return {
        "budget_slots": slots,
        "weighed_per_second": round(slots / weighing, 1),
        "budget_archived": moved,
        "budget_archived_per_second": round(moved / max(seconds - weighing, 1e-6), 1),
    }


def _beside(claims: int) -> dict[str, Any]:
    """Rates of a stream alone and of the same beside jobs, in turns, each the best of some; and by CPU seconds.

    On a machine that others use too, the share of CPU seconds that jobs left to the stream says more than the rates.
    """
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder, _memory(folder, clock) as memory:
        _fill(memory, 2 * claims, 1)
        memory.home.start()
        memory.home.worker.drain()
        memory.set_policy(Policy(budget=Budget(beliefs=10 * claims)))
        clock.now = _START + DAY
        alone, beside, spent = [], [], 0.0
        done = _Done()
        _streamed(memory, "warm", claims // 4)
        for turn in range(_ROUNDS):
            alone.append(_streamed(memory, f"alone {turn}", claims))
            over = Event()
            working = Thread(target=_work, args=(memory, over, done))
            began = time.process_time()
            working.start()
            beside.append(_streamed(memory, f"beside {turn}", claims))
            over.set()
            working.join()
            spent += time.process_time() - began
    return {
        "ingestion_claims": claims,
        "ingestion_per_second": round(claims / min(alone), 1),
        "ingestion_beside_per_second": round(claims / min(beside), 1),
        "ingestion_share": round(min(alone) / min(beside), 3),
        "ingestion_cpu_share": round(1 - done.seconds / spent, 3),
        "ingestion_job_pages": done.pages,
    }


class _Done:
    """Pages that jobs have done, and the CPU seconds of their thread."""

    def __init__(self) -> None:
        self.pages = 0
        self.seconds = 0.0

    def page(self, _: object) -> None:
        self.pages += 1


def _work(memory: Memory, over: Event, done: _Done) -> None:
    """Run one job after the other, as a schedule would, until it is over."""
    began = time.thread_time()
    while not over.is_set():
        for job in ("compaction", "budget"):
            memory.run_job(job, mode="shadow" if job == "budget" else "apply", told=done.page, enough=over.is_set)
    done.seconds += time.thread_time() - began


def _streamed(memory: Memory, name: str, claims: int) -> float:
    """Seconds until so many sightings, logged without waiting, have had their effect."""
    started = time.perf_counter()
    for start in range(0, claims, _AT_ONCE):
        some = range(start, min(start + _AT_ONCE, claims))
        memory.retain(
            [_told(slot, 0) | {"id": f"{name} {slot}", "entity": f"{name} {slot}"} for slot in some], wait=False
        )
    memory.home.worker.drain()
    return time.perf_counter() - started


def _memory(folder: str, clock: _Clock) -> Memory:
    settings = Settings(mesh=MeshSettings(folder=folder, runtime="inline"), stores=StoreSettings(embedder=NO_EMBEDDER))
    return Memory(settings=settings, clock=clock)


def _timed(memory: Memory, job: str, clock: _Clock, after: Instant) -> tuple[dict[str, int], float]:
    clock.now = _START + after
    started = time.perf_counter()
    run = memory.run_job(job)
    return run.counts, time.perf_counter() - started


def _fill(memory: Memory, slots: int, repeats: int, *, free: bool = False, sites: bool = False) -> None:
    for start in range(0, slots, _AT_ONCE):
        _fill_some(memory, range(start, min(start + _AT_ONCE, slots)), repeats, free=free, sites=sites)


def _fill_some(memory: Memory, slots: range, repeats: int, *, free: bool, sites: bool) -> None:
    """Write slots as the stream would have written them, through the graph alone, and take them for indexed."""
    graph, policy = memory.home.graph, memory.home.graph.policy(_BANK)
    told = [
        _departure(slot, repeat) if sites else _told(slot, repeat, free=free)
        for slot in slots
        for repeat in range(repeats)
    ]
    observations = [(observation_from(one, bank=_BANK, now=_START), _START) for one in told]
    by_slot: dict[str, list[Any]] = {}
    for pieces in memory.home.mesh.extract(observations):
        for piece in pieces:
            by_slot.setdefault(piece.slot, []).append(piece)
    revisions = [revise(None, pieces, policy, _START) for pieces in by_slot.values()]
    graph.apply([revision.decision for revision in revisions if revision.decision is not None])
    indexed = {belief.id: belief.version for each in revisions for belief in each.stored.slot.beliefs}
    graph.mark_indexed(_BANK, indexed)


def _departure(flight: int, site: int) -> dict[str, object]:
    """What one of many sites says of a flight."""
    words = f"Flight AA-{flight} departs at 19:35 from gate C{flight % 40}."
    claim = {"attribute": "departure", "value": "19:35", "value_type": "time", "statement": words}
    return {
        "id": f"o{flight}-{site}",
        "entity": f"flight AA-{flight}",
        "observed_at": (_START - site * 60 * SECOND) / SECOND,
        "source": {"id": f"site-{site}.example", "type": "tool"},
        "claims": [claim],
    }


def _told(slot: int, repeat: int, *, free: bool = False) -> dict[str, object]:
    """A sighting; each slot's told an hour apart, the first of a hundred slots twenty days earlier."""
    at = _START - (_EARLIER if slot % 100 == 0 else DAY) + repeat * 3_600 * SECOND
    claim: dict[str, object] = {"attribute": "state", "value": "up"}
    return {
        "id": f"o{slot}-{repeat}",
        "entity": f"host {slot}",
        "observed_at": at / SECOND,
        "source": {"id": "monitor", "type": "tool"},
        "claims": [{"statement": f"Host {slot} was looked at by team {slot % 7}."} if free else claim],
    }
