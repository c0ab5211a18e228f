"""The shells: each actor as Ray runs it, one method a message, under the name and parameters of the plain method."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import ray

from actors.extractor import open_extractor
from actors.indexer import Indexer
from actors.mesh import summed
from actors.recaller import Recaller
from actors.shard import EntityShard
from schemas.answer import NEWEST_TURNS, Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation
from schemas.query import Principal, Query
from schemas.slot import Amendment, Change
from stores.embedders import open_embedder
from stores.open import open_graph, open_index
from stores.ports import StoreUrls
from stores.tracing.spans import continued, spanned, trace_on

Trace = Mapping[str, str]
"""The trace in which an actor is called, as headers."""


class ExtractorActor:
    """Remote shell of `Extractor`."""

    def __init__(self, urls: StoreUrls) -> None:
        trace_on(urls.tracing)
        self._extractor = open_extractor(urls)

    @ray.method
    def ready(self) -> int:
        """Answer with the process id once the actor has started."""
        return os.getpid()

    @ray.method
    def extract(
        self, observations: Sequence[tuple[Observation, Instant]], context: Trace
    ) -> list[tuple[Evidence, ...]]:
        """See `Extractor.extract`."""
        with continued("extractor.extract", context):
            return self._extractor.extract(observations)

    @ray.method(concurrency_group="look")
    def counts(self) -> Mapping[str, int]:
        """What was counted since this actor began."""
        return dict(self._extractor.counts)


class ShardActor:
    """Remote shell of `EntityShard`."""

    def __init__(self, urls: StoreUrls, shards: int, cache_mb: int) -> None:
        trace_on(urls.tracing)
        self._shard = EntityShard(spanned(open_graph(urls.graph), "graph"), cache_mb)
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
    def apply(self, evidence: Sequence[Evidence], now: Instant, context: Trace) -> list[Change]:
        """See `EntityShard.apply`."""
        with continued("shard.apply", context):
            return self._shard.apply(evidence, now)

    @ray.method
    def review(self, slots: Sequence[tuple[str, str]], now: Instant) -> list[Change]:
        """See `EntityShard.review`."""
        return self._shard.review(slots, now)

    @ray.method
    def amend(self, amendments: Sequence[Amendment], now: Instant) -> list[Change]:
        """See `EntityShard.amend`."""
        return self._shard.amend(amendments, now)

    @ray.method
    def drop(self, keys: Sequence[tuple[str, str]]) -> None:
        """See `EntityShard.drop`."""
        self._shard.drop(keys)

    @ray.method
    def drop_all(self) -> None:
        """See `EntityShard.drop_all`."""
        self._shard.drop_all()

    @ray.method(concurrency_group="look")
    def counts(self) -> Mapping[str, int]:
        """What was counted since this actor began."""
        return dict(self._shard.counts)


class SearchActor:
    """Remote shell of `Indexer` and `Recaller`; one process for both, since a local index has one owner."""

    def __init__(self, urls: StoreUrls) -> None:
        trace_on(urls.tracing)
        graph = spanned(open_graph(urls.graph), "graph")
        embedder = spanned(open_embedder(urls.embedder, urls.embedder_key), "embedder")
        index = open_index(
            urls.index, embedder.dimensions if embedder else 1, embedder.model_id if embedder else "none"
        )
        self._index = spanned(index, "index")
        self._ended = False
        self._indexer = Indexer(graph, self._index, embedder)
        self._recaller = Recaller(graph, self._index, embedder)

    @ray.method
    def ready(self) -> int:
        """Answer with the process id once the actor has started and its index is open."""
        return os.getpid()

    @ray.method(concurrency_group="index")
    def index(self, changes: Sequence[Change], now: Instant, context: Trace) -> int:
        """See `Indexer.index`."""
        self._require_open()
        with continued("indexer.index", context):
            return self._indexer.index(changes, now)

    @ray.method(concurrency_group="index")
    def dependents(self, changes: Sequence[Change] | None) -> list[tuple[str, str]]:
        """See `Indexer.dependents`."""
        return self._indexer.dependents(changes)

    @ray.method(concurrency_group="index")
    def catch_up(self, now: Instant) -> int:
        """See `Indexer.catch_up`."""
        self._require_open()
        return self._indexer.catch_up(now)

    @ray.method(concurrency_group="index")
    def reindex(self, bank: str, now: Instant) -> int:
        """See `Indexer.reindex`."""
        self._require_open()
        return self._indexer.reindex(bank, now)

    @ray.method(concurrency_group="index")
    def wipe(self) -> None:
        """See `Indexer.wipe`."""
        self._require_open()
        self._indexer.wipe()

    @ray.method(concurrency_group="index")
    def close(self) -> None:
        """Flush the index; what is still to be indexed is refused, and stays to be indexed."""
        self._ended = True
        self._index.close()

    @ray.method(concurrency_group="recall")
    def recall(self, query: Query, context: Trace) -> Answer:
        """See `Recaller.recall`."""
        with continued("recaller.recall", context):
            return self._recaller.recall(query)

    @ray.method(concurrency_group="recall")
    def explain(
        self, bank: str, belief: str, principal: Principal, moment: Instant, as_of: Instant | None
    ) -> Explanation:
        """See `Recaller.explain`."""
        return self._recaller.explain(bank, belief, principal, moment, as_of=as_of)

    @ray.method(concurrency_group="recall")
    def history(
        self,
        bank: str,
        of: str | tuple[Entity, str],
        principal: Principal,
        now: Instant,
        after: Instant | None = None,
        limit: int = NEWEST_TURNS,
    ) -> History:
        """See `Recaller.history`."""
        return self._recaller.history(bank, of, principal, now, after, limit)

    @ray.method(concurrency_group="recall")
    def belief(self, bank: str, belief: str, principal: Principal, now: Instant) -> Belief:
        """See `Recaller.belief`."""
        return self._recaller.belief(bank, belief, principal, now)

    @ray.method(concurrency_group="look")
    def counts(self) -> Mapping[str, int]:
        """What was counted since this actor began."""
        return summed((self._indexer.counts, self._recaller.counts))

    def _require_open(self) -> None:
        if self._ended:
            raise StoreUnavailable("the actors are being ended; start them again")


_LOOKED_AT: Any = {"concurrency_groups": {"look": 1}}
"""Counts are told beside the work; everything else of such an actor runs one call after another."""

EXTRACTOR: Any = ray.remote(**_LOOKED_AT)(ExtractorActor)
SHARD: Any = ray.remote(**_LOOKED_AT)(ShardActor)
_GROUPS: Any = {"concurrency_groups": {"look": 1, "index": 1, "recall": 4}}
SEARCH: Any = ray.remote(**_GROUPS)(SearchActor)
