"""The broker under the Kafka tests: what it acknowledged outlives a kill, and its secure listeners want a login."""

from collections.abc import Callable

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError
from kafka_broker import PASSWORD, USER, Broker

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]
PARTITION = TopicPartition("observations", 0)


def _create_topic(bootstrap: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(name=PARTITION.topic, num_partitions=1, replication_factor=1)])
    admin.close()


def _send(bootstrap: str, *values: bytes, **security: object) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, bootstrap_timeout_ms=5_000, **security)
    for value in values:
        producer.send(PARTITION.topic, value).get(30)
    producer.close()


def _read(bootstrap: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=30_000)
    consumer.assign([PARTITION])
    consumer.seek_to_beginning(PARTITION)
    values = [record.value for _, record in zip(range(count), consumer, strict=False)]
    consumer.close()
    return values


def test_records_survive_a_killed_broker(start_broker: Callable[..., Broker]) -> None:
    broker = start_broker()
    _create_topic(broker.bootstrap)
    _send(broker.bootstrap, b"one", b"two")
    address = broker.bootstrap

    broker.kill()
    broker.start()

    assert broker.bootstrap == address
    _send(broker.bootstrap, b"three")
    assert _read(broker.bootstrap, 3) == [b"one", b"two", b"three"]


def test_a_secure_broker_takes_every_login_and_nobody_without(start_broker: Callable[..., Broker]) -> None:
    broker = start_broker(secure=True)
    _create_topic(broker.bootstrap)
    trust = {"ssl_cafile": str(broker.certificate)}
    login = {"sasl_plain_username": USER, "sasl_plain_password": PASSWORD}

    _send(broker.address("SSL"), b"ssl", security_protocol="SSL", **trust)
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
        asked = {"sasl_mechanism": mechanism, **login}
        _send(broker.address("SASL_PLAINTEXT"), b"sasl", security_protocol="SASL_PLAINTEXT", **asked)
        _send(broker.address("SASL_SSL"), b"both", security_protocol="SASL_SSL", **asked, **trust)

    assert _read(broker.bootstrap, 7) == [b"ssl", *[b"sasl", b"both"] * 3]
    with pytest.raises(KafkaError):
        _send(broker.address("SASL_PLAINTEXT"), b"bare")
