"""The client library for asyncio: the same verbs to await, over a folder or over the network, in threads of its own."""

from collections.abc import AsyncIterator
from functools import partial
from itertools import islice
from typing import Any

from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from beliefmesh.remote_verbs.sending import PATIENCE
from beliefmesh.threads import THREADS, Threaded, awaited, check_threads

_LINES_AT_ONCE = 1_000


class AsyncMemory(Threaded):
    """A memory whose verbs are awaited; takes what `Memory` takes, or a memory that is open already.

    At most `at_once` calls run at a time, the others wait. A call that is cancelled still runs to its end.
    """

    def __init__(
        self, *args: Any, memory: Memory | RemoteMemory | None = None, at_once: int = THREADS, **kwargs: Any
    ) -> None:
        threads = check_threads(at_once)
        self.memory = memory or Memory(*args, **kwargs)
        super().__init__(self.memory, threads)

    @classmethod
    def connect(
        cls, url: str, *, bank: str = "default", key: str = "", patience: float = PATIENCE, at_once: int = THREADS
    ) -> "AsyncMemory":
        """A client of a mesh that serves HTTP at `url`, as `Memory.connect` gives it."""
        return cls(memory=Memory.connect(url, bank=bank, key=key, patience=patience), at_once=at_once)

    retain = awaited(Memory.retain)
    import_lines = awaited(Memory.import_lines)
    import_fields = awaited(Memory.import_fields)
    wait = awaited(Memory.wait)
    recall = awaited(Memory.recall)
    explain = awaited(Memory.explain)
    explanations = awaited(Memory.explanations)
    history = awaited(Memory.history)
    belief = awaited(Memory.belief)
    beliefs = awaited(Memory.beliefs)
    changes = awaited(Memory.changes)
    revoke = awaited(Memory.revoke)
    feedback = awaited(Memory.feedback)
    reflect = awaited(Memory.reflect)
    summary = awaited(Memory.summary)
    refresh_summaries = awaited(Memory.refresh_summaries)
    narrate = awaited(Memory.narrate)
    profile = awaited(Memory.profile)
    set_profile = awaited(Memory.set_profile)
    merge = awaited(Memory.merge)
    unmerge = awaited(Memory.unmerge)
    entities = awaited(Memory.entities)
    merge_proposals = awaited(Memory.merge_proposals)
    calibrate = awaited(Memory.calibrate)
    forget = awaited(Memory.forget)
    value_of = awaited(Memory.value_of)
    budget = awaited(Memory.budget)
    learn_value = awaited(Memory.learn_value)
    jobs = awaited(Memory.jobs)
    run_job = awaited(Memory.run_job)
    job_runs = awaited(Memory.job_runs)
    job_run = awaited(Memory.job_run)
    job_sides = awaited(Memory.job_sides)
    stats = awaited(Memory.stats)
    doctor = awaited(Memory.doctor)
    banks = awaited(Memory.banks)
    state_hash = awaited(Memory.state_hash)
    dead_letters = awaited(Memory.dead_letters)
    letters = awaited(Memory.letters)
    dead_letter = awaited(Memory.dead_letter)
    replay_dead_letter = awaited(Memory.replay_dead_letter)
    drop_dead_letter = awaited(Memory.drop_dead_letter)
    import_backup = awaited(Memory.import_backup)

    async def export(self, bank: str | None = None) -> AsyncIterator[bytes]:
        """The lines of a bank's backup, as `Memory.export` gives them."""
        lines = await self._in_thread(partial(self.memory.export, bank))
        while some := await self._in_thread(lambda: list(islice(lines, _LINES_AT_ONCE))):
            for line in some:
                yield line

    async def close(self) -> None:
        """Finish what is in hand and give the memory up."""
        await self._in_thread(self.memory.close)
        await super().close()
