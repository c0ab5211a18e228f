"""Ray is loaded first: after usearch, starting it would end the process (docs/decisions.md). And where Kafka is."""

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kafka_broker import Broker, missing

from actors.choose import ray_is_installed

if ray_is_installed():
    importlib.import_module("actors.cluster")

GIVEN_KAFKA = os.environ.pop("BELIEFMESH_TEST_KAFKA", "")
"""Taken out of the environment: to the settings it would be a misspelt key."""

StartBroker = Callable[..., Broker]


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a Kafka broker is, as host:port: the given one, else one of our own. All tests share it and its topics."""
    if GIVEN_KAFKA:
        yield GIVEN_KAFKA
        return
    if lack := missing():
        pytest.skip(f"{lack}, or point BELIEFMESH_TEST_KAFKA=host:port at a broker")
    broker = Broker(tmp_path_factory.mktemp("kafka"))
    broker.start()
    yield broker.bootstrap
    broker.stop()


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[StartBroker]:
    """Starts a broker of this test alone, which it may kill: `secure=True` for TLS and logins, or Kafka's settings."""
    if lack := missing():
        pytest.skip(lack)
    started: list[Broker] = []

    def start(*, secure: bool = False, settings: dict[str, str] | None = None) -> Broker:
        started.append(Broker(tmp_path / f"kafka-{len(started)}", secure=secure, settings=settings))
        started[-1].start()
        return started[-1]

    yield start
    for broker in started:
        broker.stop()
