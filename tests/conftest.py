"""Ray is loaded first: after usearch, starting it would end the process (docs/decisions.md). And where services are."""

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka_broker import Broker, missing

from actors.choose import ray_is_installed

if ray_is_installed():
    importlib.import_module("actors.cluster.mesh")

GIVEN_KAFKA = os.environ.pop("BELIEFMESH_TEST_KAFKA", "")
GIVEN_NEBULA = os.environ.pop("BELIEFMESH_TEST_NEBULA", "")
GIVEN_MILVUS = os.environ.pop("BELIEFMESH_TEST_MILVUS", "")
"""Taken out of the environment: to the settings they would be misspelt keys."""

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


@pytest.fixture(scope="session")
def nebula() -> Iterator[str]:
    """Where a graphd is, as host:port: the given real one, else a stand-in. All tests share it and its spaces."""
    if GIVEN_NEBULA:
        yield GIVEN_NEBULA
        return
    shared = pytest.importorskip("graphd", reason="the cluster extra is not installed").Graphd().start()
    yield shared.address
    shared.stop()
    shared.cluster.close()


@pytest.fixture(scope="session")
def nebula_is_real() -> bool:
    """Whether the graphd of `nebula` is a real one, where a new schema takes half a minute."""
    return bool(GIVEN_NEBULA)


@pytest.fixture
def start_graphd() -> Iterator[Callable[..., Any]]:
    """Starts a stand-in of this test alone, which it may stop and make fail; arguments are those of `Graphd`."""
    graphd = pytest.importorskip("graphd", reason="the cluster extra is not installed")
    started: list[Any] = []

    def start(**options: Any) -> Any:
        started.append(graphd.Graphd(**options).start())
        return started[-1]

    yield start
    for each in started:
        each.stop()
    for each in started:
        each.cluster.close()


@pytest.fixture(scope="session")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Milvus server: the given real one, else a stand-in. All tests share it and its collections."""
    if GIVEN_MILVUS:
        yield GIVEN_MILVUS
        return
    stand_in = pytest.importorskip("milvus_stand_in", reason="the milvus-lite extra is not installed")
    shared = stand_in.MilvusStandIn(tmp_path_factory.mktemp("milvus"))
    yield shared.url
    shared.stop()
