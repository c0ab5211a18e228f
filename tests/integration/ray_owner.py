"""Runs a mesh on a Ray of its own and checks from outside what that Ray listens on and leaves behind."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings

LISTENS = "0A"
LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")
"""127.0.0.1 as the kernel prints it, alone and within IPv6, and ::1."""


def main(folder: str) -> None:
    """Tell, ask, look, close, look again."""
    settings = Settings(
        mesh=MeshSettings(folder=folder, runtime="ray", shards=1), stores=StoreSettings(embedder="none:")
    )
    with Memory(settings=settings, clock=lambda: 1_718_020_800_000_000) as memory:
        memory.retain({"entity": "door", "agent": "ann", "claims": [{"attribute": "colour", "value": "red"}]})
        (found,) = memory.recall("colour of the door").found
        family = [os.getpid(), *descendants(os.getpid())]
        addresses = {address for process in family for address in listening(process)}
        assert len(family) > 3, family
        assert addresses, "Ray listens nowhere, so this looks in the wrong place"
        assert addresses <= set(LOOPBACK), addresses
    deadline = time.monotonic() + 30
    while (left := list(descendants(os.getpid()))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, left
    print(found.belief.value)


def descendants(process: int) -> Iterator[int]:
    """Every living process that this one started, and those that they started."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            yield int(child)
            yield from descendants(int(child))


def listening(process: int) -> Iterator[str]:
    """The addresses at which a process accepts TCP connections."""
    own = {os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir() if link.is_symlink()}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
            if state == LISTENS and f"socket:[{inode}]" in own:
                yield local.split(":")[0]


if __name__ == "__main__":
    main(*sys.argv[1:])
