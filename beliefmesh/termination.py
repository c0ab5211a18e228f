"""How a process that runs until it is told ends: the first signal asks it to finish, the second does not wait."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHELL = 128
"""A process that a signal ended exits with this and the signal's number, as shells have it."""


@contextmanager
def termination() -> Iterator[threading.Event]:
    """An event that SIGINT or SIGTERM sets; a second signal, whatever is going on, ends the process at once.

    For the main thread. What the process was doing before the block is restored after it.
    """
    asked = threading.Event()

    def heard(number: int, _: FrameType | None) -> None:
        if asked.is_set():
            os._exit(SHELL + number)
        asked.set()

    before = {number: signal.signal(number, heard) for number in _SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
