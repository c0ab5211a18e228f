"""Milvus Lite in this process: one server a file, on loopback, shared by all who open the file here."""

from pathlib import Path
from threading import Lock, RLock
from typing import Any

from milvus_lite.adapter.grpc.server import start_server_in_thread
from milvus_lite.exceptions import DataDirLockedError, MilvusLiteError

from schemas.errors import FolderInUse, StoreUnavailable

_GRACE_SECONDS = 2.0
_servers: dict[Path, "LiteServer"] = {}
_opening = Lock()


class LiteServer:
    """A server of one file. `writing` is for its writers: Milvus Lite takes one at a time for a collection."""

    def __init__(self, path: Path) -> None:
        self.writing = RLock()
        self._path = path
        self._users = 0
        self._server: Any
        self._database: Any
        self._server, self._database, self.port = start_server_in_thread(str(path), "127.0.0.1", 0)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def use(self) -> "LiteServer":
        """Count one more user."""
        self._users += 1
        return self

    def release(self) -> None:
        """Count one user less; the last one stops the server and gives the file free."""
        with _opening:
            self._users -= 1
            if self._users:
                return
            _servers.pop(self._path, None)
            self._server.stop(grace=_GRACE_SECONDS).wait()
            self._database.close()


def lite_server(path: Path) -> LiteServer:
    """The server of a file, started where none runs here. Raises FolderInUse while another process has the file."""
    place = path.absolute()
    with _opening:
        running = _servers.get(place)
        if running is not None:
            return running.use()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            server = LiteServer(place)
        except DataDirLockedError as error:
            raise FolderInUse(f"{path}: another process has this index open; stop it first") from error
        except (MilvusLiteError, OSError, ValueError, RuntimeError) as error:
            raise StoreUnavailable(f"index {path}: Milvus Lite does not open it: {error}") from error
        _servers[place] = server
        return server.use()
