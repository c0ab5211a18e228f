"""Which adapter a URL names: one function for each port.

The adapter of an index is loaded only when one is opened: its client library must not be in a process before Ray is
(docs/decisions.md), and a process that runs the mesh on Ray opens no index itself.
"""

import importlib
import re
from pathlib import Path

from schemas.errors import InvalidSetting
from schemas.extras import load_with
from stores.kafka.options import KafkaOptions
from stores.ports import GraphStore, Log, SearchIndex
from stores.sqlite.graph import SqliteGraph
from stores.sqlite.log import SqliteLog

_SHAPES = {
    "sqlite": "sqlite:///relative/file.db, or with four slashes sqlite:////absolute/file.db",
    "local": "local:///relative/folder, or with four slashes local:////absolute/folder",
}
_KAFKA = "kafka"
_MILVUS = "milvus"
_NEBULA = "nebula"
_LOGIN = re.compile(r"//.*@")
_NO_OPTIONS = KafkaOptions()


def open_graph(url: str) -> GraphStore:
    """The graph store at `sqlite:///file.db` or `nebula://…`. Raises InvalidSetting for a URL that names none.

    Raises MissingExtra where NebulaGraph is asked for and its client is not installed.
    """
    if _scheme(url) == _NEBULA:
        graph: GraphStore = load_with("nebula3", "nebula3-python", "stores.nebula.graph").NebulaGraph(url)
        return graph
    return SqliteGraph(_path(url, "graph", "sqlite"))


def open_log(url: str, kafka: KafkaOptions = _NO_OPTIONS) -> Log:
    """The log at `sqlite:///file.db` or `kafka://host:port`. Raises InvalidSetting for a URL that names none.

    Raises MissingExtra where Kafka is asked for and its client is not installed.
    """
    if not is_kafka(url):
        return SqliteLog(_path(url, "log", "sqlite"))
    log: Log = load_with("kafka", "kafka-python", "stores.kafka.log").KafkaLog(url, kafka)
    return log


def is_kafka(url: str) -> bool:
    """Whether a log's URL names Kafka."""
    return _scheme(url) == _KAFKA


def open_index(url: str, dimensions: int, model_id: str) -> SearchIndex:
    """The search index at `local:///folder` or `milvus://…`. Raises InvalidSetting for a URL that names none.

    Raises MissingExtra where Milvus is asked for and its client is not installed.
    """
    if _scheme(url) == _MILVUS:
        module = load_with("pymilvus", "pymilvus", "stores.milvus.index")
        found: SearchIndex = module.MilvusIndex(url, dimensions, model_id)
        return found
    folder = _path(url, "index", "local")
    index: SearchIndex = importlib.import_module("stores.local.index").LocalIndex(folder, dimensions, model_id)
    return index


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _path(url: str, port: str, scheme: str) -> Path:
    """What follows the three slashes, taken as it stands: a fourth slash begins an absolute path."""
    given = _scheme(url)
    shown = _LOGIN.sub("//***@", url)
    if given != scheme:
        raise InvalidSetting(f"{port} {shown!r} is unknown; use {_SHAPES[scheme]}")
    path = url.removeprefix(f"{scheme}:///")
    if path == url or not path.strip("/"):
        raise InvalidSetting(f"{port} {shown!r} names no place; use {_SHAPES[scheme]}")
    return Path(path)
