"""What stands before several servers: each connection goes to the next one that takes it."""

import contextlib
import selectors
import socket
import socketserver
import threading
from collections.abc import Sequence
from itertools import count
from types import TracebackType

_BYTES = 65_536
_PATIENCE_SECONDS = 150.0


class Balancer:
    """Listens on loopback and hands connections on; `servers` may change at any time."""

    def __init__(self) -> None:
        self.servers: list[tuple[str, int]] = []
        balancer, turns = self, count()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                server = _first_that_takes(balancer.servers, next(turns))
                if server is not None:
                    with server, contextlib.suppress(OSError):
                        _join(self.request, server)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 512

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="balancer", daemon=True)

    @property
    def url(self) -> str:
        """Where clients come."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Balancer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _first_that_takes(servers: Sequence[tuple[str, int]], turn: int) -> socket.socket | None:
    """A connection to the server whose turn it is, or to the next one that takes it."""
    for step in range(len(servers)):
        with contextlib.suppress(OSError):
            return socket.create_connection(servers[(turn + step) % len(servers)], timeout=_PATIENCE_SECONDS)
    return None


def _join(client: socket.socket, server: socket.socket) -> None:
    """Carry bytes both ways until one side has closed; what breaks on one side breaks on the other."""
    with selectors.DefaultSelector() as ready:
        ready.register(client, selectors.EVENT_READ, server)
        ready.register(server, selectors.EVENT_READ, client)
        while True:
            for key, _ in ready.select(_PATIENCE_SECONDS) or ():
                data = key.fileobj.recv(_BYTES)  # type: ignore[union-attr]
                if not data:
                    return
                key.data.sendall(data)
