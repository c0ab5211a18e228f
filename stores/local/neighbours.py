"""Approximate nearest neighbours of a bank's vectors (usearch), grown in the background and kept in a file."""

import atexit
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray
from usearch.index import Index

from stores.local.row_table import Numbers
from stores.ports import Vectors

_PATIENCE_SECONDS = 0.05
_SAVE_EVERY = 5_000
_BREATH_SECONDS = 0.001
_GRACE_SECONDS = 0.25
_BUSY_SECONDS = 0.05
_BUSY_BREATH_SECONDS = 0.02


class Neighbours:
    """A graph over row numbers. It covers every row up to `top`; rows after it are for the caller to scan.

    Removed rows stay in it until it is made anew: a caller skips numbers that it does not know.
    """

    def __init__(self, dimensions: int) -> None:
        self._index: Any = Index(ndim=dimensions, metric="cos", dtype="f16")
        # usearch allows neither two searches nor a search beside an addition from the threads of Python
        self._lock = Lock()
        self.top = 0
        self._unsaved = 0

    def __len__(self) -> int:
        return len(self._index)

    @property
    def worth_saving(self) -> bool:
        """Whether enough was added since the last save; more the larger the file is."""
        return self._unsaved >= max(_SAVE_EVERY, len(self) // 10)

    @property
    def unsaved(self) -> bool:
        """Whether anything was added since the last save."""
        return self._unsaved > 0

    def add(self, numbers: Numbers, vectors: Vectors) -> None:
        """Add rows in the order of their numbers; those up to `top` are in it and are passed over."""
        with self._lock:
            new = numbers > self.top
            if new.any():
                self._index.add(numbers[new].astype(np.uint64), vectors[new].astype(np.float16), threads=1)
                self.top = int(numbers[-1])
                self._unsaved += int(np.count_nonzero(new))

    def search(self, vector: Vectors, count: int) -> Numbers | None:
        """Numbers of about the `count` nearest rows, or None where additions are in the way."""
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            return None
        try:
            keys: NDArray[np.uint64] = self._index.search(vector.astype(np.float16), count, threads=1).keys
        finally:
            self._lock.release()
        return keys.astype(np.int64)

    def save(self, path: Path) -> int:
        """Write the file and return its checksum."""
        draft = path.with_suffix(".draft")
        with self._lock:
            self._index.save(str(draft))
            self._unsaved = 0
            checksum = _checksum(draft)
            draft.replace(path)
        return checksum

    @classmethod
    def load(cls, path: Path, checksum: int | None, dimensions: int) -> "Neighbours":
        """Read a saved file; one that is missing, damaged or of another kind gives an empty graph."""
        loaded = cls(dimensions)
        if checksum is None or not path.exists() or _checksum(path) != checksum:
            return loaded
        index = Index.restore(str(path))
        if index is not None and index.ndim == dimensions and len(index):
            loaded._index = index
            loaded.top = int(index.keys[: len(index)].max())
        return loaded


class Grower:
    """A thread that calls `grow` whenever woken, until it says that nothing is left to do.

    `searched` tells when the last search came, by the monotonic clock: a step waits for longer while searches come,
    so that they have most of the machine, yet never for good, since what the graph lacks they must scan.
    """

    def __init__(self, grow: Callable[[], bool], searched: Callable[[], float]) -> None:
        self._grow = grow
        self._searched = searched
        self._stopped = Event()
        self._woken = Event()
        self._thread = Thread(target=self._run, name="beliefmesh-neighbours", daemon=True)
        self._thread.start()
        # A daemon thread inside a C library when the interpreter ends would abort the process.
        atexit.register(self.stop)

    def wake(self) -> None:
        """Say that there may be something to do."""
        self._woken.set()

    def stop(self) -> None:
        """End the thread after the step it is in."""
        self._stopped.set()
        self._woken.set()
        self._thread.join()
        atexit.unregister(self.stop)

    def _run(self) -> None:
        # A process that only writes something and ends need not wait for work that it has no use for.
        self._stopped.wait(_GRACE_SECONDS)
        while not self._stopped.is_set():
            self._woken.wait()
            self._woken.clear()
            while not self._stopped.is_set() and self._grow():
                busy = time.monotonic() - self._searched() < _BUSY_SECONDS
                self._stopped.wait(_BUSY_BREATH_SECONDS if busy else _BREATH_SECONDS)


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum
