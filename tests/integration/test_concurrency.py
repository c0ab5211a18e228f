"""Many at once: nobody's evidence is lost, one holder remains, one process owns a folder."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from actors.shard import EntityShard
from beliefmesh.aio import AsyncMemory
from beliefmesh.memory import Memory
from beliefs.attest import attest
from beliefs.revise import revise
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import FolderInUse, VersionConflict
from schemas.evidence import Evidence
from schemas.instant import DAY, Instant
from schemas.observation import Observation, Source
from schemas.policy import Policy
from schemas.slot import Decision, slot_id
from stores.sqlite.graph import SqliteGraph

ROOT = Path(__file__).parents[2]
NOW: Instant = 1_718_020_800_000_000


def at_once(work: Callable[[int], object], count: int) -> list[object]:
    """Run the work in `count` threads that all begin together."""
    together = threading.Barrier(count)

    def begin(number: int) -> object:
        together.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def door(value: str, *, agent: str, day: int = 0, kind: str = "observation") -> dict[str, object]:
    claim = {"attribute": "colour", "value": value, "kind": kind}
    return {"entity": "door", "agent": agent, "observed_at": f"2024-05-{day + 1:02}", "claims": [claim]}


def piece(value: str, origin: str, at: Instant = NOW) -> Evidence:
    claim = Claim(entity=Entity("door"), attribute="colour", value=value)
    told = Observation(id=f"{origin}-{value}", bank="b", source=Source(origin), observed_at=at, claims=(claim,))
    return attest(told, NOW)[0]


def test_thirty_two_writers_of_one_slot_leave_one_holder_and_lose_nobodys_evidence(memory: Memory) -> None:
    at_once(lambda n: memory.retain(door(f"colour {n}", agent=f"agent {n}", day=n % 28, kind="instruction")), 32)

    (slot,) = [slot_id("default", Entity("door"), "colour")]
    stored = memory.home.graph.load_slots("default", [slot])[slot]
    assert len(stored.evidence) == 32
    assert [belief.status for belief in stored.slot.beliefs].count("active") == 1
    assert memory.recall("colour of the door").found[0].belief.status == "active"
    assert memory.doctor().differences == ()


def test_the_state_after_many_writers_is_that_after_one(open_memory) -> None:
    crowd, alone = open_memory("crowd"), open_memory("alone")
    at_once(lambda n: crowd.retain(door(f"colour {n % 5}", agent=f"agent {n}", day=n % 28)), 32)
    alone.retain([door(f"colour {n % 5}", agent=f"agent {n}", day=n % 28) for n in range(32)])
    assert crowd.state_hash() == alone.state_hash()


def test_writers_and_readers_at_once_never_see_less_than_was_acknowledged(open_memory) -> None:
    memory = open_memory()
    memory.home.start()

    def write_and_read(number: int) -> bool:
        token = memory.retain({"text": f"Parcel {number} is in hall {number}", "agent": f"agent {number}"}).token
        found = memory.recall(f"Parcel {number}", wait_for=token, limit=20).found
        return any(f"Parcel {number} " in one.belief.statement for one in found)

    assert all(at_once(write_and_read, 16))


def test_eight_writers_who_name_one_new_entity_at_once_make_one(memory: Memory) -> None:
    names = ["Ada Lovelace", "ada lovelace", "ADA LOVELACE", " Ada  Lovelace ", "Ａｄａ Lovelace"]
    at_once(
        lambda n: memory.retain(
            {"entity": names[n % 5], "agent": f"agent {n}", "claims": [{"attribute": f"fact {n}", "value": n}]}
        ),
        8,
    )
    assert memory.stats("default")["banks"]["default"]["entities"] == 1
    assert memory.stats("default")["banks"]["default"]["slots"] == 8
    assert len(memory.home.graph.entities("default", ["ada lovelace"])) == 1


def test_one_message_sent_by_eight_clients_at_once_counts_once(memory: Memory) -> None:
    receipts = at_once(lambda _: memory.retain(door("red", agent="ann")), 8)
    assert len({receipt.ids for receipt in receipts}) == 1  # type: ignore[attr-defined]
    assert memory.stats("default")["banks"]["default"]["evidence"] == 1


def test_a_second_process_is_told_who_owns_the_folder(memory: Memory) -> None:
    script = "import sys; from beliefmesh.memory import Memory; Memory(sys.argv[1])"
    second = subprocess.run(
        [sys.executable, "-c", script, str(memory.home.folder.path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert second.returncode != 0
    last = second.stderr.strip().splitlines()[-1]
    assert "FolderInUse" in last
    assert f"process {os.getpid()}" in last
    memory.retain(door("red", agent="ann"))
    assert len(memory.recall("colour of the door").found) == 1


def test_a_folder_that_was_given_up_can_be_taken(open_memory) -> None:
    first = open_memory()
    with pytest.raises(FolderInUse, match=str(os.getpid())):
        open_memory()
    first.close()
    open_memory().retain(door("red", agent="ann"))


def test_a_zombie_shard_is_fenced_and_neither_shards_evidence_is_lost(tmp_path: Path) -> None:
    """Two shards that each believe to be the only writer, each with the slot in its cache."""
    graph = SqliteGraph(tmp_path / "graph.db")
    alive, zombie = EntityShard(graph), EntityShard(graph)
    alive.apply([piece("red", "ann")], NOW)
    zombie.apply([piece("blue", "bob")], NOW)
    alive.apply([piece("red", "cid")], NOW)
    zombie.apply([piece("green", "dan")], NOW)
    at_once(lambda n: (alive, zombie)[n % 2].apply([piece("red", f"agent {n}")], NOW), 2)

    id = slot_id("b", Entity("door"), "colour")
    stored = graph.load_slots("b", [id])[id]
    assert sorted(one.source.id for one in stored.evidence) == ["agent 0", "agent 1", "ann", "bob", "cid", "dan"]
    assert stored.slot.version == 6
    graph.close()


def test_of_two_decisions_at_one_version_one_is_refused(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    first = revise(None, [piece("red", "ann")], Policy(), NOW).decision
    second = revise(None, [piece("blue", "bob")], Policy(), NOW).decision
    assert isinstance(first, Decision)
    assert isinstance(second, Decision)
    graph.apply([first])
    with pytest.raises(VersionConflict):
        graph.apply([second])
    graph.close()


def test_eight_shards_on_one_slot_give_the_state_of_one(tmp_path: Path) -> None:
    crowd, alone = SqliteGraph(tmp_path / "crowd.db"), SqliteGraph(tmp_path / "alone.db")
    told = [piece(f"colour {n % 3}", f"agent {n}", NOW - n * DAY) for n in range(8)]

    def decide(number: int) -> None:
        shard = EntityShard(crowd)
        while True:
            try:
                shard.apply([told[number]], NOW)
                return
            except VersionConflict:
                continue

    at_once(decide, 8)
    EntityShard(alone).apply(told, NOW)
    id = slot_id("b", Entity("door"), "colour")
    one, other = crowd.load_slots("b", [id])[id], alone.load_slots("b", [id])[id]
    assert one.evidence == other.evidence
    assert [(b.id, b.status, b.support) for b in one.slot.beliefs] == [
        (b.id, b.status, b.support) for b in other.slot.beliefs
    ]
    crowd.close()
    alone.close()


async def _ask_at_once(memory: Memory) -> list[object]:
    mesh = AsyncMemory(memory=memory)
    await mesh.retain(door("red", agent="ann"))
    answers = [await mesh.recall("colour of the door") for _ in range(3)]
    values: list[object] = [answer.found[0].belief.value for answer in answers]
    await mesh.close()
    return values


def test_the_asyncio_client_gives_the_same_answers(open_memory) -> None:
    assert asyncio.run(_ask_at_once(open_memory())) == ["red", "red", "red"]
