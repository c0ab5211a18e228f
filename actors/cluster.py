"""The actors as Ray actors: the only file that names Ray. Thin shells that bear the names of the plain methods.

A shell is made from URLs, since a URL can be sent and a connection cannot. Restarts and retries are on: a call whose
actor died runs again, which the actors' idempotence makes harmless.
"""

import logging
import os
import signal
import time
from collections.abc import Mapping, Sequence
from threading import Lock, current_thread, main_thread
from typing import Any

# Both are read as Ray loads. "0" keeps a local Ray on loopback; 3 attempts at what is no Ray cluster take two minutes.
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "3")

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from actors.extractor import Extractor
from actors.indexer import Indexer
from actors.mesh import Mesh
from actors.recaller import Recaller
from actors.shard import EntityShard
from actors.shared import AUTO, Crew, JoinedMesh, Pulse, address_of, name_of, require_absolute
from schemas.answer import Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.errors import BeliefmeshError, InvalidSetting, StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation
from schemas.query import Principal, Query
from schemas.routing import partition_of
from schemas.slot import Change
from stores.embedders import open_embedder
from stores.open import open_graph, open_index
from stores.ports import StoreUrls

_START_SECONDS, _CALL_SECONDS, _LOOK_SECONDS, _FLUSH_SECONDS = 120.0, 600.0, 2.0, 30.0
_EXTRACTORS = 1
_NAMESPACE = "beliefmesh"
_OUTLIVE = {"RAY_gcs_rpc_server_reconnect_timeout_s": "1000000"}
_NO_SHARED_MEMORY = {"RAY_max_direct_call_object_size": "268435456", "RAY_task_rpc_inlined_bytes_limit": "268435456"}
"""By itself Ray ends a process that joined, without a word, a minute after its cluster went, or as soon as it asks
that cluster's shared memory for something (docs/decisions.md)."""

_FOR_EVER: Any = {"max_restarts": -1, "max_task_retries": -1, "num_cpus": 0}
"""How every actor runs: started again and asked again whenever it dies. They wait on stores more than they compute."""
_SHARED: Any = {"namespace": _NAMESPACE, "lifetime": "detached", "get_if_exists": True}
"""How an actor runs that several processes share: whoever asks first starts it, and it outlives that process."""


class ExtractorActor:
    """Remote shell of `Extractor`."""

    def __init__(self) -> None:
        self._extractor = Extractor()

    @ray.method
    def ready(self) -> int:
        """Answer with the process id once the actor has started."""
        return os.getpid()

    @ray.method
    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """See `Extractor.extract`."""
        return self._extractor.extract(observations)


class ShardActor:
    """Remote shell of `EntityShard`."""

    def __init__(self, graph_url: str, shards: int) -> None:
        self._shard = EntityShard(open_graph(graph_url))
        self._shards = shards

    @ray.method
    def ready(self) -> int:
        """Answer with the process id once the actor has started."""
        return os.getpid()

    @ray.method
    def among(self) -> int:
        """How many shards the mesh has that this one was started for."""
        return self._shards

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
        self._ended = False
        self._indexer = Indexer(graph, index, embedder)
        self._recaller = Recaller(graph, index, embedder)

    @ray.method
    def ready(self) -> int:
        """Answer with the process id once the actor has started and its index is open."""
        return os.getpid()

    @ray.method(concurrency_group="index")
    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """See `Indexer.index`."""
        self._require_open()
        return self._indexer.index(changes, now)

    @ray.method(concurrency_group="index")
    def catch_up(self, now: Instant) -> int:
        """See `Indexer.catch_up`."""
        self._require_open()
        return self._indexer.catch_up(now)

    @ray.method(concurrency_group="index")
    def close(self) -> None:
        """Flush the index; what is still to be indexed is refused, and stays to be indexed."""
        self._ended = True
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

    def _require_open(self) -> None:
        if self._ended:
            raise StoreUnavailable("the actors are being ended; start them again")


_EXTRACTOR = ray.remote(ExtractorActor)
_SHARD = ray.remote(ShardActor)
_GROUPS: Any = {"concurrency_groups": {"index": 1, "recall": 4}}
_SEARCH: Any = ray.remote(**_GROUPS)(SearchActor)


