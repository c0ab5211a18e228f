"""Room for requests: so many are answered at once, some more wait their turn, and who waits too long is sent away."""

import asyncio
from collections import deque

from beliefmesh.http.meters import Meters

PATIENCE_SECONDS = 5.0
"""Nobody waits for longer: a caller that is told when to come again is better off."""


class Room:
    """Places for `size` requests, and for `most_waiting` who wait, first come first served; for the event loop."""

    def __init__(
        self, meters: Meters, size: int, most_waiting: int, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._meters = meters
        self._size = size
        self._most_waiting = most_waiting
        self._patience = patience_seconds
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> bool:
        """Take a place, at once or in turn; False where too many wait already, or none came free in time."""
        if self._meters.in_flight < self._size:
            self._meters.in_flight += 1
            return True
        if len(self._waiting) >= self._most_waiting:
            return False
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._meters.waiting = len(self._waiting)
        try:
            await asyncio.wait((turn,), timeout=self._patience)
        except asyncio.CancelledError:
            if turn.done():
                self.leave()  # the place came in the same moment
            raise
        finally:
            if not turn.done():
                self._waiting.remove(turn)
            self._meters.waiting = len(self._waiting)
        return turn.done()

    def leave(self) -> None:
        """Give a place up, to whoever has waited longest."""
        if self._waiting:
            self._waiting.popleft().set_result(None)
            self._meters.waiting = len(self._waiting)
        else:
            self._meters.in_flight -= 1

    def back(self) -> None:
        """Take a place again that was given up, without waiting: who is about to leave keeps nobody out."""
        self._meters.in_flight += 1
