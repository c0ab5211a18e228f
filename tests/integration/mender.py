"""A process that repairs a folder with `doctor --fix`, and kills itself instead of a certain call of a store."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from store_faults import Door
from test_store_faults import NOON, behind, settings_in

from beliefmesh.memory import Memory


class Deadly(Door):
    """Counts calls, and lets the process die without a word instead of one."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.made = 0
        self._calls = calls

    def call(self, port: str, method: str, run: Callable[[], Any]) -> Any:
        """Make the call, or die."""
        if self.made == self._calls:
            os.kill(os.getpid(), signal.SIGKILL)
        self.made += 1
        return run()


def main(folder: str, graph: str, index: str, calls: str = "-1") -> None:
    """Repair, and print how many calls that took."""
    door = Deadly(int(calls))
    with pytest.MonkeyPatch.context() as monkeypatch:
        behind(door, monkeypatch)
        with Memory(settings=settings_in(Path(folder), (graph, index)), clock=lambda: NOON) as memory:
            memory.doctor(fix=True)
    print(door.made)


if __name__ == "__main__":
    main(*sys.argv[1:])
