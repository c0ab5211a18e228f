"""The vectors of questions that were asked lately, so that one that comes again is not embedded again."""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock

from stores.ports import Embedder, Vectors

MOST_KEPT = 2_048
"""Of 384 dimensions about 4 MB; the one asked longest ago goes first."""


class AskedBefore:
    """An `Embedder` that remembers what `query` gave, without the words; for several threads.

    `counts` tells of questions whose vectors were kept and not.
    """

    def __init__(self, embedder: Embedder, most: int = MOST_KEPT) -> None:
        self.model_id = embedder.model_id
        self.dimensions = embedder.dimensions
        self.counts: Counter[str] = Counter()
        self._embedder = embedder
        self._most = most
        self._turn = Lock()
        self._kept: dict[bytes, Vectors] = {}

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched, shape (texts, dimensions)."""
        return self._embedder.passages(texts)

    def query(self, text: str) -> Vectors:
        """The vector of a question, shape (dimensions,); not to be written to."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._turn:
            vector = self._kept.pop(key, None)
            if vector is not None:
                self._kept[key] = vector
            self.counts["cache.questions.miss" if vector is None else "cache.questions.hit"] += 1
        return self._asked(key, text) if vector is None else vector

    def _asked(self, key: bytes, text: str) -> Vectors:
        vector = self._embedder.query(text)
        vector.setflags(write=False)
        with self._turn:
            self._kept[key] = vector
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return vector
