"""How many calls may still be made this hour, and whether an endpoint that failed is left alone for now."""

from collections import deque
from collections.abc import Callable
from threading import Lock

from schemas.errors import ModelFailed

_HOUR = 3_600.0
REST_SECONDS = 30.0


class Allowance:
    """At most `per_hour` calls in any hour (0: no bound), and none while the endpoint rests; for several threads."""

    def __init__(self, per_hour: int, now: Callable[[], float]) -> None:
        self._per_hour = per_hour
        self._now = now
        self._lock = Lock()
        self._calls: deque[float] = deque()
        self._rests_until = float("-inf")

    def take(self) -> None:
        """Count one call. Raises ModelFailed where there is none to be had."""
        with self._lock:
            moment = self._now()
            if moment < self._rests_until:
                raise ModelFailed("resting", "the endpoint failed a moment ago and is left alone for half a minute")
            if not self._per_hour:
                return
            while self._calls and self._calls[0] <= moment - _HOUR:
                self._calls.popleft()
            if len(self._calls) >= self._per_hour:
                raise ModelFailed("budget", f"{self._per_hour} calls were made within the hour (llm.calls_per_hour)")
            self._calls.append(moment)

    def rest(self) -> None:
        """Leave the endpoint alone for a while."""
        with self._lock:
            self._rests_until = self._now() + REST_SECONDS