class RayMesh(Mesh):
    """Extractors, entity shards and a search actor on Ray, started on this machine if no Ray runs in this process.

    A claims partition belongs to shard (partition modulo shards). Raises StoreUnavailable when the actors do not
    start, when a call's actor is lost for good, and when Ray itself is gone.
    """

    parallel = True

    def __init__(self, urls: StoreUrls, *, shards: int) -> None:
        self._connect(start_ray())
        self._crew = Crew(
            [_EXTRACTOR.options(**_FOR_EVER).remote() for _ in range(_EXTRACTORS)],
            [_SHARD.options(**_FOR_EVER).remote(urls.graph, shards) for _ in range(shards)],
            _SEARCH.options(**_FOR_EVER).remote(urls),
        )
        self.processes()

    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """See `Mesh.extract`; the batch is shared out evenly."""
        extractors = self._present().extractors
        size = -(-len(observations) // len(extractors)) or 1
        calls = [
            extractor.extract.remote(observations[at * size : (at + 1) * size])
            for at, extractor in enumerate(extractors)
        ]
        return [evidence for result in self._get(calls) for evidence in result]

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: Instant) -> dict[int, list[Change] | Exception]:
        """See `Mesh.apply`; the shards work at the same time."""
        shards = self._present().shards
        calls = {
            partition: shards[partition % len(shards)].apply.remote(batch, now) for partition, batch in batches.items()
        }
        return {partition: self._result(call) for partition, call in calls.items()}

    def review(self, slots: Sequence[tuple[str, str]], now: Instant) -> list[Change]:
        """See `Mesh.review`; any shard may decide a slot again, since the version check fences the slower one."""
        shards = self._present().shards
        by_shard: dict[int, list[tuple[str, str]]] = {}
        for bank, slot in slots:
            by_shard.setdefault(partition_of(slot, len(shards)), []).append((bank, slot))
        calls = [shards[shard].review.remote(some, now) for shard, some in by_shard.items()]
        return [change for changes in self._get(calls) for change in changes]

    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """See `Mesh.index`."""
        return int(self._get(self._present().search.index.remote(changes, now)))

    def catch_up(self, now: Instant) -> int:
        """See `Mesh.catch_up`."""
        return int(self._get(self._present().search.catch_up.remote(now)))

    def recall(self, query: Query) -> Answer:
        """See `Mesh.recall`."""
        answer: Answer = self._get(self._present().search.recall.remote(query))
        return answer

    def explain(
        self, bank: str, belief: str, principal: Principal, moment: Instant, as_of: Instant | None
    ) -> Explanation:
        """See `Mesh.explain`."""
        search = self._present().search
        explanation: Explanation = self._get(search.explain.remote(bank, belief, principal, moment, as_of))
        return explanation

    def history(self, bank: str, of: str | tuple[Entity, str], principal: Principal, now: Instant) -> History:
        """See `Mesh.history`."""
        history: History = self._get(self._present().search.history.remote(bank, of, principal, now))
        return history

    def belief(self, bank: str, belief: str, principal: Principal, now: Instant) -> Belief:
        """See `Mesh.belief`."""
        found: Belief = self._get(self._present().search.belief.remote(bank, belief, principal, now))
        return found

    def processes(self) -> list[int]:
        """The process id of each actor, the shards' first and in order; waits for those that are starting."""
        calls = [actor.ready.remote() for actor in self._present().everybody()]
        return [int(pid) for pid in self._get(calls, _START_SECONDS)]

    def shard_processes(self) -> list[int]:
        """The process id of each shard actor, in order."""
        return self.processes()[: len(self._crew.shards)]

    def close(self) -> None:
        """Flush the index, end the actors, and end Ray if this mesh started it."""
        try:
            crew = self._present()
            self._get(crew.search.close.remote(), _FLUSH_SECONDS)
            for actor in crew.everybody():
                ray.kill(actor)
        finally:
            self._disconnect()

    def _connect(self, here: bool) -> None:
        """Note the Ray that this process is connected to, and whether this mesh did it."""
        self._connected_here = here
        self.address: str = ray.get_runtime_context().gcs_address
        self._pulse = Pulse(self.address)
        self._lost = False

    def _disconnect(self) -> None:
        if self._connected_here and self._pulse.beats():  # without a cluster, Ray's good-bye may end the process
            ray.shutdown()

    def _present(self) -> Crew:
        """The actors to ask. Raises StoreUnavailable at once if Ray is gone, as asking Ray may end the process."""
        self._pulse.require()
        return self._crew

    def _get(self, calls: Any, seconds: float = _CALL_SECONDS) -> Any:
        """Wait for results; what an actor raised comes back as it was raised, lost actors as StoreUnavailable."""
        until = time.monotonic() + seconds
        while True:
            try:
                return ray.get(calls, timeout=min(_LOOK_SECONDS, max(until - time.monotonic(), 0.0)))
            except RayTaskError as error:
                if not isinstance(error.cause, Exception):
                    raise
                raise error.cause from (None if isinstance(error.cause, BeliefmeshError) else error)
            except GetTimeoutError as error:
                self._pulse.require()
                if time.monotonic() >= until:
                    raise StoreUnavailable(f"an actor did not answer within {seconds:g} s; see Ray's logs") from error
            except RayError as error:
                self._lost = self._lost or isinstance(error, RayActorError)
                raise StoreUnavailable(f"an actor was lost: {error}") from error

    def _result(self, call: Any) -> list[Change] | Exception:
        try:
            changes: list[Change] = self._get(call)
        except Exception as error:
            return error
        return changes


