"""Ends a process whose shared actors are gone for good, so that whoever runs it starts it anew."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from actors.mesh import Mesh
from actors.shared import JoinedMesh
from schemas.errors import StoreUnavailable

LOOK_SECONDS = 5.0
MISSES = 6
"""So many looks in a row without an answer, half a minute, and the cluster counts as gone."""


def ended_when_lost(mesh: Mesh) -> AbstractContextManager[None]:
    """Watches the cluster whose actors a mesh shares while the block lasts; nothing to do where it has its own."""
    return watched(mesh.answers, mesh.address) if isinstance(mesh, JoinedMesh) else nullcontext()


@contextmanager
def watched(answers: Callable[[], bool], address: str, look: float = LOOK_SECONDS) -> Iterator[None]:
    """Give this process SIGTERM once a cluster has not answered for long, to end as it is used to.

    Ray lets no process join another cluster. Raises StoreUnavailable on leaving the block for this reason.
    """
    over, lost = threading.Event(), threading.Event()

    def watch() -> None:
        missed = 0
        while missed < MISSES and not over.wait(look):
            missed = 0 if answers() else missed + 1
        if missed == MISSES:
            lost.set()
            os.kill(os.getpid(), signal.SIGTERM)

    watching = threading.Thread(target=watch, name="attached", daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
    if lost.is_set():
        raise StoreUnavailable(f"the Ray cluster at {address} is gone; start this process again")
