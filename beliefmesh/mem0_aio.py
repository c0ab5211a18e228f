"""The memory in the shape of mem0's `AsyncMemory`: the same methods to await."""

from beliefmesh.mem0 import Mem0
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from beliefmesh.threads import THREADS, Threaded, awaited


class AsyncMem0(Threaded):
    """`Mem0` whose methods are awaited; the memory stays its owner's to close.

    At most `at_once` calls run at a time, the others wait. A call that is cancelled still runs to its end.
    """

    def __init__(self, memory: Memory | RemoteMemory, *, bank: str | None = None, at_once: int = THREADS) -> None:
        super().__init__(Mem0(memory, bank=bank), at_once)

    add = awaited(Mem0.add)
    search = awaited(Mem0.search)
    get = awaited(Mem0.get)
    get_all = awaited(Mem0.get_all)
    update = awaited(Mem0.update)
    delete = awaited(Mem0.delete)
    delete_all = awaited(Mem0.delete_all)
    history = awaited(Mem0.history)
    reset = awaited(Mem0.reset)
