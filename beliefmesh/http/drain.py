"""Whether this process is on its way out: what lasts ends then, and new requests go elsewhere."""

import asyncio


class Drain:
    """Begins once; used from the event loop only."""

    def __init__(self) -> None:
        self._begun = asyncio.Event()

    @property
    def begun(self) -> bool:
        """Whether the process is to end."""
        return self._begun.is_set()

    def begin(self) -> None:
        """Let what lasts end."""
        self._begun.set()

    async def within(self, seconds: float) -> bool:
        """Wait for the end of the process, at most so long; whether it has come."""
        try:
            await asyncio.wait_for(self._begun.wait(), seconds)
        except TimeoutError:
            return False
        return True
