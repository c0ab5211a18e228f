"""Where an evaluation keeps its memory: a folder that is thrown away, or one that is named and kept."""

import gc
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings

Report = Callable[[str], None]
"""Takes a line about how far an evaluation has come."""

NO_EMBEDDER = "none:"
IN_FOLDER = StoreSettings()


@contextmanager
def memory_in(
    folder: Path | None, bank: str, embedder: str | None = None, stores: StoreSettings = IN_FOLDER
) -> Iterator[Memory]:
    """An inline memory with default settings, whatever the environment says; `folder` None is a temporary one.

    `stores` names others than the folder's; on another log its topics get a prefix of their own.
    """
    if embedder is not None:
        stores = msgspec.structs.replace(stores, embedder=embedder)
    streams = StreamSettings(prefix=f"eval-{secrets.token_hex(4)}-" if stores.log else "")
    with tempfile.TemporaryDirectory(prefix="beliefmesh-eval-") as passing:
        chosen = Path(passing) if folder is None else folder
        settings = Settings(mesh=MeshSettings(folder=str(chosen), runtime="inline"), stores=stores, streams=streams)
        with Memory(bank=bank, settings=settings) as memory:
            gc.freeze()  # as a command does (beliefmesh/cli/session.py)
            yield memory
