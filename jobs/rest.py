"""When a job leaves the machine to the stream: while observations come in, it rests after each page."""

import time
from collections.abc import Callable

_TIMES = 4.0
"""How many times as long as a page took a job rests after it, so that it has a fifth of the time at most."""
_LOOK_SECONDS = 0.05
_STILL = 3
"""So many looks in a row without anything having come in end a rest."""


class Rest:
    """Rests between pages while a counter of what came in grows, or some of it is in hand.

    `enough` ends a rest at once.
    """

    def __init__(
        self,
        came: Callable[[], int],
        in_hand: Callable[[], bool],
        enough: Callable[[], bool],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._came = came
        self._in_hand = in_hand
        self._enough = enough
        self._sleep = sleep
        self._seen = came()

    def __call__(self, seconds: float) -> float:
        """Rest after a page that took some seconds, if anything came in meanwhile; returns for how long."""
        rested, still = 0.0, 0
        if not self._moved():
            return rested
        while rested < _TIMES * seconds and still < _STILL and not self._enough():
            nap = min(_LOOK_SECONDS, _TIMES * seconds - rested)
            self._sleep(nap)
            rested += nap
            still = 0 if self._moved() else still + 1
        return rested

    def _moved(self) -> bool:
        seen, self._seen = self._seen, self._came()
        return self._seen != seen or self._in_hand()
