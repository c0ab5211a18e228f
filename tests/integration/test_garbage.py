"""What a call leaves behind in memory: nothing that waits for the collector of cycles."""

import gc
from collections import Counter
from collections.abc import Callable

import pytest

from beliefmesh.memory import Memory

OURS = ("actors", "beliefmesh", "beliefs", "recall", "schemas", "stores", "streams")

CALLS: dict[str, Callable[[Memory], object]] = {
    "recall": lambda memory: memory.recall("Where does Ann live?"),
    "recall as of a time": lambda memory: memory.recall("Where does Ann live?", as_of="2026-03-02T00:00:00Z"),
    "explain": lambda memory: memory.explain(memory.recall("Where does Ann live?").found[0].belief.id),
    "history": lambda memory: memory.history(memory.recall("Where does Ann live?").found[0].belief.id),
    "reflect": lambda memory: memory.reflect("Where does Ann live?"),
    "retain": lambda memory: memory.retain(["Ann lives in Basel."]),
}


def garbage_of(call: Callable[[], object]) -> Counter[str]:
    """How many objects of our kinds a call leaves that only the collector of cycles finds."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        call()
        gc.collect()
        return Counter(type(left).__name__ for left in gc.garbage if type(left).__module__.split(".")[0] in OURS)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("verb", CALLS)
def test_what_a_call_made_goes_with_its_answer(verb: str, memory: Memory) -> None:
    memory.retain(["Ann lives in Bern.", "Ann lives in Oslo."])
    CALLS[verb](memory)

    left = garbage_of(lambda: CALLS[verb](memory))

    assert left == Counter()
