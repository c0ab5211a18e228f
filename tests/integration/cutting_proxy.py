"""A proxy on loopback that fails as networks do: requests meet what the plan says, and pass once it is used up."""

import http.client
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = str
"""`before`: cut before the mesh hears of it; `after`: the mesh did it, its reply is lost; `half`: half a reply comes;
`busy` and `away`: 429 and 503 that say to come at once; `gateway`: 502 of a proxy."""

_TOLD = {"busy": (429, b"0"), "away": (503, b"0"), "gateway": (502, None)}


class CuttingProxy(ThreadingHTTPServer):
    """Stands before a mesh at `upstream`; `seen` has the method, path and key of each request that came."""

    daemon_threads = True

    def __init__(self, upstream: str, plan: list[Step]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream.removeprefix("http://")
        self.plan = iter(plan)
        self.seen: list[tuple[str, str, str | None]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: CuttingProxy

    def do_GET(self) -> None:
        self._meet()

    def do_POST(self) -> None:
        self._meet()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _meet(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, self.headers.get("Idempotency-Key")))
        step = next(self.server.plan, "pass")
        if step == "before":
            self._cut()
            return
        if step in _TOLD:
            status, again = _TOLD[step]
            self._answer(status, b"", {"Retry-After": again.decode()} if again else {})
            return
        status, data, kind = self._forwarded(body)
        if step == "after":
            self._cut()
            return
        self._answer(status, data, {"Content-Type": kind}, len(data) // 2 if step == "half" else None)

    def _forwarded(self, body: bytes) -> tuple[int, bytes, str]:
        upstream = http.client.HTTPConnection(self.server.upstream, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name != "Host"}
        upstream.request(self.command, self.path, body or None, headers)
        response = upstream.getresponse()
        data = response.read()
        upstream.close()
        return response.status, data, response.headers.get("Content-Type", "")

    def _answer(self, status: int, data: bytes, headers: dict[str, str], up_to: int | None = None) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[:up_to])
        self.close_connection = True

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
