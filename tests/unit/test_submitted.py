"""Where a cluster takes jobs: host and port of its address, or a word on what it should be."""

import pytest

from actors.submitted import as_line, place_of
from schemas.errors import InvalidSetting


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("http://head:8265", ("head", 8265)),
        ("https://head", ("head", 443)),
        ("http://[::1]:8265", ("::1", 8265)),
    ],
)
def test_an_address_has_a_host_and_a_port(address: str, place: tuple[str, int]) -> None:
    assert place_of(address) == place


@pytest.mark.parametrize(
    "address", ["http://[::1", "http://head:port", "http://head:99999", "http://", "ray://head", ""]
)
def test_what_is_no_address_is_said_to_be_none(address: str) -> None:
    with pytest.raises(InvalidSetting, match="is not http://host:8265"):
        place_of(address)


def test_a_command_reaches_a_shell_word_by_word() -> None:
    assert as_line(["beliefmesh", "--set", "a=$(touch x); rm"]) == "beliefmesh --set 'a=$(touch x); rm'"
