"""The client library for asyncio: the same verbs to await, over a folder or over the network, in threads of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from beliefmesh.remote_verbs.sending import PATIENCE
from schemas.limits import check_number

_THREADS = 8
_MOST_THREADS = 1_000
_LINES_AT_ONCE = 1_000

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _awaited(
    verb: Callable[Concatenate[Memory, Parameters], Result],
) -> Callable[Concatenate["AsyncMemory", Parameters], Coroutine[Any, Any, Result]]:
    """A verb of `Memory` to await; what is open decides whose verb of that name runs."""

    @wraps(verb)
    async def awaited(self: "AsyncMemory", /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        method: Callable[..., Result] = getattr(self.memory, verb.__name__)
        return await self._in_thread(partial(method, *args, **kwargs))

    return awaited


class AsyncMemory:
    """A memory whose verbs are awaited; takes what `Memory` takes, or a memory that is open already.

    At most `at_once` calls run at a time, the others wait. A call that is cancelled still runs to its end.
    """

    def __init__(
        self, *args: Any, memory: Memory | RemoteMemory | None = None, at_once: int = _THREADS, **kwargs: Any
    ) -> None:
        threads = int(check_number(at_once, "at_once", 1, _MOST_THREADS))
        self.memory = memory or Memory(*args, **kwargs)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="memory")

    @classmethod
    def connect(
        cls, url: str, *, bank: str = "default", key: str = "", patience: float = PATIENCE, at_once: int = _THREADS
    ) -> "AsyncMemory":
        """A client of a mesh that serves HTTP at `url`, as `Memory.connect` gives it."""
        return cls(memory=Memory.connect(url, bank=bank, key=key, patience=patience), at_once=at_once)

    retain = _awaited(Memory.retain)
    import_lines = _awaited(Memory.import_lines)
    wait = _awaited(Memory.wait)
    recall = _awaited(Memory.recall)
    explain = _awaited(Memory.explain)
    explanations = _awaited(Memory.explanations)
    history = _awaited(Memory.history)
    belief = _awaited(Memory.belief)
    beliefs = _awaited(Memory.beliefs)
    changes = _awaited(Memory.changes)
    revoke = _awaited(Memory.revoke)
    feedback = _awaited(Memory.feedback)
    reflect = _awaited(Memory.reflect)
    summary = _awaited(Memory.summary)
    refresh_summaries = _awaited(Memory.refresh_summaries)
    narrate = _awaited(Memory.narrate)
    profile = _awaited(Memory.profile)
    set_profile = _awaited(Memory.set_profile)
    merge = _awaited(Memory.merge)
    unmerge = _awaited(Memory.unmerge)
    entities = _awaited(Memory.entities)
    merge_proposals = _awaited(Memory.merge_proposals)
    calibrate = _awaited(Memory.calibrate)
    forget = _awaited(Memory.forget)
    value_of = _awaited(Memory.value_of)
    budget = _awaited(Memory.budget)
    learn_value = _awaited(Memory.learn_value)
    jobs = _awaited(Memory.jobs)
    run_job = _awaited(Memory.run_job)
    job_runs = _awaited(Memory.job_runs)
    job_run = _awaited(Memory.job_run)
    job_sides = _awaited(Memory.job_sides)
    stats = _awaited(Memory.stats)
    doctor = _awaited(Memory.doctor)
    banks = _awaited(Memory.banks)
    state_hash = _awaited(Memory.state_hash)
    dead_letters = _awaited(Memory.dead_letters)
    letters = _awaited(Memory.letters)
    dead_letter = _awaited(Memory.dead_letter)
    replay_dead_letter = _awaited(Memory.replay_dead_letter)
    drop_dead_letter = _awaited(Memory.drop_dead_letter)
    import_backup = _awaited(Memory.import_backup)

    async def export(self, bank: str | None = None) -> AsyncIterator[bytes]:
        """The lines of a bank's backup, as `Memory.export` gives them."""
        lines = await self._in_thread(partial(self.memory.export, bank))
        while some := await self._in_thread(lambda: list(islice(lines, _LINES_AT_ONCE))):
            for line in some:
                yield line

    async def close(self) -> None:
        """Finish what is in hand and give the memory up."""
        await self._in_thread(self.memory.close)
        self._pool.shutdown()

    async def __aenter__(self) -> "AsyncMemory":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _in_thread(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)