class SharedMesh(RayMesh, JoinedMesh):
    """Named actors that any process may join: whoever comes first starts them, and they outlive who started them.

    `address` is a cluster's host:port or `auto`; without one, Ray is started on this machine. `close` only
    disconnects, `end` ends the actors for everybody. Actors that somebody ended are started again by the next call.
    Raises InvalidSetting if the mesh has another number of shards, since a partition would have two owners.
    """

    def __init__(self, urls: StoreUrls, *, shards: int, address: str = "") -> None:
        require_absolute(urls)
        self._connect(join_ray(address) if address else start_ray())
        self._urls, self._count = urls, shards
        self._hiring = Lock()
        try:
            self._crew = self._hire()
            self.processes()
        except BaseException:
            self._disconnect()
            raise

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
        extractors = [_EXTRACTOR.options(**self._named(f"extractor-{n}")).remote() for n in range(_EXTRACTORS)]
        search = _SEARCH.options(**self._named("search")).remote(self._urls)
        first = self._shard(0)
        there = int(self._get(first.among.remote(), _START_SECONDS))
        if there != self._count:
            raise InvalidSetting(
                f"mesh.shards: is {self._count}, but the actors at {self.address} have {there}; set {there}, "
                "or stop every process of that mesh and start it with the new number"
            )
        return Crew(extractors, [first, *(self._shard(n) for n in range(1, self._count))], search)

    def _shard(self, number: int) -> Any:
        return _SHARD.options(**self._named(f"shard-{number}")).remote(self._urls.graph, self._count)

    def _named(self, role: str) -> dict[str, Any]:
        return {**_FOR_EVER, **_SHARED, "name": name_of(self._urls, role)}


def start_ray() -> bool:
    """Start Ray on this machine, bound to loopback, without dashboard or usage statistics; False if it runs already."""
    if ray.is_initialized():
        return False
    _init(_NO_SHARED_MEMORY, include_dashboard=False, _node_ip_address="127.0.0.1")
    return True


def join_ray(address: str) -> bool:
    """Connect to a Ray cluster that has a node on this machine; False if this process is connected to it already.

    Raises StoreUnavailable where none answers, InvalidSetting for what is no address, and for a second cluster.
    """
    wanted = address_of(address)
    if ray.is_initialized():
        running = ray.get_runtime_context().gcs_address
        if wanted not in (AUTO, running):
            raise InvalidSetting(f"mesh.address: is {address}, but this process is connected to Ray at {running}")
        return False
    if wanted != AUTO and not Pulse(wanted).beats():
        raise StoreUnavailable(f"no Ray cluster answers at {wanted}; `beliefmesh actors` starts one on this machine")
    try:
        _init(_OUTLIVE | _NO_SHARED_MEMORY, address=wanted)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise StoreUnavailable(f"mesh.address: cannot join the Ray cluster at {wanted}: {error}") from error
    return True


def _init(options: Mapping[str, str], **where: Any) -> None:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    for option, value in {"RAY_AUTH_MODE": "disabled", **options}.items():
        os.environ.setdefault(option, value)
    before = signal.getsignal(signal.SIGTERM)
    ray.init(log_to_driver=False, logging_level=logging.ERROR, namespace=_NAMESPACE, **where)
    if callable(before) and current_thread() is main_thread():
        signal.signal(signal.SIGTERM, before)  # Ray has put its own in the place of the caller's
