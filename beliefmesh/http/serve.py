"""Serves a memory over HTTP until it is told to stop, saying in the folder where; or its health beside other work."""

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import uvicorn

from beliefmesh.http.app import create_app, create_health_app
from beliefmesh.memory import Memory
from beliefmesh.settings import LOOPBACK, HttpSettings
from schemas.errors import InvalidSetting

_DRAIN_SECONDS = 10
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


def serve(memory: Memory, listener: socket.socket, told: Callable[[str], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; `told` hears the address.

    What is in flight is finished, within ten seconds; a second SIGINT does not wait.
    """
    address = address_of(listener)
    config = uvicorn.Config(
        create_app(memory, memory.home.settings),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
    # uvicorn raises the signal again once it has shut down; as KeyboardInterrupt it ends here, not the process.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    memory.home.start()
    memory.home.folder.announce(address)
    told(address)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        memory.home.folder.announce("")
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def health_served(memory: Memory, listener: socket.socket) -> Iterator[None]:
    """Answer for the health of a memory, in a thread, while the block lasts; signals stay the main thread's."""
    config = uvicorn.Config(
        create_health_app(memory),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_HEALTH_DRAIN_SECONDS,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), name="health", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def address_of(listener: socket.socket) -> str:
    """The URL at which a socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
