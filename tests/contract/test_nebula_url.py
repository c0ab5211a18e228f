"""What a NebulaGraph URL says, and what is wrong with one that says it badly."""

from pathlib import Path

import msgspec
import pytest

from beliefmesh.settings import masked
from schemas.errors import InvalidSetting
from stores.nebula.options import NebulaOptions, options_of


def test_a_url_names_addresses_login_space_and_options() -> None:
    options = options_of(
        "nebula://ada:p%40ss@one:9670,[::1]:9671,three/mesh?partitions=8&replicas=3&timeout=2.5&claim_timeout=9"
    )

    assert options == NebulaOptions(
        addresses=(("one", 9670), ("::1", 9671), ("three", 9669)),
        space="mesh",
        user="ada",
        password="p@ss",
        partitions=8,
        replicas=3,
        timeout=2.5,
        claim_timeout=9.0,
    )


def test_a_url_without_a_login_means_the_account_of_a_fresh_server() -> None:
    options = options_of("nebula://graphd/mesh")

    assert (options.user, options.password, options.tls) == ("root", "nebula", False)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nebula://host:9669", "names the space ''"),
        ("nebula://host:9669/my-space", "names the space 'my-space'"),
        ("nebula:///mesh", "is not nebula://"),
        ("nebula://host:many/mesh", "'host:many' is not host:port"),
        ("nebula://host,:9669/mesh", "an address has no host"),
        ("nebula://ada@host/mesh", "both a user and a password"),
        ("nebula://ada:sec#ret@host/mesh", "%23"),
        ("nebula://host/mesh?replica=3", "'replica' is no option of nebula; there are claim_timeout, heartbeat"),
        ("nebula://host/mesh?password=x", "'password' is no option"),
        ("nebula://host/mesh?replicas=none", "replicas"),
        ("nebula://host/mesh?replicas=0", "replicas"),
        ("nebula://host/mesh?timeout=0", "timeout"),
        ("nebula://host/mesh?tls_ca=ca.pem", "no effect without tls=true"),
        ("nebula://host:9669/mesh?heartbeat", "heartbeat"),
    ],
)
def test_what_is_wrong_with_a_url_is_said(url: str, problem: str) -> None:
    with pytest.raises(InvalidSetting, match=problem):
        options_of(url)


@pytest.mark.parametrize(
    "url",
    [
        "nebula://ada:secret@host:9669",
        "nebula://ada:secret@host:many/mesh",
        "nebula://ada:secret@host/mesh?replicas=x",
        "nebula://ada:secret#@host/mesh",
        "nebula://ada:secret/@host/mesh",
    ],
)
def test_no_message_holds_the_password(url: str) -> None:
    with pytest.raises(InvalidSetting) as raised:
        options_of(url)

    assert "secret" not in str(raised.value)


def test_options_show_themselves_without_the_password() -> None:
    assert repr(options_of("nebula://ada:secret@host/mesh")) == "NebulaOptions(host:9669/mesh, user='ada')"


def test_settings_show_a_url_without_the_password() -> None:
    shown = masked("stores.graph", "nebula://ada:p%40ss@one:9669,two:9669/mesh?replicas=3")

    assert shown == "nebula://ada:***@one:9669,two:9669/mesh?replicas=3"


def test_every_option_of_a_url_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "nebula.md").read_text(encoding="utf-8")

    for field in msgspec.structs.fields(NebulaOptions):
        if field.name not in ("addresses", "space", "user", "password"):
            default = "empty" if field.default == "" else f"`{str(field.default).removesuffix('.0').lower()}`"
            assert f"| `{field.name}` | {default} |" in page
