"""docs/producing.md: its program writes what is read, and its tables name every field."""

import re
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgpack
import pytest
from jsonschema import Draft202012Validator

from schemas.claim import Claim
from schemas.entity import Entity
from schemas.json_schema import example, message_schema
from schemas.observation import Observation, Source, observation_key
from schemas.wire import unpack
from streams.screen import screen

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "producing.md").read_text(encoding="utf-8")


class Receipt:
    """What a send returns."""

    def get(self, timeout: float) -> None:
        """The brokers have taken it."""


class Producer:
    """Stands for kafka-python's KafkaProducer: keeps what is sent."""

    sent: list[dict[str, Any]] = []  # noqa: RUF012 (the program makes the producer; the test reads its class)

    def __init__(self, **settings: object) -> None:
        assert settings["bootstrap_servers"] == "broker:9092"
        assert settings["acks"] == "all"

    def send(self, topic: str, **record: object) -> Receipt:
        """Keep a record."""
        self.sent.append({"topic": topic, **record})
        return Receipt()

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the page's program sends."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "tell.py"
    file.write_text(program, encoding="utf-8")
    network = ModuleType("kafka")
    network.KafkaProducer = Producer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kafka", network)
    monkeypatch.setattr(sys, "argv", ["tell.py", "broker:9092", "observations"])
    monkeypatch.setattr(Producer, "sent", [])
    runpy.run_path(str(file), run_name="__main__")
    return Producer.sent


def test_what_the_program_sends_is_read_as_it_was_meant(sent: list[dict[str, Any]]) -> None:
    first, second = (unpack(record["value"], Observation) for record in sent)

    assert first == Observation(
        id="monitor-8841",
        bank="default",
        source=Source("monitor", type="tool"),
        observed_at=first.observed_at,
        agent="monitor",
        text="The checkout service is down.",
        entity=Entity("checkout", "service"),
        claims=(
            Claim(entity=Entity("checkout", "service"), attribute="state", value="down", scope=(("region", "EU"),)),
        ),
    )
    assert second.id == "monitor-8842"


def test_what_the_program_sends_is_taken_and_fits_the_schema(sent: list[dict[str, Any]]) -> None:
    for record in sent:
        screen(unpack(record["value"], Observation))
        Draft202012Validator(message_schema("observation")).validate(msgpack.unpackb(record["value"]))


def test_the_program_picks_the_same_key_as_this_library(sent: list[dict[str, Any]]) -> None:
    for record in sent:
        assert record["key"].decode() == observation_key(unpack(record["value"], Observation))
        assert record["topic"] == "observations"


@pytest.mark.parametrize(("section", "kind"), [("observation", Observation), ("source", Source), ("claim", Claim)])
def test_the_page_names_every_field(section: str, kind: type[Any]) -> None:
    (table,) = re.findall(rf"### (?:The|A) {section}\n(.*?)\n\n", PAGE, re.DOTALL)
    named = {field for line in table.splitlines()[2:] for field in re.findall(r"`(\w+)`", line.split("|")[1])}

    assert named == set(kind.__struct_fields__)


def test_the_command_for_kcat_bears_the_key_of_the_example() -> None:
    said = unpack(msgpack.packb(example()), Observation)

    assert f"kcat -P -b localhost:9092 -t observations -k '{observation_key(said)}'" in PAGE
