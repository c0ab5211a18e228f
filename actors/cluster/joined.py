"""The mesh over named Ray actors that any process may join."""

from threading import Lock
from typing import Any

from actors.cluster.mesh import EXTRACTORS, FOR_EVER, START_SECONDS, RayMesh
from actors.cluster.shells import EXTRACTOR, SEARCH, SHARD
from actors.cluster.start import NAMESPACE, join_ray, start_ray
from actors.shared import ANYWHERE, Crew, JoinedMesh, Placement, name_of, require_absolute
from schemas.errors import InvalidSetting
from stores.ports import StoreUrls

_SHARED: Any = {"namespace": NAMESPACE, "lifetime": "detached", "get_if_exists": True}
"""How an actor runs that several processes share: whoever asks first starts it, and it outlives that process."""

_TRACE = 0.001
"""What an actor takes of a custom resource: enough to be placed by it, too little to use it up."""


class SharedMesh(RayMesh, JoinedMesh):
    """Named actors that any process may join: whoever comes first starts them, and they outlive who started them.

    `address` is a cluster's host:port or `auto`; without one, Ray is started on this machine. `close` only
    disconnects, `end` ends the actors for everybody. Actors that somebody ended are started again by the next call.
    Raises InvalidSetting if the mesh has another number of shards, since a partition would have two owners.
    """

    def __init__(
        self,
        urls: StoreUrls,
        *,
        shards: int,
        shard_cache_mb: int,
        address: str = "",
        placement: Placement = ANYWHERE,
    ) -> None:
        require_absolute(urls)
        self._placement, self._cache_mb = placement, shard_cache_mb
        self._connect(join_ray(address) if address else start_ray())
        self._urls, self._count, self._slow = urls, shards, bool(urls.language.url)
        self._hiring = Lock()
        try:
            self._crew = self._hire()
            self.processes()
        except BaseException:
            self._disconnect()
            raise

    def drop_kept(self) -> None:
        """Nothing to do: of all processes no other shards than these write."""

    def answers(self) -> bool:
        """See `JoinedMesh.answers`."""
        return self._pulse.beats()

    def close(self) -> None:
        """Leave the actors to the others."""
        self._disconnect()

    def end(self) -> None:
        """Flush the index, end the actors for everybody, and end Ray if this mesh started it."""
        super().close()

    def _present(self) -> Crew:
        super()._present()
        with self._hiring:
            if self._lost:
                self._crew = self._hire()
                self._lost = False
            return self._crew

    def _hire(self) -> Crew:
        """Find the actors by name or start them; the first shard comes first, as it knows how many there are."""
        extractors = [EXTRACTOR.options(**self._named(f"extractor-{n}")).remote(self._urls) for n in range(EXTRACTORS)]
        search = SEARCH.options(**self._named("search"), num_gpus=self._placement.gpus).remote(self._urls)
        first = self._shard(0)
        there = int(self._get(first.among.remote(), START_SECONDS))
        if there != self._count:
            raise InvalidSetting(
                f"mesh.shards: is {self._count}, but the actors at {self.address} have {there}; set {there}, "
                "or stop every process of that mesh and start it with the new number"
            )
        return Crew(extractors, [first, *(self._shard(n) for n in range(1, self._count))], search)

    def _shard(self, number: int) -> Any:
        return SHARD.options(**self._named(f"shard-{number}")).remote(self._urls, self._count, self._cache_mb)

    def _named(self, role: str) -> dict[str, Any]:
        where = {"resources": {self._placement.resource: _TRACE}} if self._placement.resource else {}
        return {**FOR_EVER, **_SHARED, **where, "name": name_of(self._urls, role)}
