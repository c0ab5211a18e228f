"""Imports a file of observations into a folder and says on standard output how far it is: a process to be killed."""

import sys
from collections.abc import Iterator
from pathlib import Path

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings

BATCH = 250
MOMENT = 1_718_020_800_000_000


def main(folder: str, file: str) -> None:
    """Import line by line; each chunk is drained before the next is read."""
    settings = Settings(
        mesh=MeshSettings(folder=folder, runtime="inline"),
        stores=StoreSettings(embedder="none:"),
        streams=StreamSettings(batch=BATCH),
    )
    with Memory(settings=settings, clock=lambda: MOMENT) as memory:
        print("open", flush=True)
        memory.import_lines(_told(Path(file)))
        print("done", flush=True)


def _told(file: Path) -> Iterator[bytes]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines):
            if number % BATCH == 0:
                print("read", number, flush=True)
            yield line


if __name__ == "__main__":
    main(*sys.argv[1:])
