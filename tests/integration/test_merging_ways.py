"""Merging over HTTP, by the client, on the command line and awaited; and the proposals of a bank."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from click.testing import CliRunner

from beliefmesh.aio import AsyncMemory
from beliefmesh.cli.entry import beliefmesh
from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.entity import Entity
from schemas.errors import InvalidInput, NotFound

PEOPLE = [
    {
        "id": f"o{number}",
        "observed_at": at,
        "source": f"s{number}",
        "claims": [{"entity": {"name": name, "type": "person"}, "attribute": attribute, "value": value}],
    }
    for number, (name, attribute, value, at) in enumerate(
        [
            ("Bob Miller", "employer", "Acme", "2024-05-01"),
            ("Robert Miller", "employer", "Globex", "2024-06-01"),
            ("Robert Miller", "city", "Oslo", "2024-06-01"),
            ("Robert Miller", "alias", "Robbie", "2024-06-02"),
            ("Ines Duarte", "city", "Porto", "2024-06-02"),
        ]
    )
]


@pytest.fixture
def people(memory: Memory) -> Memory:
    memory.retain(PEOPLE)
    return memory


@pytest.fixture
def url(people: Memory) -> Iterator[str]:
    """Where the memory is served over HTTP."""
    server = uvicorn.Server(uvicorn.Config(create_app(people, people.home.settings), log_config=None))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


def test_a_client_merges_and_parts_as_the_memory_does(people: Memory, url: str) -> None:
    client = RemoteMemory(url)
    before = people.state_hash()

    preview = client.merge("Bob Miller", into="Robert Miller", preview=True)
    assert preview == people.merge("Bob Miller", into="Robert Miller", preview=True)
    merged = client.merge("Bob Miller", into=Entity("Robert Miller", "person"), agent="mira")
    assert merged.applied
    assert client.merge("Bob Miller", into="Robert Miller").ids == merged.ids, "sent again it is done already"
    assert client.entities("Robbie") == people.entities("Robbie")
    assert client.entities("Robbie")[0].same_as == (Entity("Bob Miller", "person"),)
    client.unmerge("Bob Miller")

    assert people.state_hash() == before
    with pytest.raises(NotFound, match="not merged"):
        client.unmerge("Bob Miller")
    with pytest.raises(InvalidInput, match="itself"):
        client.merge("Bob Miller", into="Bob Miller")
    assert client.merge_proposals() == people.merge_proposals()


def test_http_tells_a_merge_as_plain_data_and_names_what_is_missing(url: str) -> None:
    place = f"{url}/v1/banks/default/entities"
    told = httpx.post(f"{place}/merge", json={"entity": "Bob Miller", "into": "Robert Miller", "preview": True}).json()
    assert told["canonical"] == {"name": "Robert Miller", "type": "person"}
    assert [(one["attribute"], one["conflict"]) for one in told["joins"]] == [("employer", True)]
    missing = httpx.post(f"{place}/merge", json={"entity": "Bob Miller"})
    assert (missing.status_code, missing.json()["error"]["field"]) == (422, "into")
    unknown = httpx.post(f"{place}/merge", json={"entity": "Nobody", "into": "Robert Miller"})
    assert unknown.status_code == 404
    assert httpx.get(place, params={"name": "Robbie"}).json()["entities"][0]["aliases"] == ["Robbie"]
    assert httpx.get(place, params={"limit": 0}).status_code == 422
    assert len(httpx.get(f"{place}/proposals").json()["proposals"]) == 1


def test_proposals_name_the_likely_pair_and_none_once_it_is_merged(people: Memory) -> None:
    before = people.state_hash()

    (found,) = people.merge_proposals()

    assert (found.entity.name, found.into.name) == ("Bob Miller", "Robert Miller")
    assert found.score >= 0.5
    assert any("differ in employer" in reason for reason in found.reasons)
    assert people.state_hash() == before
    people.merge(found.entity, found.into)
    assert people.merge_proposals() == ()


def test_it_is_awaited_too(people: Memory) -> None:
    async def both() -> tuple[Any, ...]:
        memory = AsyncMemory(memory=people)
        report = await memory.merge("Bob Miller", into="Robert Miller")
        found = await memory.entities("Bob Miller")
        receipt = await memory.unmerge("Bob Miller")
        return report.applied, found[0].canonical.name, len(receipt.ids), len(await memory.merge_proposals())

    assert asyncio.run(both()) == (True, "Robert Miller", 1, 1)


def test_the_command_line_merges_lists_and_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "none:")
    with Memory(tmp_path) as memory:
        memory.retain(PEOPLE)

    def run(*arguments: str) -> Any:
        done = CliRunner().invoke(beliefmesh, [*arguments, "--folder", str(tmp_path), "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.output)

    def shown(*arguments: str) -> str:
        return CliRunner().invoke(beliefmesh, [*arguments, "--folder", str(tmp_path)]).output

    assert not run("merge", "Bob Miller", "--into", "Robert Miller", "--preview")["applied"]
    assert "employer: Acme | Globex → Globex" in shown("merge", "Bob Miller", "--into", "Robert Miller", "--preview")
    assert "Bob Miller (person)" in shown("entities", "--proposals")
    assert run("merge", "Bob Miller", "--type", "person", "--into", "Robert Miller", "--agent", "mira")["applied"]
    assert "the same as Robert Miller (person)" in shown("entities", "Bob Miller")
    assert run("entities", "Bob Miller")[0]["canonical"]["name"] == "Robert Miller"
    assert len(run("unmerge", "Bob Miller")["ids"]) == 1
    assert run("entities", "Bob Miller")[0]["same_as"] == []


def test_eval_entities_prints_precision_and_recall_of_both_halves() -> None:
    done = CliRunner().invoke(beliefmesh, ["eval", "entities", "--json"])
    rows = json.loads(done.output)["rows"]
    assert [(row["half"], row["language"]) for row in rows] == [
        ("building", "en"),
        ("building", "zh"),
        ("scoring", "en"),
        ("scoring", "zh"),
    ]
    assert "precision" in CliRunner().invoke(beliefmesh, ["eval", "entities"]).output
