"""What forgetting costs: half of a memory at once, and a single observation of what is left."""

import time
from typing import Any

from beliefmesh.evaluate.bench_data import BANK, TURNS_A_SESSION, World
from beliefmesh.evaluate.place import Report, memory_in
from beliefmesh.memory import Memory

_SEED = 20
_EMBEDDER = "hashing:384"
_AT_ONCE = 2_000
_OWNERS = ("leaver", "stayer")


def forgetting(count: int, report: Report) -> dict[str, Any]:
    """Seconds until `count` of twice as many turns, every other session, are in no file, and until one more is."""
    with memory_in(None, BANK, _EMBEDDER) as memory:
        turns = World(_SEED).conversations(2 * count)
        told = [{**each, "owner": _OWNERS[number // TURNS_A_SESSION % 2]} for number, each in enumerate(turns)]
        for start in range(0, len(told), _AT_ONCE):
            last = memory.retain(told[start : start + _AT_ONCE])
        seconds, cpu_seconds, gone = _timed(memory, owner=_OWNERS[0])
        report(f"forget: {gone:,} observations in {seconds:.1f} s, {cpu_seconds:.1f} s of CPU")
        single, _, _ = _timed(memory, ids=[last.ids[-1]])
    return {
        "observations": gone,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "single_seconds": round(single, 2),
    }


def _timed(memory: Memory, **named: Any) -> tuple[float, float, int]:
    started, cpu_started = time.perf_counter(), time.process_time()
    gone = memory.forget(**named).observations
    return time.perf_counter() - started, time.process_time() - cpu_started, gone
