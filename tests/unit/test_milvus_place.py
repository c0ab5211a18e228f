"""What a milvus:// URL says, what is refused, and that no message quotes the token."""

from pathlib import Path

import pytest

from schemas.errors import InvalidSetting
from stores.milvus.place import MilvusPlace, place_of


def test_a_server_has_a_default_port_a_database_and_a_token() -> None:
    place = place_of("milvus://root:se%40cr%23et@milvus.internal/memory")

    assert (place.address, place.database, place.token) == ("milvus.internal:19530", "memory", "root:se@cr#et")
    assert (place.uri, place.lite) == ("http://milvus.internal:19530", False)


def test_options_ride_in_the_query_so_that_actors_get_them_with_the_url() -> None:
    place = place_of("milvus://host:1?consistency=strong&timeout=2.5&collection=blue&tls=true&tls_ca=%2Fetc%2Fca.pem")

    assert place == MilvusPlace(
        "milvus://host:1",
        address="host:1",
        collection="blue",
        consistency="Strong",
        timeout=2.5,
        tls=True,
        tls_ca="/etc/ca.pem",
    )
    assert place.uri == "https://host:1"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("milvus:///index.db", Path("index.db")),
        ("milvus:////var/mesh/index.db", Path("/var/mesh/index.db")),
        ("milvus:////var/a folder/index.db?timeout=3", Path("/var/a folder/index.db")),
    ],
)
def test_three_slashes_name_a_file_of_milvus_lite_and_a_fourth_makes_it_absolute(url: str, path: Path) -> None:
    assert place_of(url).path == path
    assert place_of(url).lite


def test_an_address_of_version_six_keeps_its_brackets() -> None:
    assert place_of("milvus://[::1]:19531").address == "[::1]:19531"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("milvus://", "names no place"),
        ("milvus:///", "names no place"),
        ("milvus:host", "names no place"),
        ("milvus:////", "names no place"),
        ("milvus:///index", r"ends in \.db"),
        ("milvus:///.db", r"ends in \.db"),
        ("milvus:///index.db?tls=true", "tls is for a server"),
        ("milvus://host:port", "port is not a number"),
        ("milvus://host:99999", "port is not a number"),
        ("milvus://[::1", "brackets do not hold an address"),
        ("milvus://host/a/b", "is not milvus://token@host"),
        ("milvus://token@", "is not milvus://token@host"),
        ("milvus://host?consistency=weak", "use one of bounded, strong, session, eventually"),
        ("milvus://host?timeout=0", "use seconds, more than 0"),
        ("milvus://host?timeout=nan", "use seconds, more than 0"),
        ("milvus://host?timeout=soon", "use seconds, more than 0"),
        ("milvus://host?collection=a-b", "ASCII letters, digits or underscores"),
        ("milvus://host?collection=", "ASCII letters, digits or underscores"),
        ("milvus://host?tls=yes", "use true or false"),
        ("milvus://host?tls_ca=/etc/ca.pem", "tls_ca has no effect without tls=true"),
        ("milvus://host?colour=red", "'colour' is not an option; use consistency, timeout, collection, tls, tls_ca"),
        ("milvus://host?timeout=1&timeout=2", "an option is given twice"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(url: str, problem: str) -> None:
    with pytest.raises(InvalidSetting, match=problem):
        place_of(url)


@pytest.mark.parametrize(
    "url",
    [
        "milvus://canary@host:port",
        "milvus://root:canary@host/a/b",
        "milvus://canary@",
        "milvus://canary@host?colour=red",
        "milvus://canary@host?timeout=soon",
    ],
)
def test_no_message_and_no_repr_quotes_the_token(url: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        place_of(url)
    assert "canary" not in str(refused.value)
    assert "canary" not in repr(place_of("milvus://canary@host"))
