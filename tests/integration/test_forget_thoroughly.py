"""Forgetting reaches our own texts, the whole archive, and a graph that is an older copy; its lease lasts as long."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Event, current_thread
from typing import Any

import pytest

from beliefmesh.memory import Memory
from beliefmesh.work import unarchived
from jobs import run as running
from schemas.errors import Busy
from schemas.instant import MINUTE, Instant, parse_instant
from schemas.job import JobRun
from stores.owner import new_owner

OpenMemory = Callable[..., Memory]
NOW = parse_instant("2024-06-10T12:00:00Z", "now")


def told(id: str, value: str, day: str = "2024-05-01", **more: object) -> dict[str, object]:
    claim = {"entity": "shop", "attribute": "color", "value": value}
    return {"id": id, "claims": [claim], "observed_at": day, "source": f"source of {id}", **more}


def statements(memory: Memory, question: str) -> str:
    return "\n".join(found.belief.statement for found in memory.recall(question).found)


def test_a_narrative_goes_with_any_voice_that_it_repeats(memory: Memory) -> None:
    memory.retain({"id": "o1", "text": "The gateway port is 8080.", "agent": "alice", "session": "s1"})
    memory.retain({"id": "o2", "text": "The gateway port is 8080.", "agent": "bob", "session": "s2"})
    narrative = memory.narrate("s1")
    assert "alice" in narrative.text

    report = memory.forget(ids=["o1"])

    assert (report.observations, report.derived) == (2, 1)
    assert "alice" not in statements(memory, "What is the gateway port in session s1?")
    assert "8080" in statements(memory, "What is the gateway port?")


def test_a_summary_goes_with_any_voice_that_it_repeats(memory: Memory) -> None:
    claim = {"entity": "tea", "attribute": "drink", "value": "oolong"}
    for id, owner, words in [("o1", "bob", "Tea: bob drinks oolong."), ("o2", "alice", "Tea: alice loves oolong.")]:
        memory.retain({"id": id, "owner": owner, "agent": owner, "claims": [{**claim, "statement": words}]})
    memory.summary("tea")

    report = memory.forget(owner="alice")

    assert (report.observations, report.derived) == (2, 1)
    assert "alice" not in memory.summary("tea").text


def test_a_conclusion_of_somebody_else_stays_while_others_speak_for_its_premise(memory: Memory) -> None:
    memory.retain([told("o1", "red"), told("o2", "red")])
    (red,) = [found.belief.id for found in memory.recall("color of the shop").found]
    claim = {"entity": "shop", "attribute": "mood", "value": "warm", "premises": [red]}
    memory.retain({"id": "o3", "kind": "derivation", "source": "narrator", "claims": [claim]})

    report = memory.forget(ids=["o1"])

    assert (report.observations, report.derived) == (1, 0)


def test_what_an_unfinished_restore_has_passed_is_brought_back_all_the_same(
    open_memory: OpenMemory, clock: Any
) -> None:
    memory = open_memory(clock=clock, embedder="none:")
    clock.set("2024-01-01T00:00:00Z")
    memory.retain([told(f"o{day}", "red", f"2023-12-{day}", source="camera") for day in range(10, 30)])
    clock.set("2024-09-01T00:00:00Z")
    assert memory.run_job("compaction").counts["archived"] > 0
    owner, ledger = new_owner(), memory.home.ledger
    ledger.take("default", owner, clock())
    stopped = JobRun(id="j1", job="restore", bank="default", mode="apply", started=clock(), cursor="~")
    ledger.save(stopped, owner, clock())
    ledger.release("default", owner)
    clock.set("2024-09-01T00:00:01Z")

    report = memory.forget(source="camera")

    assert report.observations == 20
    assert list(memory.home.archive.everything()) == []


def test_the_lease_lasts_while_it_is_forgotten_however_long_that_takes(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_BEAT_SECONDS", 0.001)
    times: list[Instant] = []
    beaten = Event()

    def clock() -> Instant:
        if current_thread().name != "lease":
            return NOW
        times.append(NOW + 10 * MINUTE)
        if len(times) == 2:
            beaten.set()
        return times[-1]

    memory = open_memory(clock=clock, embedder="none:")
    memory.retain(told("o1", "red"))

    with unarchived(memory.home, "default"):
        assert beaten.wait(30)
        with pytest.raises(Busy):
            memory.home.ledger.take("default", new_owner(), NOW + 14 * MINUTE)
    memory.home.ledger.take("default", new_owner(), NOW + 14 * MINUTE)


@pytest.fixture
def older_copy(open_memory: OpenMemory, tmp_path: Path) -> Callable[[], None]:
    """Puts a graph in place that was copied before `o1` was forgotten."""
    memory = open_memory()
    memory.retain([told("o1", "red"), told("o2", "blue")])
    (path,) = tmp_path.rglob("graph.db")
    with sqlite3.connect(path) as source, sqlite3.connect(tmp_path / "copy") as copy:
        source.backup(copy)
    memory.forget(ids=["o1"])
    memory.close()

    def put() -> None:
        with sqlite3.connect(tmp_path / "copy") as copy, sqlite3.connect(path) as target:
            copy.backup(target)

    return put


def test_an_older_copy_of_the_graph_forgets_again_when_it_is_opened(
    open_memory: OpenMemory, older_copy: Callable[[], None]
) -> None:
    older_copy()

    memory = open_memory()

    assert memory.home.graph.evidence_of_observations("default", ["o1"]) == []
    assert [found.belief.value for found in memory.recall("color of the shop").found] == ["blue"]
    assert memory.doctor().differences == ()


def test_doctor_names_an_older_copy_that_was_put_in_place_meanwhile_and_mends_it(
    open_memory: OpenMemory, older_copy: Callable[[], None]
) -> None:
    memory = open_memory()
    older_copy()
    difference = "1 forgotten observation of bank default is unknown to the graph, which is an older copy"
    assert difference in memory.doctor().differences

    report = memory.doctor(fix=True)

    assert difference in report.fixed
    assert report.healthy
    assert memory.home.graph.evidence_of_observations("default", ["o1"]) == []
    assert memory.doctor().differences == ()
