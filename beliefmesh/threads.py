"""What stands behind an object whose methods are awaited: each call runs in a thread, so many at a time."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from schemas.limits import check_number

THREADS = 8
"""So many calls run at a time, unless another number is given."""

_MOST_THREADS = 1_000

Held = TypeVar("Held")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def awaited(
    method: Callable[Concatenate[Held, Parameters], Result],
) -> Callable[Concatenate["Threaded", Parameters], Coroutine[Any, Any, Result]]:
    """A method to await; what is held decides whose method of that name runs."""

    @wraps(method)
    async def in_thread(self: "Threaded", /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        called: Callable[..., Result] = getattr(self._held, method.__name__)
        return await self._in_thread(partial(called, *args, **kwargs))

    return in_thread


class Threaded:
    """Holds an object for several threads, and runs its methods in at most `at_once` of its own; the others wait."""

    def __init__(self, held: object, at_once: int) -> None:
        self._held = held
        self._pool = ThreadPoolExecutor(check_threads(at_once), thread_name_prefix="memory")

    async def close(self) -> None:
        """Finish what is in hand and give up what is held."""
        self._pool.shutdown()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _in_thread(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)


def check_threads(at_once: int) -> int:
    """Accept how many calls may run at a time. Raises InvalidInput."""
    return int(check_number(at_once, "at_once", 1, _MOST_THREADS))
