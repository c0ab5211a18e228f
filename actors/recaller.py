"""The recaller: answers queries from graph and index; stateless, so that any number of them share the stores."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import BoundedSemaphore

import msgspec

from beliefs.explain import explain_slot
from beliefs.history import history
from recall import keyword, semantic, spread, temporal
from recall.admit import admit
from recall.answer import answer_from
from recall.chain import EXPLAINED, chain
from recall.fanout import fan_out
from recall.fuse import fuse
from recall.judge import Filter, judge
from recall.outdated import stale_hits
from recall.question import Retriever, Sources, ask
from recall.seen import Seen, SeenSlot, Sight
from schemas.answer import NEWEST_TURNS, Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.errors import NotFound, StoreUnavailable, UnknownBank
from schemas.instant import Instant
from schemas.limits import check_bank, check_name
from schemas.query import RETRIEVERS, Principal, Query
from stores.asked import AskedBefore
from stores.ports import Embedder, GraphStore, SearchIndex

OWN: Mapping[str, Retriever] = {
    "semantic": semantic.retrieve,
    "keyword": keyword.retrieve,
    "spread": spread.retrieve,
    "temporal": temporal.retrieve,
}

_THREADS = 16
"""Of the pool that retrievers run on. A question fills four, so as many questions at a time as that gives room for."""


class Extension(msgspec.Struct, frozen=True):
    """What a caller plugs in: retrievers by name, and filters that refuse what was found."""

    retrievers: Mapping[str, Retriever] = {}
    filters: tuple[Filter, ...] = ()


NO_EXTENSION = Extension()


class Recaller:
    """Fans a query out to the retrievers, fuses what they find, and judges it in the asker's own sight.

    `retrievers` are the caller's own, by name; they run beside ours, and in place of one of the same name. A query
    that leaves `retrievers` at its default uses all of them. `filters` refuse what is found. For several threads.
    """

    def __init__(
        self,
        graph: GraphStore,
        index: SearchIndex,
        embedder: Embedder | None,
        *,
        retrievers: Mapping[str, Retriever] | None = None,
        filters: Sequence[Filter] = (),
        threads: int = _THREADS,
    ) -> None:
        self._sources = Sources(graph, index)
        self._graph = graph
        self._embedder = None if embedder is None else AskedBefore(embedder)
        self._retrievers = {**OWN, **(retrievers or {})}
        self._filters = tuple(filters)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="recall")
        self._turns = BoundedSemaphore(max(1, threads // len(OWN)))
        self._banks: frozenset[str] = frozenset()

    @property
    def counts(self) -> Mapping[str, int]:
        """Of how many questions the vector was kept, and was not."""
        return {} if self._embedder is None else self._embedder.counts

    def recall(self, query: Query) -> Answer:
        """Answer a query. Raises InvalidInput, UnknownBank, or StoreUnavailable when the graph cannot be read."""
        admit(query, self._retrievers)
        self._require(query.bank)
        # More at a time would only wait for threads, on the deadlines of their retrievers.
        with self._turns:
            return self._answer(query)

    def explain(
        self,
        bank: str,
        belief_id: str,
        principal: Principal,
        moment: Instant,
        *,
        as_of: Instant | None = None,
    ) -> Explanation:
        """Every term of a belief's confidence at a moment, as the principal may see it. Raises NotFound.

        Evidence of after `as_of` is left out; without one, that of after the moment and the skew that clocks may have.
        """
        self._require(bank)
        policy = self._graph.policy(bank)
        last = moment + policy.skew if as_of is None else as_of
        sight = Sight(bank=bank, principal=principal, moment=moment, as_of=last)
        seen = Seen(self._graph, policy, sight)
        id, slot = self._find(seen, belief_id)
        account = explain_slot(slot.evidence, slot.slot, [id], policy, moment, slot.fallen)[0]
        return msgspec.structs.replace(account, premises=chain(seen, slot, id, EXPLAINED))

    def history(
        self,
        bank: str,
        of: str | tuple[Entity, str],
        principal: Principal,
        now: Instant,
        after: Instant | None = None,
        limit: int = NEWEST_TURNS,
    ) -> History:
        """Every turn of a slot, given by its id, by the id of one of its beliefs, or by entity and attribute."""
        seen = self._sight(bank, principal, now)
        if isinstance(of, str) and not of.startswith("s"):
            _, slot = self._find(seen, of)
        else:
            slot = _slot(seen, of)
        grounds, moves = seen.foundations().over_time(slot.slot.id, slot.evidence)
        return history(slot.evidence, seen.policy, now, limit, after=after, grounds=grounds, moves=moves)

    def belief(self, bank: str, belief_id: str, principal: Principal, now: Instant) -> Belief:
        """A belief as the principal may see it now. Raises NotFound."""
        id, slot = self._find(self._sight(bank, principal, now), belief_id)
        return next(belief for belief in slot.slot.beliefs if belief.id == id)

    def close(self) -> None:
        """End the threads; stores and embedder are their owner's to close."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, query: Query) -> Answer:
        names = self._retrievers if query.retrievers == RETRIEVERS else dict.fromkeys(query.retrievers)
        self._prepare(query.bank)
        sight = Sight(
            bank=query.bank,
            principal=query.principal,
            moment=query.moment,
            as_of=query.as_of,
            known_at=query.known_at,
        )
        seen = Seen(self._graph, self._graph.policy(query.bank), sight)
        question = ask(query, self._embedder, seen)
        chosen = {name: self._retrievers[name] for name in names}
        until = time.monotonic() + query.deadline
        stale = self._pool.submit(stale_hits, question, self._sources)
        retrieved = fan_out(question, self._sources, chosen, self._pool)
        candidates = fuse(retrieved.hits, query.fusion, question.depth)
        judged = judge(candidates, question, seen, self._filters, _in_time(stale, until))
        return answer_from(question, judged, seen, retrieved.reports)

    def _prepare(self, bank: str) -> None:
        """Have the index read the bank before the retrievers' deadlines begin; what fails, they will report."""
        with suppress(StoreUnavailable):
            self._sources.index.prepare(bank)

    def _sight(self, bank: str, principal: Principal, now: Instant) -> Seen:
        self._require(bank)
        return Seen(self._graph, self._graph.policy(bank), Sight(bank=bank, principal=principal, moment=now))

    def _find(self, seen: Seen, belief_id: str) -> tuple[str, SeenSlot]:
        """The id that a belief has now, and its slot. Unknown and invisible read alike, so that neither is told."""
        check_name(belief_id, "belief")
        stored = self._graph.beliefs(seen.sight.bank, [belief_id]).get(belief_id)
        slot = seen.slots([stored.slot]).get(stored.slot) if stored is not None else None
        id = "" if stored is None or slot is None else slot.now(stored.id)
        if slot is None or all(belief.id != id for belief in slot.slot.beliefs):
            raise NotFound(f"there is no belief {belief_id} in this bank that you may see; check the id")
        return id, slot

    def _require(self, bank: str) -> None:
        """Refuse a bank that holds nothing; known ones are remembered, others asked for again each time."""
        check_bank(bank)
        if bank not in self._banks:
            self._banks = frozenset(self._graph.banks())
            if bank not in self._banks:
                raise UnknownBank(f"there is no bank {bank!r}; retain something into it first")


def _in_time(hits: Future[list[str]], until: float) -> list[str]:
    """What was found by then; nothing if it is late or failed, since the answer does without."""
    wait((hits,), max(0.0, until - time.monotonic()))
    return hits.result() if hits.done() and hits.exception() is None else []


def _slot(seen: Seen, of: str | tuple[Entity, str]) -> SeenSlot:
    places = [of] if isinstance(of, str) else seen.identity.places(*of)
    found = seen.slots(places)
    slot = next((found[id] for id in places if id in found), None)
    if slot is None:
        asked = of if isinstance(of, str) else f"{of[1]} of {of[0].name}"
        raise NotFound(f"there is no {asked} in this bank that you may see; check entity and attribute")
    return slot
