"""Rebuilds the memory of a folder into a space and ends, without a word, after so many batches: a process that dies."""

import os
import signal
import sys

from beliefmesh.home import Home
from beliefmesh.rebuild import rebuild
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings

MOMENT = 1_718_020_800_000_000


def main(folder: str, space: str, batches: str) -> None:
    """Each batch, of one record a partition, is reported once; at the last one this process kills itself."""
    left = int(batches)

    def moved(done: int, total: int) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    settings = Settings(
        mesh=MeshSettings(folder=folder, runtime="inline"),
        stores=StoreSettings(embedder="hashing:256"),
        streams=StreamSettings(batch=1),
    )
    rebuild(Home(settings, lambda: MOMENT), space, moved)


if __name__ == "__main__":
    main(*sys.argv[1:])
