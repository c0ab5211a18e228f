"""The client library for asyncio: the same names, each call in a thread of its own pool."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from beliefmesh.calibrate import Calibration
from beliefmesh.forgetting import ForgetReport
from beliefmesh.memory import Memory
from beliefmesh.merging import MergeReport
from beliefmesh.narrate import Narrative
from beliefmesh.receipt import Imported, Receipt
from beliefs.likeness import Proposal
from recall.roster import Listed
from schemas.answer import Answer, Explanation, History
from schemas.belief import Belief
from schemas.budget import BudgetReport
from schemas.job import JobRun
from schemas.profile import Persona
from schemas.reflection import Reflection, Summary
from schemas.worth import LearnedValue, Worth

_THREADS = 8
Result = TypeVar("Result")


class AsyncMemory:
    """A `Memory` whose calls are awaited; takes what `Memory` takes, or one that is open already."""

    def __init__(self, *args: Any, memory: Memory | None = None, **kwargs: Any) -> None:
        self.memory = memory or Memory(*args, **kwargs)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="memory")

    async def retain(self, *args: Any, **kwargs: Any) -> Receipt:
        """See `Memory.retain`."""
        return await self._call(self.memory.retain, *args, **kwargs)

    async def import_lines(self, *args: Any, **kwargs: Any) -> Imported:
        """See `Memory.import_lines`."""
        return await self._call(self.memory.import_lines, *args, **kwargs)

    async def recall(self, *args: Any, **kwargs: Any) -> Answer:
        """See `Memory.recall`."""
        return await self._call(self.memory.recall, *args, **kwargs)

    async def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """See `Memory.explain`."""
        return await self._call(self.memory.explain, *args, **kwargs)

    async def history(self, *args: Any, **kwargs: Any) -> History:
        """See `Memory.history`."""
        return await self._call(self.memory.history, *args, **kwargs)

    async def belief(self, *args: Any, **kwargs: Any) -> Belief:
        """See `Memory.belief`."""
        return await self._call(self.memory.belief, *args, **kwargs)

    async def revoke(self, *args: Any, **kwargs: Any) -> Receipt:
        """See `Memory.revoke`."""
        return await self._call(self.memory.revoke, *args, **kwargs)

    async def feedback(self, *args: Any, **kwargs: Any) -> Receipt:
        """See `Memory.feedback`."""
        return await self._call(self.memory.feedback, *args, **kwargs)

    async def narrate(self, *args: Any, **kwargs: Any) -> Narrative:
        """See `Memory.narrate`."""
        return await self._call(self.memory.narrate, *args, **kwargs)

    async def reflect(self, *args: Any, **kwargs: Any) -> Reflection:
        """See `Memory.reflect`."""
        return await self._call(self.memory.reflect, *args, **kwargs)

    async def summary(self, *args: Any, **kwargs: Any) -> Summary:
        """See `Memory.summary`."""
        return await self._call(self.memory.summary, *args, **kwargs)

    async def refresh_summaries(self, *args: Any, **kwargs: Any) -> int:
        """See `Memory.refresh_summaries`."""
        return await self._call(self.memory.refresh_summaries, *args, **kwargs)

    async def profile(self, *args: Any, **kwargs: Any) -> Persona:
        """See `Memory.profile`."""
        return await self._call(self.memory.profile, *args, **kwargs)

    async def set_profile(self, *args: Any, **kwargs: Any) -> Persona:
        """See `Memory.set_profile`."""
        return await self._call(self.memory.set_profile, *args, **kwargs)

    async def merge(self, *args: Any, **kwargs: Any) -> MergeReport:
        """See `Memory.merge`."""
        return await self._call(self.memory.merge, *args, **kwargs)

    async def unmerge(self, *args: Any, **kwargs: Any) -> Receipt:
        """See `Memory.unmerge`."""
        return await self._call(self.memory.unmerge, *args, **kwargs)

    async def entities(self, *args: Any, **kwargs: Any) -> tuple[Listed, ...]:
        """See `Memory.entities`."""
        return await self._call(self.memory.entities, *args, **kwargs)

    async def merge_proposals(self, *args: Any, **kwargs: Any) -> tuple[Proposal, ...]:
        """See `Memory.merge_proposals`."""
        return await self._call(self.memory.merge_proposals, *args, **kwargs)

    async def calibrate(self, *args: Any, **kwargs: Any) -> Calibration:
        """See `Memory.calibrate`."""
        return await self._call(self.memory.calibrate, *args, **kwargs)

    async def forget(self, *args: Any, **kwargs: Any) -> ForgetReport:
        """See `Memory.forget`."""
        return await self._call(self.memory.forget, *args, **kwargs)

    async def run_job(self, *args: Any, **kwargs: Any) -> JobRun:
        """See `Memory.run_job`."""
        return await self._call(self.memory.run_job, *args, **kwargs)

    async def job_runs(self, *args: Any, **kwargs: Any) -> list[JobRun]:
        """See `Memory.job_runs`."""
        return await self._call(self.memory.job_runs, *args, **kwargs)

    async def value_of(self, *args: Any, **kwargs: Any) -> Worth:
        """See `Memory.value_of`."""
        return await self._call(self.memory.value_of, *args, **kwargs)

    async def budget(self, *args: Any, **kwargs: Any) -> BudgetReport:
        """See `Memory.budget`."""
        return await self._call(self.memory.budget, *args, **kwargs)

    async def learn_value(self, *args: Any, **kwargs: Any) -> LearnedValue:
        """See `Memory.learn_value`."""
        return await self._call(self.memory.learn_value, *args, **kwargs)

    async def stats(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """See `Memory.stats`."""
        return await self._call(self.memory.stats, *args, **kwargs)

    async def close(self) -> None:
        """See `Memory.close`."""
        await self._call(self.memory.close)
        self._pool.shutdown()

    async def __aenter__(self) -> "AsyncMemory":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, method: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: method(*args, **kwargs))
