"""A process that is told to stop: it says so at once, goes on for a while if it is to, and finishes what is in hand."""

import time
from collections.abc import Callable


class Ending:
    """Whether, and since when, this process was asked to stop; set from a signal, so without a lock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked_at: float | None = None

    @property
    def asked(self) -> bool:
        """Whether it was told to stop; it is not ready any more from then on."""
        return self._asked_at is not None

    def ask(self) -> None:
        """Tell it to stop; later calls change nothing."""
        if self._asked_at is None:
            self._asked_at = self._clock()

    def due(self, delay: float) -> bool:
        """Whether it was asked, and so many seconds have gone by since."""
        return self._asked_at is not None and self._clock() - self._asked_at >= delay
