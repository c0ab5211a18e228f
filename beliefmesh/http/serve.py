"""Serves a memory over HTTP until it is told to stop, and says in the folder where."""

import contextlib
import signal
import socket
from collections.abc import Callable

import uvicorn

from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from beliefmesh.settings import LOOPBACK, HttpSettings
from schemas.errors import InvalidSetting

_DRAIN_SECONDS = 10


def listen(http: HttpSettings) -> socket.socket:
    """Take the address; what arrives waits until `serve`. Done first, so that a taken port is told before the work.

    Raises InvalidSetting for an address that cannot be bound, or that others can reach without the setting for it.
    """
    if http.host not in LOOPBACK and not http.expose_without_authentication:
        raise InvalidSetting(
            f"http.host: {http.host} can be reached by others, and there is no authentication yet; use 127.0.0.1, "
            "or set http.expose_without_authentication if something before it decides who may ask"
        )
    family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
    try:
        return socket.create_server((http.host, http.port), family=family)
    except (OSError, ValueError, TypeError) as error:  # the latter for what cannot be a host's name
        where = f"{http.host}:{http.port}"
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidSetting(f"http.port: cannot serve at {where} ({reason}); choose another with --port") from error


def serve(memory: Memory, listener: socket.socket, told: Callable[[str], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; `told` hears the address.

    What is in flight is finished, within ten seconds; a second SIGINT does not wait.
    """
    host, port = listener.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
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
