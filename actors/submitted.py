"""Work handed to a cluster as a command: where to hand it in, and what becomes of it."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from actors.placing import Resources
from schemas.errors import InvalidSetting

Heard = Callable[[str], None]
"""Takes what the command printed, piece by piece."""

_PORTS = {"http": 80, "https": 443}


class Submission(ABC):
    """A cluster that runs commands. Raises StoreUnavailable where it does not answer."""

    @abstractmethod
    def nodes(self) -> list[Resources]:
        """What each living node has in all."""

    @abstractmethod
    def submit(self, command: Sequence[str], resources: Resources) -> str:
        """Have a command run by a node that has these resources; returns the name under which it runs."""

    @abstractmethod
    def follow(self, name: str, heard: Heard) -> int:
        """Wait until it ends, telling what it prints; returns its exit code, 1 where it never got one."""


def place_of(address: str) -> tuple[str, int]:
    """Host and port of a job server's address. Raises InvalidSetting for what is no http(s)://host:port."""
    host, port = "", 0
    with suppress(ValueError):
        parts = urlsplit(address)
        if parts.scheme in _PORTS:
            host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if not host:
        raise InvalidSetting(f"address: {address!r:.80} is not http://host:8265, where a Ray cluster takes jobs")
    return host, port


def as_line(command: Sequence[str]) -> str:
    """A command as a shell reads it."""
    return shlex.join(command)
