"""The command `schema`: JSON for programs in other languages, with or without --json."""

import json

import pytest

from beliefmesh.cli.entry import run


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """What a command prints, read as one JSON value."""
    assert run(["schema", *arguments]) == 0
    value: dict[str, object] = json.loads(capsys.readouterr().out)
    return value


def test_it_prints_the_message_that_a_producer_writes(capfd: pytest.CaptureFixture[str]) -> None:
    schema = printed(capfd)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["required"] == ["v", "id", "type", "body"]
    assert set(schema["$defs"]) == {"Observation", "Source", "Claim", "Entity"}  # type: ignore[call-overload]
    assert printed(capfd, "observation") == printed(capfd, "--json") == schema


def test_it_prints_what_else_travels_and_an_example(capfd: pytest.CaptureFixture[str]) -> None:
    assert "Change" in printed(capfd, "change")["$defs"]  # type: ignore[operator]
    assert printed(capfd, "envelope")["$defs"] == {}
    assert printed(capfd, "--example")["type"] == "observation"


@pytest.mark.parametrize("arguments", [["gossip"], ["change", "--example"]])
def test_what_it_does_not_have_is_a_bad_input(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", *arguments]) == 2
    assert "observation" in capfd.readouterr().err
