"""How processes share actors: what a joined mesh can do, the names of the actors, whether a cluster answers."""

import socket
import time
from abc import abstractmethod
from threading import Lock
from typing import Any, NamedTuple

from actors.mesh import Mesh
from schemas.errors import InvalidSetting, StoreUnavailable
from schemas.identity import digest
from stores.ports import StoreUrls

AUTO = "auto"
_CONNECT_SECONDS = 2.0
_LOOK_EVERY_SECONDS = 1.0


class Crew(NamedTuple):
    """The handles of a mesh's actors."""

    extractors: list[Any]
    shards: list[Any]
    search: Any

    def everybody(self) -> list[Any]:
        """Every handle, the shards' first."""
        return [*self.shards, *self.extractors, self.search]


class Placement(NamedTuple):
    """Where on a cluster the actors run: on nodes that have a custom resource, if one is named.

    The search actor, which embeds, takes this share of one GPU, so it runs where there is one.
    """

    resource: str = ""
    gpus: float = 0.0


ANYWHERE = Placement()


class JoinedMesh(Mesh):
    """A mesh whose actors other processes ask as well; `address` is where they join. `close` leaves the actors."""

    address: str

    @abstractmethod
    def processes(self) -> list[int]:
        """The process id of each actor, the shards' first and in order; waits for those that are starting."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether the cluster answers; asks at most once a second."""

    @abstractmethod
    def end(self) -> None:
        """End the actors for everybody, and what this mesh started to run them."""


class Pulse:
    """Whether a Ray cluster answers at host:port; looked up at most once a second, for several threads."""

    def __init__(self, address: str) -> None:
        self._address = address
        host, _, port = address.rpartition(":")
        self._place = (host.strip("[]"), int(port))
        self._lock = Lock()
        self._looked = float("-inf")
        self._answered = False

    def beats(self) -> bool:
        """Whether it answered, now or within the last second."""
        with self._lock:
            if time.monotonic() - self._looked >= _LOOK_EVERY_SECONDS:
                self._answered = self._answers()
                self._looked = time.monotonic()
            return self._answered

    def require(self) -> None:
        """Raises StoreUnavailable unless it answers."""
        if not self.beats():
            raise StoreUnavailable(
                f"the Ray cluster at {self._address} does not answer; once it runs again, restart this process"
            )

    def _answers(self) -> bool:
        try:
            socket.create_connection(self._place, timeout=_CONNECT_SECONDS).close()
        except OSError:
            return False
        return True


def address_of(text: str) -> str:
    """An address as Ray writes it: host:port, or `auto`. Raises InvalidSetting for anything else."""
    host, _, port = text.rpartition(":")
    if text == AUTO:
        return text
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise InvalidSetting(f"mesh.address: {text!r} is not host:port of a Ray cluster, nor auto")
    return f"127.0.0.1:{port}" if host == "localhost" else text


def name_of(urls: StoreUrls, role: str) -> str:
    """The name of the actor with this role; meshes over other stores have other names on the same cluster."""
    return f"{digest('actors', urls.graph, urls.log, urls.index, urls.embedder)}-{role}"


def require_absolute(urls: StoreUrls) -> None:
    """Raises InvalidSetting for a store whose place depends on where a process was started."""
    for store, url in (("graph", urls.graph), ("log", urls.log), ("index", urls.index)):
        _, mark, path = url.partition(":///")
        if mark and not path.startswith("/"):
            raise InvalidSetting(
                f"stores.{store}: {url} is relative to where a process starts; processes that share actors need "
                "an absolute path, with four slashes"
            )
