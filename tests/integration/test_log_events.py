"""What log events tell of: each event of the docs with its keys, the trace, and never a secret."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

from actors.shard import EntityShard
from beliefmesh.http.app import create_app
from beliefmesh.logs import configure_logs
from beliefmesh.memory import Memory
from beliefmesh.settings import LogSettings, environment_name, load_settings, masked, secrets_of, setting_names
from schemas.slot import Amendment
from stores.ports import Entry

ROOT = Path(__file__).parents[2]
TRACE = "0af7651916cd43dd8448eb211c80319c"
HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
OPENS = {"id": "o1", "text": "Opens at 9.", "entity": "shop", "claims": [{"attribute": "opens at", "value": "9:00"}]}


@pytest.fixture
def events(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """What a process that logs everything as JSON has written so far, by event name."""
    before = structlog.get_config()
    configure_logs(LogSettings(level="debug", format="json"))

    def written(name: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == name]

    yield written
    structlog.configure(**before)


def test_what_is_accepted_is_told_with_its_id_bank_entity_place_and_trace(memory: Memory, url: str, events) -> None:
    httpx.post(f"{url}/v1/banks/b/observations", json=OPENS, headers=HEADERS, timeout=30)

    (told,) = events("observations.accepted")
    assert (told["event_id"], told["bank"], told["entity"], told["trace_id"]) == ("o1", "b", "shop", TRACE)
    assert (told["level"], told["offset"]) == ("info", 0)
    assert 0 <= told["partition"] < 8


def test_of_many_at_once_the_number_is_told_and_the_first_ids(memory: Memory, events) -> None:
    memory.retain([{"id": f"o{number}", "text": f"Note {number}."} for number in range(30)])

    (told,) = events("observations.accepted")
    assert (told["observations"], told["banks"], len(told["event_ids"])) == (30, ["default"], 20)


def test_what_is_set_aside_is_told_with_what_can_be_read_of_it(memory: Memory, events) -> None:
    poison = Entry("default/camera", b"\xffno envelope", HEADERS)
    memory.home.log.append("observations", [poison], memory.home.clock())
    memory.home.worker.drain()

    (told,) = events("record.dead_lettered")
    assert (told["level"], told["stage"], told["error"], told["bank"]) == (
        "warning",
        "extract",
        "MalformedMessage",
        "default",
    )
    assert (told["topic"], told["offset"], told["attempts"], told["trace_id"]) == ("observations", 0, 1, TRACE)


def test_a_belief_that_moved_is_told_with_its_slot_version_and_observations(memory: Memory, events) -> None:
    memory.retain(OPENS)

    (told,) = events("belief.revised")
    assert (told["level"], told["bank"], told["entity"], told["status"]) == ("debug", "default", "shop", "active")
    assert (told["event_ids"], told["version"]) == (["o1"], 1)


def test_a_write_that_met_another_writer_is_told_with_slot_and_stage(memory: Memory, events) -> None:
    memory.retain(OPENS)
    memory.retain({**OPENS, "id": "o2"})
    graph = memory.home.graph
    (stored,) = graph.load_slots("default", graph.scan("default", "", 1)).values()
    gone = Amendment(bank="default", slot=stored.slot.id, remove=(stored.evidence[0].id,))
    EntityShard(graph).amend([gone], memory.home.clock())
    memory.retain({**OPENS, "id": "o3"})

    (told,) = events("slot.version_conflict")
    assert (told["slots"], told["banks"], told["attempt"], told["stage"]) == (
        [stored.slot.id],
        ["default"],
        1,
        "decide",
    )


def test_a_fault_of_ours_is_told_with_the_trace_of_its_request(memory: Memory, events) -> None:
    app = create_app(memory, memory.home.settings)

    @app.get("/v1/fault")
    async def fault() -> None:
        raise RuntimeError("nobody foresaw this")

    async def asked() -> int:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://mesh") as client:
            return (await client.get("/v1/fault", headers=HEADERS)).status_code

    assert asyncio.run(asked()) == 500
    (told,) = events("request.failed")
    assert (told["path"], told["trace_id"]) == ("/v1/fault", TRACE)
    assert "nobody foresaw this" in told["error"]


def test_a_process_that_set_up_no_logs_hears_of_nothing_below_a_warning(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    before = structlog.get_config()
    structlog.reset_defaults()

    memory.retain(OPENS)

    structlog.configure(**before)
    assert capsys.readouterr().out == ""


def test_every_event_that_is_written_stands_in_the_docs_and_no_other() -> None:
    rooms = ("beliefmesh", "streams", "jobs", "actors", "recall", "stores")
    text = "".join(path.read_text() for room in rooms for path in (ROOT / room).rglob("*.py"))
    written = set(
        re.findall(r"\b(?:_log|_?log_events)\.(?:debug|info|warning|error|log)\((?:level,)?\s*\"([\w.]+)\"", text)
    )
    written |= set(re.findall(r"\bnote\(\s*\"([\w.]+)\"", text))

    page = (ROOT / "docs/observing.md").read_text().partition("## Logs")[2].partition("## Traces")[0]
    documented = set(re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \|", page, re.MULTILINE))

    assert written == documented


SECRET = "canary-S3cret"
SECRETS = [key for key in setting_names() if masked(key, SECRET) != SECRET]
"""Every setting that is a secret as a whole."""


def test_secrets_are_found_in_settings_and_in_urls() -> None:
    environment = {environment_name(key): f"{SECRET}-{key}" for key in SECRETS} | {
        "BELIEFMESH_STORES__GRAPH": "nebula://root:p%40ssword@127.0.0.1:1/space",
        "BELIEFMESH_STORES__INDEX": "milvus://t0ken@127.0.0.1:1/x?password=hidden",
        "BELIEFMESH_ACCESS__JWT_ISSUER": "me",
    }

    found = secrets_of(load_settings(environment, ROOT / "tests").settings)

    assert found == {f"{SECRET}-{key}" for key in SECRETS} | {"p%40ssword", "p@ssword", "t0ken", "hidden"}


def test_no_line_bears_a_secret_whatever_brought_it_there(capsys: pytest.CaptureFixture[str]) -> None:
    before = structlog.get_config()
    configure_logs(LogSettings(level="debug", format="json"), [SECRET, 'quo"ted'])

    structlog.get_logger("http").error("request.failed", error=f"at x:{SECRET}@y", nested={"a": ['quo"ted']})

    structlog.configure(**before)
    text = capsys.readouterr().err
    assert json.loads(text)["nested"] == {"a": ["***"]}
    assert SECRET not in text


@pytest.mark.parametrize(
    "given",
    [
        {"BELIEFMESH_STORES__GRAPH": f"nebula://root:{SECRET}@127.0.0.1:1/space"},
        {"BELIEFMESH_STORES__LOG": "kafka://127.0.0.1:1", "BELIEFMESH_KAFKA__SASL": "plain"},
        {"BELIEFMESH_STORES__EMBEDDER": "http://127.0.0.1:1/v1/embeddings#m"},
    ],
    ids=["graph", "log", "embedder"],
)
def test_a_command_that_fails_with_all_logs_on_tells_no_secret(given: dict[str, str], tmp_path: Path) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
    secrets = {environment_name(key): SECRET for key in SECRETS if not key.startswith("tracing.")}
    done = subprocess.run(
        [sys.executable, "-m", "beliefmesh", "retain", "Free from 200.", "--folder", str(tmp_path / "mesh")],
        cwd=ROOT,
        env={
            **inherited,
            **secrets,
            "BELIEFMESH_MESH__RUNTIME": "inline",
            "BELIEFMESH_KAFKA__USERNAME": "me",
            "BELIEFMESH_LOGGING__LEVEL": "debug",
            **given,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 1, done.stderr
    assert SECRET not in done.stdout + done.stderr
