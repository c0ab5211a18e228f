"""A question as the retrievers see it, what they may ask, and the one signature that they all have."""

import threading
from collections.abc import Callable, Mapping, Sequence

import msgspec

from recall.names import entities_in
from recall.period import Period
from recall.roster import asked_about, bearers
from recall.seen import Seen
from recall.when import periods_in
from schemas.audience import readers_of
from schemas.query import RETRIEVERS, Query
from stores.ports import Embedder, GraphStore, Hit, IndexFilter, SearchIndex, Vectors

NAMED = 6
"""How many of the entities that the question names are followed."""

DEPTH = 100
"""How many candidates each retriever gives; z-scores need a list, and a deeper one changes the first ten little."""


class Vector:
    """The question's vector, computed by whoever needs it first and shared by the rest; None without an embedder."""

    def __init__(self, text: str, embedder: Embedder | None) -> None:
        self._text = text
        self._embedder = embedder
        self._lock = threading.Lock()
        self._value: Vectors | None = None

    def get(self) -> Vectors | None:
        """The vector; raises what the embedder raises."""
        if self._embedder is None:
            return None
        with self._lock:
            if self._value is None:
                self._value = self._embedder.query(self._text)
            return self._value


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One query, prepared once: filter, shared vector, the periods it names, and what earlier retrievers found.

    `subjects` are the ids of the entity asked about and of those that are the same as it, `named` those of the
    entities whose names the text holds, longest names first.
    """

    query: Query
    filter: IndexFilter
    vector: Vector
    depth: int
    periods: tuple[Period, ...]
    subjects: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    seeds: Mapping[str, Sequence[Hit]] = {}


class Sources(msgspec.Struct, frozen=True):
    """Where retrievers look."""

    graph: GraphStore
    index: SearchIndex


Retriever = Callable[[Question, Sources], list[Hit] | None]
"""Finds beliefs for a question, best first, at most `depth`; None when the question gives it nothing to go by."""


def ask(query: Query, embedder: Embedder | None, seen: Seen) -> Question:
    """Prepare a query for the retrievers.

    The index knows statuses of now and of the whole bank, so they are asked of it only when now is asked;
    for a past time every status may be the right one, and the search goes deeper instead. What was ever merged passes.
    """
    past = query.as_of is not None or query.known_at is not None
    subjects = () if query.entity is None else tuple(asked_about(seen, query.entity))
    return Question(
        query=query,
        filter=IndexFilter(
            bank=query.bank,
            readers=readers_of(query.principal),
            statuses=() if past else query.statuses,
            networks=query.networks,
            entities=subjects,
            occurred_from=query.occurred_from,
            occurred_to=query.occurred_to,
        ),
        vector=Vector(query.text, embedder),
        depth=max(DEPTH, 4 * query.limit) * (2 if past else 1),
        periods=_periods(query),
        subjects=subjects,
        named=_named(query, seen),
    )


def _named(query: Query, seen: Seen) -> tuple[str, ...]:
    if query.retrievers != RETRIEVERS and "spread" not in query.retrievers:
        return ()
    found = entities_in(query, seen.graph)[:NAMED]
    known_as = [id for id, _ in bearers(seen, found)]
    return tuple(seen.identity.members([*(id for id, _ in found), *known_as]))


def _periods(query: Query) -> tuple[Period, ...]:
    if query.occurred_from is not None and query.occurred_to is not None:
        return (Period(query.occurred_from, query.occurred_to),)
    return tuple(periods_in(query.text, query.now if query.question_time is None else query.question_time))
