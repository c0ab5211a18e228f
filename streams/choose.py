"""Which worker a mesh has: the embedded one, Kafka's, or workers in other processes."""

from collections.abc import Callable

from actors.mesh import Mesh
from schemas.errors import InvalidSetting
from schemas.extras import load_with
from schemas.instant import Instant
from stores.kafka.options import KafkaOptions
from stores.open import is_kafka
from stores.ports import Log
from streams.elsewhere import Elsewhere
from streams.embedded import EmbeddedWorker
from streams.topics import Topics
from streams.worker import Due, Worker


def open_worker(
    url: str,
    kafka: KafkaOptions,
    *,
    here: bool,
    log: Log,
    mesh: Mesh,
    topics: Topics,
    clock: Callable[[], Instant],
    due: Due,
    batch: int,
) -> Worker:
    """The worker for a log's URL; not started yet.

    Raises InvalidSetting where the embedded log is to be streamed elsewhere, MissingExtra without faust.
    """
    if not is_kafka(url):
        if not here:
            raise InvalidSetting("streams.worker: elsewhere needs a kafka:// log; the embedded one has its worker here")
        return EmbeddedWorker(log, mesh, topics, clock, due, batch)
    if not here:
        return Elsewhere(log, mesh, topics, clock, due, batch)
    kafka_worker = load_with("faust", "faust-streaming", "streams.kafka").KafkaWorker
    worker: Worker = kafka_worker(log, mesh, topics, clock, due, batch, url=url, options=kafka)
    return worker
