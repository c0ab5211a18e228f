"""Which way to run the mesh: in this process, or as Ray actors. Ray is optional, and slow to load, so only if asked."""

from types import ModuleType

from actors.extractor import Extractor
from actors.inline import InlineMesh
from actors.mesh import Mesh
from actors.recaller import Extension
from actors.shared import ANYWHERE, JoinedMesh, Placement
from actors.submitted import Submission
from schemas.extras import is_installed, load_with
from stores.ports import Embedder, GraphStore, SearchIndex, StoreUrls


def inline_mesh(
    graph: GraphStore,
    index: SearchIndex,
    embedder: Embedder | None,
    own: Extension,
    extractor: Extractor,
    shard_cache_mb: int,
) -> Mesh:
    """The actors in this process, over stores that the caller has opened; the mesh closes the extractor."""
    return InlineMesh(graph, index, embedder, own, extractor, shard_cache_mb)


def ray_mesh(
    urls: StoreUrls, *, shards: int, shard_cache_mb: int, address: str = "", placement: Placement = ANYWHERE
) -> Mesh:
    """The actors as Ray actors, each opening its stores by URL. Raises MissingExtra without Ray.

    With an address they are those that every process shares that joins the cluster there; else this process's own.
    """
    if address:
        return joined_mesh(urls, shards=shards, shard_cache_mb=shard_cache_mb, address=address, placement=placement)
    mesh: Mesh = _cluster("mesh").RayMesh(urls, shards=shards, shard_cache_mb=shard_cache_mb)
    return mesh


def joined_mesh(
    urls: StoreUrls, *, shards: int, shard_cache_mb: int, address: str = "", placement: Placement = ANYWHERE
) -> JoinedMesh:
    """The Ray actors that several processes share; without an address on a Ray that starts here, to be joined."""
    mesh: JoinedMesh = _cluster("joined").SharedMesh(
        urls, shards=shards, shard_cache_mb=shard_cache_mb, address=address, placement=placement
    )
    return mesh


def submission(address: str) -> Submission:
    """The job server of a Ray cluster at `http://host:8265`. Raises MissingExtra without Ray."""
    found: Submission = _cluster("submit").RaySubmission(address)
    return found


def ray_is_installed() -> bool:
    """Whether Ray can be imported, found out without importing it."""
    return is_installed("ray")


def _cluster(file: str) -> ModuleType:
    return load_with("ray", "Ray", f"actors.cluster.{file}")
