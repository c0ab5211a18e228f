"""What the benchmark measures over Kafka, broker included, against the embedded log and the bare client in one run."""

import secrets
import time
from collections.abc import Sequence
from typing import Any

from beliefmesh.evaluate.bench_data import BANK, World
from beliefmesh.evaluate.bench_sections import LAST, SEED, batches, through
from beliefmesh.evaluate.place import Report
from schemas.intake import observation_from
from schemas.observation import observation_key
from schemas.wire import pack
from stores.kafka.driver import KafkaConsumer, KafkaProducer, TopicPartition
from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions, addresses_of
from stores.ports import TopicPlan

_BATCH = 2_000
_ROUNDS = 3
_WARM_UP = 10_000
"""Claims before the first measurement, in which the broker compiles what it runs most."""

_PARTITIONS = 8


def over_kafka(url: str, count: int, burst: int, report: Report) -> dict[str, Any]:
    """Claims a second until recallable, published first and then streamed, in pairs with the embedded log."""
    figures: dict[str, Any] = {"claims": count}
    through(list(World(SEED + 1).claims(_WARM_UP)), _BATCH, wait=False, log=url)
    for name, each in (("single", 1), ("several", 5)):
        told = list(World(SEED).claims(count, each=each))
        pairs = [_pair(told, url, count, each) for _ in range(_ROUNDS)]
        for place, log in enumerate(("embedded", "kafka")):
            figures[f"{name}_{log}_per_second"] = round(_median([pair[place] for pair in pairs]), 1)
        figures[f"{name}_kafka_to_embedded"] = round(_median([kafka / embedded for embedded, kafka in pairs]), 3)
        report(
            f"kafka, {name}: {figures[f'{name}_kafka_per_second']:,.0f} claims a second, "
            f"{figures[f'{name}_kafka_to_embedded']:.0%} of the embedded log"
        )
    told = list(World(SEED).claims(burst, each=5))
    seconds, _ = through(told, _BATCH // 5, wait=False, log=url)
    figures |= {"burst": burst, "burst_seconds_until_nothing_waits": round(seconds, 2)}
    report(f"kafka, burst of {burst:,} claims: nothing waits after {seconds:.1f} s")
    produced, consumed = _bare(url, list(World(SEED).claims(count)))
    figures |= {"bare_produce_per_second": round(produced, 1), "bare_consume_per_second": round(consumed, 1)}
    report(f"kafka-python alone: {produced:,.0f} produced and {consumed:,.0f} consumed a second")
    return figures


def _pair(told: Sequence[dict[str, object]], url: str, count: int, each: int) -> tuple[float, float]:
    """Claims a second over the embedded log, then over Kafka."""
    embedded, _ = through(told, _BATCH // each, wait=False)
    kafka, _ = through(told, _BATCH // each, wait=False, log=url)
    return count / embedded, count / kafka


def _bare(url: str, told: Sequence[dict[str, object]]) -> tuple[float, float]:
    """The same messages a second through kafka-python alone: produced one by one, and consumed by polling."""
    topic = f"bench-{secrets.token_hex(4)}"
    log = KafkaLog(url, KafkaOptions())
    log.create(topic, TopicPlan(_PARTITIONS))
    log.close()
    rows = [
        (observation_key(observation).encode(), pack(observation, observation.id))
        for observation in (observation_from(one, bank=BANK, now=LAST) for one in told)
    ]
    producer = KafkaProducer(bootstrap_servers=addresses_of(url))
    started = time.perf_counter()
    for batch in batches(rows, _BATCH):
        for key, value in batch:
            producer.send(topic, key=key, value=value)
        producer.flush()
    produced = time.perf_counter() - started
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=addresses_of(url), auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, partition) for partition in range(_PARTITIONS)])
    read = 0
    started = time.perf_counter()
    while read < len(rows):
        read += sum(len(records) for records in consumer.poll(timeout_ms=1_000, max_records=_BATCH).values())
    consumed = time.perf_counter() - started
    consumer.close()
    return len(rows) / produced, len(rows) / consumed


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
