"""How often the cluster stores are asked: counts, which are the same on every machine, not times."""

import secrets
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from actors.shard import EntityShard
from beliefmesh.evaluate.bench_data import BANK
from beliefmesh.evaluate.place import Report, memory_in
from beliefmesh.memory import Memory
from beliefmesh.settings import StoreSettings
from recall.question import DEPTH
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, Instant, format_instant
from schemas.observation import Source
from schemas.slot import slot_id
from stores.milvus.index import MilvusIndex
from stores.nebula.graph import NebulaGraph

CLAIMS = 200
_EMBEDDER = "hashing:64"
_FIRST = 1_714_521_600_000_000
_DAYS = (0, 7, 14)
QUESTIONS = (
    "where is the parcel?",
    "which parcel came on 2024-05-01?",
    "which parcel came on 2024-05-01, on 2024-05-08 and on 2024-05-15?",
    "?!",
)


def round_trips(nebula: str, report: Report) -> dict[str, Any]:
    """Requests to NebulaGraph a claim in batches of 200 and a recall, and reads of Milvus Lite a recall."""
    figures: dict[str, Any] = {"claims": CLAIMS}
    figures |= _of_the_graph(_space(nebula))
    figures |= _of_a_memory(_space(nebula))
    report(
        f"round trips: {figures['nebula_requests_a_new_claim']} to NebulaGraph a claim; "
        f"{figures['nebula_requests_a_recall']} to NebulaGraph and "
        f"{figures['milvus_searches_a_recall']} searches of Milvus a recall, at most"
    )
    return figures


def _of_the_graph(url: str) -> dict[str, float]:
    """What the shard's writing asks of the graph: claims that make a slot each, then claims that change it."""
    graph = NebulaGraph(url)
    try:
        new = _asked(graph, lambda: EntityShard(graph).apply(_claims("Bern", _FIRST), _FIRST))
        later = _FIRST + DAY
        changing = _asked(graph, lambda: EntityShard(graph).apply(_claims("Oslo", later), later))
    finally:
        graph.close()
    return {"nebula_requests_a_new_claim": new / CLAIMS, "nebula_requests_a_changing_claim": changing / CLAIMS}


def _of_a_memory(url: str) -> dict[str, float]:
    """What the whole pipeline asks of the graph for a claim, and what recalls ask of both stores, at most."""
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as folder:
        index = f"milvus:///{Path(folder) / 'index.db'}"
        with memory_in(None, BANK, _EMBEDDER, StoreSettings(graph=url, index=index)) as memory:
            graph, found = memory.home.graph, memory.home.index
            if not isinstance(graph, NebulaGraph) or not isinstance(found, MilvusIndex):
                raise TypeError("the memory is not over the stores that were asked for")
            told = _parcels()
            in_all = sum(
                _asked(graph, lambda at=at: memory.retain(told[at : at + CLAIMS]))  # type: ignore[misc]
                for at in range(0, len(told), CLAIMS)
            )
            recalls = [_of_a_recall(memory, graph, found, question) for question in QUESTIONS]
    requests, searches, queries = (max(column) for column in zip(*recalls, strict=True))
    return {
        "nebula_requests_a_claim_in_all": round(in_all / len(told), 3),
        "nebula_requests_a_recall": requests,
        "milvus_searches_a_recall": searches,
        "milvus_queries_a_recall": queries,
    }


def _of_a_recall(memory: Memory, graph: NebulaGraph, index: MilvusIndex, question: str) -> tuple[int, int, int]:
    searches, queries = index.searches, index.queries
    requests = _asked(graph, lambda: memory.recall(question))
    return requests, index.searches - searches, index.queries - queries


def _asked(graph: NebulaGraph, work: Callable[[], object]) -> int:
    before = graph.sessions.requests
    work()
    return graph.sessions.requests - before


def _space(url: str) -> str:
    """A new space beside the one that a URL names: figures are of an empty one."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path}_{secrets.token_hex(4)}"))


def _claims(city: str, at: Instant) -> Sequence[Evidence]:
    return [_claim(Entity(f"Person {number}", "person"), number, city, at) for number in range(CLAIMS)]


def _claim(who: Entity, number: int, city: str, at: Instant) -> Evidence:
    return Evidence(
        id=f"e{number}-{city}",
        bank=BANK,
        slot=slot_id(BANK, who, "city"),
        entity=who,
        observation_id=f"o{number}-{city}",
        source=Source("crm"),
        effective_at=at,
        observed_at=at,
        statement=f"{who.name} lives in {city}",
        attribute="city",
        value=city,
        session=f"talk {number % 10}",
        mentions=(who, Entity(city, "city")),
    )


def _parcels() -> list[dict[str, object]]:
    """On each of three days more than a retriever reads, so that their periods are full."""
    return [
        {"text": f"Parcel {number} came to Lyon", "agent": "ann", "observed_at": format_instant(_FIRST + day * DAY)}
        for day in _DAYS
        for number in range(DEPTH)
    ]
