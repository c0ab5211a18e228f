"""Over Kafka, too, the header of a producer's record leads to the calls of the stores."""

import secrets
from pathlib import Path

import pytest
from kept_spans import HEADERS, TRACE, Traced, told

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings
from stores.tracing.spans import switched_on
from streams.freshness import token_of

pytestmark = pytest.mark.kafka


def test_a_producers_header_leads_over_kafka_to_the_calls_of_graph_and_index(kafka: str, tmp_path: Path) -> None:
    traced = Traced()
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path), runtime="inline"),
        stores=StoreSettings(log=f"kafka://{kafka}", embedder="none:"),
        streams=StreamSettings(prefix=f"t{secrets.token_hex(6)}-", partitions=2),
    )
    with switched_on(traced.tracer), Memory(settings=settings) as memory:
        topic = memory.home.topics.name("observations")
        places = memory.home.log.append(topic, [told("boat", HEADERS)], memory.home.clock())
        memory.wait(token_of(places), timeout=60)

    names = set(traced.names(TRACE))
    assert {"stream.extract", "stream.decide", "stream.index", "graph.apply", "index.upsert", "log.append"} <= names
