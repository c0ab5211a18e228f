"""The mesh over Ray actors of its own: batches shared out to them, results awaited, a lost Ray noticed."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from actors.cluster.shells import EXTRACTOR, SEARCH, SHARD
from actors.cluster.start import start_ray
from actors.extractor import PIECE
from actors.mesh import Mesh, summed
from actors.shared import Crew, Pulse
from schemas.answer import NEWEST_TURNS, Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.errors import BeliefmeshError, StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation
from schemas.query import Principal, Query
from schemas.routing import partition_of
from schemas.slot import Amendment, Change
from stores.ports import StoreUrls
from stores.tracing.spans import carried

START_SECONDS = 120.0
_CALL_SECONDS, _LOOK_SECONDS, _FLUSH_SECONDS, _GLANCE_SECONDS = 600.0, 2.0, 30.0, 0.5
EXTRACTORS = 1

FOR_EVER: Any = {"max_restarts": -1, "max_task_retries": -1, "num_cpus": 0}
"""How every actor runs: started again and asked again whenever it dies. They wait on stores more than they compute."""


class RayMesh(Mesh):
    """Extractors, entity shards and a search actor on Ray, started on this machine if no Ray runs in this process.

    A claims partition belongs to shard (partition modulo shards). Raises StoreUnavailable when the actors do not
    start, when a call's actor is lost for good, and when Ray itself is gone.
    """

    parallel = True

    def __init__(self, urls: StoreUrls, *, shards: int, shard_cache_mb: int) -> None:
        self._connect(start_ray())
        self._slow = bool(urls.language.url)
        self._crew = Crew(
            [EXTRACTOR.options(**FOR_EVER).remote(urls) for _ in range(EXTRACTORS)],
            [SHARD.options(**FOR_EVER).remote(urls, shards, shard_cache_mb) for _ in range(shards)],
            SEARCH.options(**FOR_EVER).remote(urls),
        )
        self.processes()

    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """See `Mesh.extract`; the batch is shared out evenly, a piece at a time where a language model reads it."""
        size = PIECE * EXTRACTORS if self._slow else len(observations) or 1
        return [
            evidence
            for at in range(0, len(observations), size)
            for evidence in self._shared_out(observations[at : at + size])
        ]

    def _shared_out(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        extractors = self._present().extractors
        size = -(-len(observations) // len(extractors)) or 1
        context = carried()
        calls = [
            extractor.extract.remote(observations[at * size : (at + 1) * size], context)
            for at, extractor in enumerate(extractors)
        ]
        return [evidence for result in self._get(calls) for evidence in result]

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: Instant) -> dict[int, list[Change] | Exception]:
        """See `Mesh.apply`; the shards work at the same time."""
        shards, context = self._present().shards, carried()
        calls = {
            partition: shards[partition % len(shards)].apply.remote(batch, now, context)
            for partition, batch in batches.items()
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

    def amend(self, amendments: Sequence[Amendment], now: Instant) -> list[Change]:
        """See `Mesh.amend`; any shard may do it, since the version check fences the slower one; then all let go."""
        shards = self._present().shards
        by_shard: dict[int, list[Amendment]] = {}
        for amendment in amendments:
            by_shard.setdefault(partition_of(amendment.slot, len(shards)), []).append(amendment)
        calls = [shards[shard].amend.remote(some, now) for shard, some in by_shard.items()]
        changes = [change for changes in self._get(calls) for change in changes]
        keys = [(amendment.bank, amendment.slot) for amendment in amendments]
        self._get([shard.drop.remote(keys) for shard in shards])
        return changes

    def drop_kept(self) -> None:
        """See `Mesh.drop_kept`; not awaited, since a shard does it before whatever this process asks next."""
        with suppress(StoreUnavailable):
            for shard in self._present().shards:
                shard.drop_all.remote()

    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """See `Mesh.index`."""
        return int(self._get(self._present().search.index.remote(changes, now, carried())))

    def dependents(self, changes: Sequence[Change] | None) -> list[tuple[str, str]]:
        """See `Mesh.dependents`."""
        slots: list[tuple[str, str]] = self._get(self._present().search.dependents.remote(changes))
        return slots

    def index_rest(self, now: Instant) -> int:
        """See `Mesh.index_rest`."""
        return int(self._get(self._present().search.catch_up.remote(now)))

    def reindex(self, bank: str, now: Instant) -> int:
        """See `Mesh.reindex`."""
        return int(self._get(self._present().search.reindex.remote(bank, now)))

    def wipe(self) -> None:
        """See `Mesh.wipe`."""
        self._get(self._present().search.wipe.remote())

    def recall(self, query: Query) -> Answer:
        """See `Mesh.recall`."""
        answer: Answer = self._get(self._present().search.recall.remote(query, carried()))
        return answer

    def explain(
        self, bank: str, belief: str, principal: Principal, moment: Instant, as_of: Instant | None
    ) -> Explanation:
        """See `Mesh.explain`."""
        search = self._present().search
        explanation: Explanation = self._get(search.explain.remote(bank, belief, principal, moment, as_of))
        return explanation

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
        history: History = self._get(self._present().search.history.remote(bank, of, principal, now, after, limit))
        return history

    def belief(self, bank: str, belief: str, principal: Principal, now: Instant) -> Belief:
        """See `Mesh.belief`."""
        found: Belief = self._get(self._present().search.belief.remote(bank, belief, principal, now))
        return found

    def counts(self) -> Mapping[str, int]:
        """See `Mesh.counts`; an actor that starts or is lost counts as it last did."""
        with suppress(StoreUnavailable):
            calls = [actor.counts.remote() for actor in self._present().everybody()]
            told, _ = ray.wait(calls, num_returns=len(calls), timeout=_GLANCE_SECONDS)
            for place, call in enumerate(calls):
                if call in told:
                    self._counted[place] = self._get(call)
        return summed(list(self._counted.values()))

    def processes(self) -> list[int]:
        """The process id of each actor, the shards' first and in order; waits for those that are starting."""
        calls = [actor.ready.remote() for actor in self._present().everybody()]
        return [int(pid) for pid in self._get(calls, START_SECONDS)]

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
        self._counted: dict[int, Mapping[str, int]] = {}

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
