"""Memories in a temporary folder, with a clock that tests set and an embedder that needs no model."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from chat_server import ChatServer, chat_server, says

from actors.kept import SHARD_CACHE_MB
from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from beliefmesh.sample import sample_path
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings
from schemas.instant import Instant, parse_instant
from stores.language.options import LanguageOptions

OpenMemory = Callable[..., Memory]


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, at: str = "2024-06-10T12:00:00Z") -> None:
        self.now: Instant = parse_instant(at, "at")

    def __call__(self) -> Instant:
        return self.now

    def set(self, at: str) -> None:
        """Make it another time."""
        self.now = parse_instant(at, "at")


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[OpenMemory]:
    """Open a memory in a folder of this test; all are closed after it. `at` fixes the clock, `clock` replaces it."""
    opened: list[Memory] = []

    def open_it(
        folder: str = "mesh",
        *,
        at: str = "2024-06-10T12:00:00Z",
        clock: Callable[[], Instant] | None = None,
        embedder: str = "hashing:256",
        batch: int = 1_000,
        runtime: str = "inline",
        shards: int = 2,
        bank: str = "default",
        shard_cache_mb: int = SHARD_CACHE_MB,
    ) -> Memory:
        settings = Settings(
            mesh=MeshSettings(
                folder=str(tmp_path / folder),
                runtime=runtime,  # type: ignore[arg-type]
                shards=shards,
                shard_cache_mb=shard_cache_mb,
                bank=bank,
            ),
            stores=StoreSettings(embedder=embedder),
            streams=StreamSettings(batch=batch),
        )
        memory = Memory(settings=settings, clock=clock or Clock(at))
        opened.append(memory)
        return memory

    yield open_it
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """A memory at 2024-06-10."""
    return open_memory()


@pytest.fixture
def clock() -> Clock:
    """A clock at noon of 2024-06-10."""
    return Clock()


@pytest.fixture(scope="session")
def sample_lines() -> list[bytes]:
    """The bundled sample, one observation a line."""
    return sample_path().read_bytes().splitlines()


@pytest.fixture
def url(memory: Memory) -> Iterator[str]:
    """Where the memory is served, on a free port from a thread."""
    server = uvicorn.Server(uvicorn.Config(create_app(memory, memory.home.settings), log_config=None))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture
def endpoint() -> Iterator[ChatServer]:
    """A stand-in of a language model's endpoint."""
    with chat_server() as server:
        yield server


@pytest.fixture
def model_memory(endpoint: ChatServer, tmp_path: Path) -> Iterator[Memory]:
    """An empty memory with a language model, which has nothing to say until a test lets it."""
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "spoken"), runtime="inline"),
        stores=StoreSettings(embedder="hashing:256"),
        llm=LanguageOptions(url=endpoint.url, retries=0),
    )
    endpoint.answer = lambda _: says({"claims": []})
    with Memory(settings=settings) as opened:
        yield opened
