"""Serves a memory over HTTP until it is told to stop, saying in the folder where; or its health beside other work."""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn

from beliefmesh.ending import Ending
from beliefmesh.http.app import create_app, create_health_app
from beliefmesh.http.drain import Drain
from beliefmesh.memory import Memory
from beliefmesh.settings import LOOPBACK, HttpSettings
from beliefmesh.termination import SHELL
from schemas.errors import InvalidSetting

_HEALTH_DRAIN_SECONDS = 1


def listen(
    http: HttpSettings, port: int | None = None, setting: str = "http.port", *, guarded: bool = False
) -> socket.socket:
    """Take the address; what arrives waits until `serve`. Done first, so that a taken port is told before the work.

    `port` takes the place of the settings' one, and `setting` is where it comes from. Raises InvalidSetting for an
    address that cannot be bound, or that others can reach while nothing is `guarded` by authentication, without the
    setting for it.
    """
    wanted = http.port if port is None else port
    if http.host not in LOOPBACK and not guarded and not http.expose_without_authentication:
        raise InvalidSetting(
            f"http.host: {http.host} can be reached by others, and nobody has to say who they are; make a key with "
            "`beliefmesh keys create`, set access.jwks or access.jwt_secret, or use 127.0.0.1; if something before it "
            "decides who may ask, set http.expose_without_authentication"
        )
    family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
    try:
        return socket.create_server((http.host, wanted), family=family)
    except (OSError, ValueError, TypeError) as error:  # the latter for what cannot be a host's name
        where = f"{http.host}:{wanted}"
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidSetting(f"{setting}: cannot serve at {where} ({reason}); choose another with --port") from error


class _Server(uvicorn.Server):
    """A server that says by its readiness that it stops, goes on for a while, then finishes what is in flight.

    `cut_off` says that not all of it was finished in time. A second signal ends the process at once.
    """

    def __init__(self, config: uvicorn.Config, ending: Ending, drain: Drain, delay: float) -> None:
        super().__init__(config)
        self.cut_off = False
        self._ending = ending
        self._drain = drain
        self._delay = delay

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the server's signature)
        """Begin to stop; the second time, end."""
        if self._ending.asked:
            os._exit(SHELL + sig)
        self._ending.ask()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to shut down now."""
        if self._ending.due(self._delay):
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take nothing new, let streams end, and finish what is in flight within `http.drain_timeout`."""
        began = time.monotonic()
        self._drain.begin()
        await super().shutdown(sockets)
        self.cut_off = time.monotonic() - began >= (self.config.timeout_graceful_shutdown or 0)


def serve(memory: Memory, listener: socket.socket, told: Callable[[str], None]) -> bool:
    """Answer requests until SIGINT or SIGTERM; `told` hears the address. False if requests were cut off at the end.

    The first signal turns readiness to 503 at once; after `http.stop_delay` nothing new is taken, and what is in
    flight is finished within `http.drain_timeout`. A second signal does not wait.
    """
    address = address_of(listener)
    http = memory.home.settings.http
    app = create_app(memory, memory.home.settings)
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=http.drain_timeout)
    server = _Server(config, app.state.ending, app.state.drain, http.stop_delay)
    # A signal that comes before the server hears of signals ends here, not the process.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    memory.home.start()
    memory.home.folder.announce(address)
    told(address)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    finally:
        memory.home.folder.announce("")
        signal.signal(signal.SIGTERM, before)
    return not server.cut_off


@contextlib.contextmanager
def health_served(memory: Memory, listener: socket.socket) -> Iterator[Ending]:
    """Answer for the health of a memory, in a thread, while the block lasts; signals stay the main thread's.

    Who asks the ending that this gives turns readiness to 503.
    """
    app = create_health_app(memory)
    ending: Ending = app.state.ending
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_HEALTH_DRAIN_SECONDS,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), name="health", daemon=True)
    thread.start()
    try:
        yield ending
    finally:
        server.should_exit = True
        thread.join()


def address_of(listener: socket.socket) -> str:
    """The URL at which a socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
