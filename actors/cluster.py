"""The actors as Ray actors: the only file that names Ray. Thin shells that bear the names of the plain methods.

A shell is made from URLs, since a URL can be sent and a connection cannot. Restarts and retries are on: a call whose
actor died runs again, which the actors' idempotence makes harmless.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # read as Ray loads: "0" keeps a local Ray on loopback

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from actors.extractor import Extractor
from actors.indexer import Indexer
from actors.mesh import Mesh
from actors.recaller import Recaller
from actors.shard import EntityShard
from schemas.answer import Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.errors import BeliefmeshError, StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation
from schemas.query import Principal, Query
from schemas.routing import partition_of
from schemas.slot import Change
from stores.embedders import open_embedder
from stores.open import open_graph, open_index
from stores.ports import StoreUrls

_START_SECONDS = 120.0
_CALL_SECONDS = 600.0
_EXTRACTORS = 1

_LOOPBACK = "127.0.0.1"
_FOR_EVER: Any = {"max_restarts": -1, "max_task_retries": -1, "num_cpus": 0}
"""How every actor runs: started again and asked again whenever it dies. They wait on stores more than they compute."""


class ExtractorActor:
    """Remote shell of `Extractor`."""

    def __init__(self) -> None:
        self._extractor = Extractor()

    @ray.method
    def ready(self) -> bool:
        """Answer once the actor has started."""
        return True

    @ray.method
    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """See `Extractor.extract`."""
        return self._extractor.extract(observations)


class ShardActor:
    """Remote shell of `EntityShard`."""

    def __init__(self, graph_url: str) -> None:
        self._shard = EntityShard(open_graph(graph_url))

    @ray.method
    def ready(self) -> int:
        """Answer with the process id once the actor has started."""
        return os.getpid()

    @ray.method
    def apply(self, evidence: Sequence[Evidence], now: Instant) -> list[Change]:
        """See `EntityShard.apply`."""
        return self._shard.apply(evidence, now)

    @ray.method
    def review(self, slots: Sequence[tuple[str, str]], now: Instant) -> list[Change]:
        """See `EntityShard.review`."""
        return self._shard.review(slots, now)


class SearchActor:
    """Remote shell of `Indexer` and `Recaller`; one process for both, since a local index has one owner."""

    def __init__(self, urls: StoreUrls) -> None:
        graph = open_graph(urls.graph)
        embedder = open_embedder(urls.embedder, urls.embedder_key)
        index = open_index(
            urls.index, embedder.dimensions if embedder else 1, embedder.model_id if embedder else "none"
        )
        self._index = index
        self._indexer = Indexer(graph, index, embedder)
        self._recaller = Recaller(graph, index, embedder)

    @ray.method
    def ready(self) -> bool:
        """Answer once the actor has started and its index is open."""
        return True

    @ray.method(concurrency_group="index")
    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """See `Indexer.index`."""
        return self._indexer.index(changes, now)

    @ray.method(concurrency_group="index")
    def catch_up(self, now: Instant) -> int:
        """See `Indexer.catch_up`."""
        return self._indexer.catch_up(now)

    @ray.method(concurrency_group="index")
    def close(self) -> None:
        """Flush the index."""
        self._index.close()

    @ray.method(concurrency_group="recall")
    def recall(self, query: Query) -> Answer:
        """See `Recaller.recall`."""
        return self._recaller.recall(query)

    @ray.method(concurrency_group="recall")
    def explain(
        self, bank: str, belief: str, principal: Principal, moment: Instant, as_of: Instant | None
    ) -> Explanation:
        """See `Recaller.explain`."""
        return self._recaller.explain(bank, belief, principal, moment, as_of=as_of)

    @ray.method(concurrency_group="recall")
    def history(self, bank: str, of: str | tuple[Entity, str], principal: Principal, now: Instant) -> History:
        """See `Recaller.history`."""
        return self._recaller.history(bank, of, principal, now)

    @ray.method(concurrency_group="recall")
    def belief(self, bank: str, belief: str, principal: Principal, now: Instant) -> Belief:
        """See `Recaller.belief`."""
        return self._recaller.belief(bank, belief, principal, now)


_EXTRACTOR = ray.remote(ExtractorActor)
_SHARD = ray.remote(ShardActor)
_GROUPS: Any = {"concurrency_groups": {"index": 1, "recall": 4}}
_SEARCH: Any = ray.remote(**_GROUPS)(SearchActor)


class RayMesh(Mesh):
    """Extractors, entity shards and a search actor on Ray, started on this machine if no Ray runs in this process.

    A claims partition belongs to shard (partition modulo shards). Raises StoreUnavailable when the actors do not
    start, and when a call's actor is lost for good.
    """

    parallel = True

    def __init__(self, urls: StoreUrls, *, shards: int) -> None:
        self._started_ray = start_ray()
        self._extractors = [_EXTRACTOR.options(**_FOR_EVER).remote() for _ in range(_EXTRACTORS)]
        self._shards = [_SHARD.options(**_FOR_EVER).remote(urls.graph) for _ in range(shards)]
        self._search = _SEARCH.options(**_FOR_EVER).remote(urls)
        self._everybody: list[Any] = [*self._extractors, *self._shards, self._search]
        _get([actor.ready.remote() for actor in self._everybody], _START_SECONDS)

    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """See `Mesh.extract`; the batch is shared out evenly."""
        size = -(-len(observations) // len(self._extractors)) or 1
        calls = [
            extractor.extract.remote(observations[at * size : (at + 1) * size])
            for at, extractor in enumerate(self._extractors)
        ]
        return [evidence for result in _get(calls) for evidence in result]

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: Instant) -> dict[int, list[Change] | Exception]:
        """See `Mesh.apply`; the shards work at the same time."""
        calls = {
            partition: self._shards[partition % len(self._shards)].apply.remote(batch, now)
            for partition, batch in batches.items()
        }
        return {partition: _result(call) for partition, call in calls.items()}

    def review(self, slots: Sequence[tuple[str, str]], now: Instant) -> list[Change]:
        """See `Mesh.review`; any shard may decide a slot again, since the version check fences the slower one."""
        by_shard: dict[int, list[tuple[str, str]]] = {}
        for bank, slot in slots:
            by_shard.setdefault(partition_of(slot, len(self._shards)), []).append((bank, slot))
        calls = [self._shards[shard].review.remote(some, now) for shard, some in by_shard.items()]
        return [change for changes in _get(calls) for change in changes]

    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """See `Mesh.index`."""
        return int(_get(self._search.index.remote(changes, now)))

    def catch_up(self, now: Instant) -> int:
        """See `Mesh.catch_up`."""
        return int(_get(self._search.catch_up.remote(now)))

    def recall(self, query: Query) -> Answer:
        """See `Mesh.recall`."""
        answer: Answer = _get(self._search.recall.remote(query))
        return answer

    def explain(
        self, bank: str, belief: str, principal: Principal, moment: Instant, as_of: Instant | None
    ) -> Explanation:
        """See `Mesh.explain`."""
        explanation: Explanation = _get(self._search.explain.remote(bank, belief, principal, moment, as_of))
        return explanation

    def history(self, bank: str, of: str | tuple[Entity, str], principal: Principal, now: Instant) -> History:
        """See `Mesh.history`."""
        history: History = _get(self._search.history.remote(bank, of, principal, now))
        return history

    def belief(self, bank: str, belief: str, principal: Principal, now: Instant) -> Belief:
        """See `Mesh.belief`."""
        found: Belief = _get(self._search.belief.remote(bank, belief, principal, now))
        return found

    def shard_processes(self) -> list[int]:
        """The process id of each shard actor, in order."""
        return [int(pid) for pid in _get([shard.ready.remote() for shard in self._shards])]

    def close(self) -> None:
        """Flush the index, end the actors, and end Ray if this mesh started it."""
        _get(self._search.close.remote())
        for actor in self._everybody:
            ray.kill(actor)
        if self._started_ray:
            ray.shutdown()


def start_ray() -> bool:
    """Start Ray on this machine, bound to loopback, without dashboard or usage statistics; False if it runs already."""
    if ray.is_initialized():
        return False
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    ray.init(
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        _node_ip_address=_LOOPBACK,
        namespace="beliefmesh",
    )
    return True


def _get(calls: Any, seconds: float = _CALL_SECONDS) -> Any:
    """Wait for results; what an actor raised comes back as it was raised, lost actors as StoreUnavailable."""
    try:
        return ray.get(calls, timeout=seconds)
    except RayTaskError as error:
        if not isinstance(error.cause, Exception):
            raise
        raise error.cause from (None if isinstance(error.cause, BeliefmeshError) else error)
    except GetTimeoutError as error:
        raise StoreUnavailable(f"an actor did not answer within {seconds:g} s; see the log of the mesh") from error
    except RayError as error:
        raise StoreUnavailable(f"an actor was lost: {error}") from error


def _result(call: Any) -> list[Change] | Exception:
    try:
        changes: list[Change] = _get(call)
    except Exception as error:
        return error
    return changes
