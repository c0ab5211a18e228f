"""Forgetting over HTTP, by the remote client, asynchronously and on the command line: one verb, one report."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from beliefmesh.aio import AsyncMemory
from beliefmesh.cli.entry import run
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.errors import InvalidInput

TOLD = [
    {"id": "o1", "text": "The checkout is down.", "owner": "alice", "observed_at": "2024-05-01"},
    {"id": "o2", "text": "The search is down.", "owner": "bob", "observed_at": "2024-05-01"},
]


def test_http_forgets_and_says_what_is_wrong(memory: Memory, url: str) -> None:
    memory.retain(TOLD)
    with httpx.Client(base_url=url, trust_env=False) as client:
        would = client.post("/v1/banks/default/forget", json={"ids": ["o1", "o9"], "dry_run": True}).json()
        done = client.post("/v1/banks/default/forget", json={"ids": ["o1", "o9"]}).json()
        nothing = client.post("/v1/banks/default/forget", json={})
        wrong = client.post("/v1/banks/default/forget", json={"ids": "o1"})
        strange = client.post("/v1/banks/default/forget", json={"name": "o1"})

    assert (would["observations"], would["unknown"], would["dry_run"]) == (1, 1, True)
    assert (done["observations"], done["evidence"], done["beliefs"]) == (1, 1, 1)
    assert nothing.status_code == 422
    assert "give ids, an owner or a source" in nothing.json()["error"]["message"]
    assert wrong.json()["error"]["field"] == "ids"
    assert strange.json()["error"]["field"] == "name"
    assert memory.home.graph.counts("default")["evidence"] == 1


def test_the_remote_client_and_the_async_one_give_the_same_report(memory: Memory, url: str) -> None:
    memory.retain(TOLD)
    with RemoteMemory(url) as remote:
        would = remote.forget(owner="alice", dry_run=True)
        assert would == memory.forget(owner="alice", dry_run=True)
        with pytest.raises(InvalidInput, match="names nothing"):
            remote.forget()
        assert remote.forget(owner="alice").observations == 1

    async def again() -> int:
        return (await AsyncMemory(memory=memory).forget(owner="bob")).observations

    assert asyncio.run(again()) == 1
    assert memory.banks() == []


def test_the_command_line_asks_for_yes_and_reads_ids_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "none:")
    folder = str(tmp_path / "mesh")
    lines = tmp_path / "told.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in TOLD))
    ids = tmp_path / "ids"
    ids.write_text("o1\n\no9\n")
    assert run(["import", str(lines), "--folder", folder, "--json"]) == 0
    capsys.readouterr()

    assert run(["forget", "--file", str(ids), "--folder", folder, "--json"]) == 2
    assert "--yes" in capsys.readouterr().out
    assert run(["forget", "--folder", folder, "--json"]) == 2
    assert "nothing to forget" in capsys.readouterr().out
    assert run(["forget", "--file", str(ids), "--dry-run", "--folder", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["observations"] == 1
    assert run(["forget", "--file", str(ids), "--yes", "--folder", folder]) == 0
    shown = capsys.readouterr().out
    assert "1 observation of bank default was forgotten: 1 piece of evidence in 1 slot, 1 belief gone" in shown
    assert "1 id is of nothing that is here" in shown
