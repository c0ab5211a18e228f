"""The actors called as they are, in this process: the embedded way to run the mesh."""

from collections.abc import Mapping, Sequence
from threading import Lock

from actors.extractor import Extractor
from actors.indexer import Indexer
from actors.kept import SHARD_CACHE_MB
from actors.mesh import Mesh, summed
from actors.recaller import NO_EXTENSION, Extension, Recaller
from actors.shard import EntityShard
from schemas.answer import NEWEST_TURNS, Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation
from schemas.query import Principal, Query
from schemas.slot import Amendment, Change
from stores.ports import Embedder, GraphStore, SearchIndex


class InlineMesh(Mesh):
    """One extractor, one shard for all partitions, one indexer and one recaller over stores opened by the caller."""

    def __init__(
        self,
        graph: GraphStore,
        index: SearchIndex,
        embedder: Embedder | None,
        own: Extension = NO_EXTENSION,
        extractor: Extractor | None = None,
        shard_cache_mb: int = SHARD_CACHE_MB,
    ) -> None:
        self._extractor = extractor or Extractor()
        self._shard = EntityShard(graph, shard_cache_mb)
        self._turn = Lock()
        self._indexer = Indexer(graph, index, embedder, self._shard.kept)
        self._recaller = Recaller(graph, index, embedder, retrievers=own.retrievers, filters=own.filters)

    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """See `Mesh.extract`."""
        return self._extractor.extract(observations)

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: Instant) -> dict[int, list[Change] | Exception]:
        """See `Mesh.apply`; all partitions go in one write, and apart only if that fails."""
        everything = [piece for batch in batches.values() for piece in batch]
        try:
            with self._turn:
                changes = self._shard.apply(everything, now)
        except Exception as error:
            if len(batches) == 1:
                return dict.fromkeys(batches, error)
            apart = (self.apply({partition: batch}, now) for partition, batch in batches.items())
            return {partition: result for part in apart for partition, result in part.items()}
        results: dict[int, list[Change] | Exception] = {partition: [] for partition in batches}
        results[min(batches)] = changes
        return results

    def review(self, slots: Sequence[tuple[str, str]], now: Instant) -> list[Change]:
        """See `Mesh.review`."""
        with self._turn:
            return self._shard.review(slots, now)

    def amend(self, amendments: Sequence[Amendment], now: Instant) -> list[Change]:
        """See `Mesh.amend`."""
        with self._turn:
            return self._shard.amend(amendments, now)

    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """See `Mesh.index`."""
        return self._indexer.index(changes, now)

    def dependents(self, changes: Sequence[Change] | None) -> list[tuple[str, str]]:
        """See `Mesh.dependents`."""
        return self._indexer.dependents(changes)

    def index_rest(self, now: Instant) -> int:
        """See `Mesh.index_rest`."""
        return self._indexer.catch_up(now)

    def reindex(self, bank: str, now: Instant) -> int:
        """See `Mesh.reindex`."""
        return self._indexer.reindex(bank, now)

    def drop_kept(self) -> None:
        """See `Mesh.drop_kept`."""
        self._shard.drop_all()

    def wipe(self) -> None:
        """See `Mesh.wipe`."""
        self._indexer.wipe()

    def recall(self, query: Query) -> Answer:
        """See `Mesh.recall`."""
        return self._recaller.recall(query)

    def explain(
        self, bank: str, belief: str, principal: Principal, moment: Instant, as_of: Instant | None
    ) -> Explanation:
        """See `Mesh.explain`."""
        return self._recaller.explain(bank, belief, principal, moment, as_of=as_of)

    def history(
        self,
        bank: str,
        of: str | tuple[Entity, str],
        principal: Principal,
        now: Instant,
        after: Instant | None = None,
        limit: int = NEWEST_TURNS,
    ) -> History:
        """See `Mesh.history`."""
        return self._recaller.history(bank, of, principal, now, after, limit)

    def belief(self, bank: str, belief: str, principal: Principal, now: Instant) -> Belief:
        """See `Mesh.belief`."""
        return self._recaller.belief(bank, belief, principal, now)

    def counts(self) -> Mapping[str, int]:
        """See `Mesh.counts`."""
        return summed(each.counts for each in (self._shard, self._indexer, self._extractor, self._recaller))

    def close(self) -> None:
        """End the threads of recaller and extractor; the stores belong to the caller."""
        self._recaller.close()
        self._extractor.close()
