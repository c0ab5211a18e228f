"""A stand-in for NebulaGraph's graphd: the real wire protocol on loopback, our statement shapes, over SQLite."""

import argparse
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from socket import AF_INET, SHUT_RDWR, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket

from graph_cluster import Cluster
from graph_faults import Asked, Fault, Faults
from graph_service import Service
from graph_sessions import Sessions
from nebula3.fbthrift.protocol.THeaderProtocol import THeaderProtocol
from nebula3.fbthrift.transport.THeaderTransport import THeaderTransport
from nebula3.fbthrift.transport.TSocket import TSocket
from nebula3.fbthrift.transport.TTransport import TBufferedTransport, TTransportException
from nebula3.graph.GraphService import Processor

HOST = "127.0.0.1"
IDLE_SECONDS = 28_800


class Graphd:
    """One graphd before a cluster. Its port, its cluster's data and its faults stay over stop and start."""

    def __init__(
        self,
        cluster: Cluster | None = None,
        *,
        port: int = 0,
        users: Mapping[str, str] | None = None,
        idle_seconds: float = IDLE_SECONDS,
        certificate: Path | None = None,
    ) -> None:
        """A free port unless told. With `users`, only they may log in; with a `certificate` (and key) only by TLS."""
        self.cluster = cluster or Cluster()
        self.port = port
        self.requests: list[Asked] = []
        self.faults = Faults()
        self.sessions = Sessions(lambda: self.cluster.catalog.now, users, idle_seconds)
        self._context = _context(certificate) if certificate else None
        self._listener: socket | None = None
        self._lines: set[_Line] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """Where clients come in, as host:port."""
        return f"{HOST}:{self.port}"

    @property
    def statements(self) -> list[str]:
        """The text of every request that came in a session, oldest first: one for each round trip."""
        return [request.text for request in self.requests]

    def fail_next(self, match: str, fault: Fault, *, times: int = 1, after: int = 0) -> None:
        """Let requests with `match` in their text fail: `times` of them, once `after` of them have passed."""
        self.faults.plan(match, fault, times=times, after=after)

    def start(self) -> "Graphd":
        """Listen, on the port of the last time."""
        self._listener = socket(AF_INET, SOCK_STREAM)
        self._listener.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        self._listener.bind((HOST, self.port))
        self._listener.listen(128)
        self.port = self._listener.getsockname()[1]
        self._run(self._accept, self._listener)
        return self

    def stop(self) -> None:
        """Die: refuse connections, close all that are open, forget every session. The cluster stays."""
        with self._lock:
            listener, self._listener = self._listener, None
            lines = list(self._lines)
        if listener is not None:
            _shut(listener)
        for line in lines:
            line.cut()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self.sessions.close_all()

    @contextmanager
    def down(self) -> Iterator[None]:
        """Be dead for a while: whoever connects is refused."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def _run(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def _accept(self, listener: socket) -> None:
        with closing(listener):
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                line = _Line(connection)
                with self._lock:
                    if self._listener is not listener:
                        line.cut()
                        line.close()
                        return
                    self._lines.add(line)
                    self._run(self._serve, line)

    def _serve(self, line: "_Line") -> None:
        """Answer one client until it leaves or is cut off."""
        try:
            if self._context:
                line.secure(self._context)
            service = Service(self.cluster, self.sessions, self.faults, self.requests, line)
            processor, protocol = Processor(service), line.protocol()
            while True:
                processor.process(protocol, protocol, None)
        except (TTransportException, OSError):
            return
        finally:
            with self._lock:
                self._lines.discard(line)
            line.close()


class _Line(TSocket):
    """One client's connection; once it is cut, nothing that is written reaches the client."""

    def __init__(self, connection: socket) -> None:
        super().__init__()
        self._connection = connection
        self._cut = False

    def secure(self, context: ssl.SSLContext) -> None:
        """Speak TLS from here on."""
        self._connection = context.wrap_socket(self._connection, server_side=True)

    def protocol(self) -> THeaderProtocol:
        """Thrift over this connection, as the client has it."""
        self.setHandle(self._connection)
        return THeaderProtocol(THeaderTransport(TBufferedTransport(self)))

    def write(self, buff: bytes) -> None:
        """Send, unless it is cut."""
        if not self._cut:
            super().write(buff)

    def cut(self) -> None:
        """End it from any thread, answer or no answer."""
        self._cut = True
        _shut(self._connection)

    def wait_until_left(self) -> None:
        """Wait until the client closes, or graphd dies; whatever is answered then is for nobody."""
        with suppress(OSError):
            while self._connection.recv(4096):
                pass
        self._cut = True

    def close(self) -> None:
        """Give the socket back."""
        super().close()
        self._connection.close()


def _shut(connection: socket) -> None:
    with suppress(OSError):
        connection.shutdown(SHUT_RDWR)


def _context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def during(command: list[str]) -> int:
    """Run a command while a stand-in runs, with `{nebula}` in it replaced by the URL of a space; its exit code."""
    graphd = Graphd().start()
    try:
        url = f"nebula://{graphd.address}/bench?heartbeat=0"
        return subprocess.run([part.replace("{nebula}", url) for part in command], check=False).returncode
    finally:
        graphd.stop()


def main() -> None:
    """Be a graphd that runs until Ctrl-C and keeps nothing."""
    if sys.argv[1:2] == ["--during"]:
        sys.exit(during(sys.argv[2:]))
    parser = argparse.ArgumentParser(
        description=main.__doc__, epilog="--during COMMAND runs a command while a stand-in runs, at {nebula}"
    )
    parser.add_argument("--port", type=int, default=9669, help="where it listens on 127.0.0.1 (9669)")
    graphd = Graphd(port=parser.parse_args().port).start()
    print(f"The stand-in for graphd listens on {graphd.address}; Ctrl-C ends it", flush=True)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    graphd.stop()


if __name__ == "__main__":
    main()
