"""What a process takes of the machine, with all that it started."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM = 1, 11, 12
"""Places in `stat`, after the name of the command."""


class Resident(NamedTuple):
    """Resident memory, in MB unless said otherwise: anonymous or shared, and of files, which may be taken back."""

    anonymous: float
    files: float


def memory_of(root: int) -> Resident:
    """Memory of a process and its descendants; what they share counts for each."""
    found = [_resident(process) for process in _family(root)]
    return Resident(*(sum(kilobytes) / 1024 for kilobytes in zip(*found, strict=True)))


def cpu_seconds(root: int) -> float:
    """Time on a core that they have taken, of those that are alive."""
    return sum(sum(map(int, stat[_USER : _SYSTEM + 1])) for stat in map(_stat, _family(root)) if stat) / _TICKS


def _family(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for process in _everybody():
        stat = _stat(process)
        if stat:
            children.setdefault(int(stat[_PARENT]), []).append(process)
    family = [root]
    for process in family:
        family += children.get(process, ())
    return family


def _everybody() -> Iterator[int]:
    return (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())


def _stat(process: int) -> list[str]:
    """Nothing for one that has ended."""
    try:
        return (_PROC / f"{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _resident(process: int) -> tuple[int, int]:
    """KB of anonymous and shared memory, and of files."""
    try:
        status = (_PROC / f"{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0, 0
    found = dict.fromkeys(("RssAnon", "RssShmem", "RssFile"), 0)
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name in found:
            found[name] = int(value.split()[0])
    return found["RssAnon"] + found["RssShmem"], found["RssFile"]
