"""Actors are found by what they work on, at an address that is one, while something answers there."""

import socket

import pytest

from actors.shared import Pulse, address_of, name_of, require_absolute
from schemas.errors import InvalidSetting, StoreUnavailable
from stores.ports import StoreUrls

URLS = StoreUrls(graph="sqlite:////m/graph.db", log="kafka://k:9092", index="local:////m/index", embedder="none:")


def urls(**other: str) -> StoreUrls:
    return StoreUrls(**{name: getattr(URLS, name) for name in URLS.__struct_fields__} | other)


def test_the_same_stores_give_the_same_names_and_a_role_each_its_own() -> None:
    assert name_of(URLS, "shard-0") == name_of(urls(embedder_key="secret"), "shard-0")
    assert name_of(URLS, "shard-0") != name_of(URLS, "shard-1")


@pytest.mark.parametrize("store", ["graph", "log", "index", "embedder"])
def test_another_store_gives_other_names(store: str) -> None:
    assert name_of(urls(**{store: "sqlite:////other"}), "search") != name_of(URLS, "search")


@pytest.mark.parametrize("text", ["127.0.0.1:6379", "ray-head.mesh.svc:6379", "[::1]:6379", "auto"])
def test_an_address_is_taken_as_it_stands(text: str) -> None:
    assert address_of(text) == text


def test_localhost_is_written_as_ray_writes_it() -> None:
    assert address_of("localhost:6379") == "127.0.0.1:6379"


@pytest.mark.parametrize(
    "text", ["ray", "host", "host:", ":6379", "host:0", "host:65536", "host:x", "ray://head:10001"]
)
def test_what_is_no_address_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"mesh\.address: .* is not host:port of a Ray cluster, nor auto"):
        address_of(text)


def test_a_store_at_a_relative_path_cannot_be_shared() -> None:
    require_absolute(URLS)
    with pytest.raises(InvalidSetting, match=r"stores\.index: local:///index is relative"):
        require_absolute(urls(index="local:///index"))


def test_a_cluster_that_does_not_answer_is_named_and_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        assert Pulse(f"{host}:{port}").beats()
    with pytest.raises(StoreUnavailable, match=f"{host}:{port} does not answer; once it runs again, restart"):
        Pulse(f"{host}:{port}").require()
