"""Which way to run the mesh: in this process, or as Ray actors. Ray is optional, and slow to load, so only if asked."""

import importlib
import importlib.util
from types import ModuleType

from actors.inline import InlineMesh
from actors.mesh import Mesh
from actors.recaller import Extension
from schemas.errors import MissingExtra
from stores.ports import Embedder, GraphStore, SearchIndex, StoreUrls


def inline_mesh(graph: GraphStore, index: SearchIndex, embedder: Embedder | None, own: Extension) -> Mesh:
    """The actors in this process, over stores that the caller has opened."""
    return InlineMesh(graph, index, embedder, own)


def ray_mesh(urls: StoreUrls, *, shards: int) -> Mesh:
    """The actors as Ray actors, each opening its stores by URL. Raises MissingExtra without Ray."""
    mesh: Mesh = _cluster().RayMesh(urls, shards=shards)
    return mesh


def ray_is_installed() -> bool:
    """Whether Ray can be imported, found out without importing it."""
    return importlib.util.find_spec("ray") is not None


def _cluster() -> ModuleType:
    if not ray_is_installed():
        raise MissingExtra("Ray is not installed; install beliefmesh[cluster]")
    return importlib.import_module("actors.cluster")
