"""Real stores behind a door that fails on request: one call of one method, before it, after it, or long after it."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from schemas.errors import BeliefmeshError, StoreUnavailable


class Moment(Enum):
    """When a call fails, and whether it has its effect."""

    BEFORE = "before it has an effect"
    AFTER = "after it had its effect"
    LATE = "the caller has given up, and before the store's next call it has its effect all the same"


@dataclass(frozen=True)
class Fault:
    """The call that fails: the `number`th, from 0, of a method of a port."""

    port: str
    method: str
    moment: Moment
    number: int = 0


def methods_of(port: type) -> list[str]:
    """Every method of a port, read from its protocol, so that a new one is there by itself."""
    return [name for name, member in vars(port).items() if callable(member) and not name.startswith("_")]


class Door:
    """Counts the calls of stores and lets the planned one fail.

    After `left` more calls all of them fail, and have no effect, as in a process that died.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.fault = fault
        self.struck = False
        self.left: int | None = None
        self._late: list[tuple[str, Callable[[], object]]] = []

    def before(self, port: str, store: Any) -> Any:
        """The store behind this door."""
        return _Behind(self, port, store)

    def call(self, port: str, method: str, run: Callable[[], Any]) -> Any:
        """Make a call, after what is late of the same store; raises StoreUnavailable where it is to fail."""
        self.settle(port)
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise StoreUnavailable("nothing is written any more")
        number = self.calls[port, method]
        self.calls[port, method] += 1
        fault = self.fault
        if fault is None or (fault.port, fault.method, fault.number) != (port, method, number):
            return run()
        self.struck = True
        if fault.moment is Moment.AFTER:
            run()
        if fault.moment is Moment.LATE:
            self._late.append((port, run))
        raise StoreUnavailable(f"{port}.{method} failed {fault.moment.value}")

    def settle(self, port: str) -> None:
        """Let what is late of a store have its effect; what it answers is for nobody."""
        waiting, self._late = self._late, []
        for whose, run in waiting:
            if whose != port:
                self._late.append((whose, run))
                continue
            try:
                run()
            except BeliefmeshError:
                continue


class _Behind:
    def __init__(self, door: Door, port: str, store: Any) -> None:
        self._door = door
        self._port = port
        self._store = store

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._store, name)
        if not callable(member) or name.startswith("_") or name == "close":
            return member
        return lambda *given, **named: self._door.call(self._port, name, lambda: member(*given, **named))


_HERE = Path(__file__).parent


def mended(folder: Path, urls: tuple[str, str], calls: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run `doctor --fix` in a process of its own, killed (-9) instead of call number `calls`; it prints how many."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_HERE), str(_HERE.parents[1])])}
    command = [sys.executable, str(_HERE / "mender.py"), str(folder), *urls, *([] if calls is None else [str(calls)])]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
