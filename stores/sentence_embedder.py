"""Any model of sentence-transformers, on a GPU where torch sees one, for those who have installed the package."""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer

from schemas.errors import StoreUnavailable
from stores.embeddable import cleaned
from stores.ports import Vectors

_BATCH = 64


class SentenceEmbedder:
    """A model by its name or folder, loaded at once, used by one thread at a time.

    Questions and passages get the prompts that the model names for them. The package downloads a model that is not
    on this machine; a folder never needs the network.
    """

    def __init__(self, model: str) -> None:
        self.model_id = f"sentence-transformers/{model}"
        self._turn = Lock()
        try:
            self._model: Any = SentenceTransformer(model)
            self.dimensions: int = self._encode(self._model.encode_query, ["dimensions"]).shape[1]
        except (OSError, ValueError, RuntimeError) as error:
            raise StoreUnavailable(f"embedder {self.model_id} does not load: {error}") from error

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched, shape (texts, dimensions)."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return self._encode(self._model.encode_document, texts)

    def query(self, text: str) -> Vectors:
        """The vector of a question, shape (dimensions,)."""
        vector: Vectors = self._encode(self._model.encode_query, [text])[0]
        return vector

    def _encode(self, encode: Any, texts: Sequence[str]) -> Vectors:
        readable = [cleaned(text) for text in texts]
        with self._turn:
            try:
                vectors = encode(readable, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)
            except (RuntimeError, ValueError) as error:
                raise StoreUnavailable(f"embedder {self.model_id} failed: {error}") from error
        return np.asarray(vectors, np.float32)
