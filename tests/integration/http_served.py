"""A memory served on a free port from a thread, for tests of the API."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from beliefmesh.settings import HttpSettings, MeshSettings, Settings, StoreSettings


def settings_in(folder: Path, **more: Any) -> Settings:
    """Settings of a mesh in a folder, in this process, with an embedder that needs no model."""
    http = more.pop("http", HttpSettings(max_body_mb=1))
    mesh = MeshSettings(folder=str(folder), runtime="inline")
    return Settings(mesh=mesh, stores=StoreSettings(embedder="hashing:256"), http=http, **more)


HIDDEN = [("POST", "/v1/banks/{bank}/refused")]
"""What the document does not tell of."""


def routes_of(app: FastAPI, bank: str = "acme", name: str = "x") -> list[tuple[str, str]]:
    """Every route of the API: method and path, with a bank, and a name in place of every other one."""
    told = [(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods]
    found = []
    for method, path in [*told, *HIDDEN]:
        if path.startswith("/v1"):
            filled = path.replace("{bank}", bank)
            while "{" in filled:
                filled = filled[: filled.index("{")] + name + filled[filled.index("}") + 1 :]
            found.append((method, filled))
    assert len(found) > 40, "the document has lost routes"
    return found


@contextmanager
def served(app: FastAPI) -> Iterator[httpx.Client]:
    """A client of an application on a free port."""
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def opened(settings: Settings, **more: Any) -> Iterator[tuple[Memory, httpx.Client]]:
    """A memory and a client of it."""
    with Memory(settings=settings, **more) as memory, served(create_app(memory, settings)) as client:
        yield memory, client
