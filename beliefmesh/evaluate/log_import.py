"""The log evaluation: lines through the same way as `import --source`, into a fresh memory: is any lost, how fast?"""

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from beliefmesh.evaluate.place import Report, memory_in
from beliefmesh.evaluate.reading import files_in
from beliefmesh.memory import Memory
from beliefmesh.sourced import import_source
from schemas.evidence import Evidence
from stores.ports import GraphStore
from streams.sources.lines import lines_of
from streams.sources.registry import ANY_LOG, Source, open_source

BANK = "logs"
_FIRST = "first"
"""A bank for the first sentence: files are made and the embedder is loaded before the time runs."""

_SLOTS_AT_ONCE = 500
_LONGEST_LINE = 65_536


def evaluate_logs(
    data: Path, report: Report, *, source: str = ANY_LOG, embedder: str | None = None, folder: Path | None = None
) -> dict[str, Any]:
    """By file (`*.log*` of a folder): what became of its lines, what is known by then, and how long it took.

    Each has a memory of its own, in `folder` one named after it. `lost` are lines of the file, blank ones aside, that
    were not accounted for.
    """
    results: dict[str, Any] = {}
    for file in files_in(data, "*.log*", "--data"):
        with memory_in(folder and folder / file.name, BANK, embedder) as memory, file.open("rb") as stream:
            figures = imported(memory, open_source(source), stream, file.name)
        results[file.name] = {"lost": _lines_in(file) - figures["lines"], **figures}
        report(f"{file.name}: {figures['lines_per_second']:,.0f} lines a second")
    return results


def imported(memory: Memory, source: Source, stream: IO[bytes], file: str) -> dict[str, Any]:
    """What an import did and took, from the first byte read until everything is recallable."""
    memory.retain("The evaluation begins.", source="evaluation", bank=_FIRST)
    started, cpu_started = time.perf_counter(), time.process_time()
    done = import_source(memory, source, stream, file)
    memory.wait(done.token)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    counts = memory.home.graph.counts(memory.bank)
    return {
        "lines": done.read,
        "accepted": done.accepted,
        "repeats": done.repeats,
        "skipped": done.skipped,
        "dead": done.dead,
        "entities": counts["entities"],
        "beliefs": counts["beliefs"],
        "evidence": counts["evidence"],
        "state_changes": sum(_changes(pieces) for pieces in _states(memory.home.graph, memory.bank)),
        "seconds": round(seconds, 3),
        "lines_per_second": round(done.read / seconds, 1),
        "lines_per_cpu_second": round(done.read / cpu_seconds, 1),
    }


def _states(graph: GraphStore, bank: str) -> Iterator[Sequence[Evidence]]:
    """The evidence of every slot whose values are names (a number that moves is no change of state)."""
    after = ""
    while slots := graph.scan(bank, after, _SLOTS_AT_ONCE):
        for stored in graph.load_slots(bank, slots).values():
            named = [piece for piece in stored.evidence if piece.attribute and piece.value_type in ("enum", "version")]
            if named:
                yield named
        after = slots[-1]


def _changes(pieces: Sequence[Evidence]) -> int:
    """How often a slot's value gave way to another, by what its evidence says of when."""
    told = sorted(pieces, key=lambda piece: (piece.effective_at, piece.id))
    return sum(before.value != after.value for before, after in pairwise(told))


def _lines_in(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in lines_of(stream, _LONGEST_LINE))
