"""A stand-in of an OpenAI-compatible chat endpoint on loopback, whose answers a test gives."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """One answer: `hangs` waits with it until the server stops, `type` is its content type."""

    body: bytes
    status: int = 200
    hangs: bool = False
    type: str = "application/json"


Answer = Callable[[dict[str, Any]], Reply]


def says(content: object, finish: str = "stop", refusal: str | None = None) -> Reply:
    """A well-formed answer with this content, as JSON unless it is text."""
    text = content if isinstance(content, str) else json.dumps(content)
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return Reply(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode())


class ChatServer:
    """The endpoint; `answer` may be replaced, `requests` are the bodies, `keys` the Authorization of each."""

    def __init__(self) -> None:
        self.answer: Answer = lambda _: says("hello")
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.most_at_once = 0
        self.ending = threading.Event()
        self._now = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server.counted(body, self.headers["Authorization"]):
                    reply = server.answer(body)
                    if reply.hangs:
                        server.ending.wait(30.0)
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", reply.type)
                    self.end_headers()
                    self.wfile.write(reply.body)
                except OSError:
                    pass  # the client has gone, which is what a hang is for

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/chat/completions#stub"

    @contextmanager
    def counted(self, body: dict[str, Any], key: str | None) -> Iterator[None]:
        with self._lock:
            self.requests.append(body)
            self.keys.append(key)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1

    def stop(self) -> None:
        self.ending.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A running stand-in."""
    server = ChatServer()
    try:
        yield server
    finally:
        server.stop()
