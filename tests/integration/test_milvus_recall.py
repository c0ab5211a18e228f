"""A memory whose index is in Milvus: how often a recall asks it, another model, the doctor, a server that is away."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from recall.question import DEPTH
from schemas.errors import StoreUnavailable

stand_in: Any = pytest.importorskip("milvus_stand_in", reason="the milvus-lite extra is not installed")

pytestmark = pytest.mark.milvus

NOON = 1_718_020_800_000_000
TOLD = [
    {"text": f"The report of 2024-05-{day:02d} says the warehouse in Lyon is full", "agent": "ann"}
    for day in range(1, 29)
]

Open = Callable[..., Memory]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Any]:
    """A stand-in of this test alone, since it counts what it is asked."""
    server = stand_in.MilvusStandIn(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def open_with(tmp_path: Path) -> Iterator[Open]:
    """Opens one and the same memory over an index given by URL; the one before is closed."""
    opened: list[Memory] = []

    def opener(index: str, embedder: str = "hashing:256") -> Memory:
        while opened:
            opened.pop().close()
        settings = Settings(
            mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
            stores=StoreSettings(index=index, embedder=embedder),
        )
        opened.append(Memory(settings=settings, clock=lambda: NOON))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


def statements(memory: Memory, question: str) -> set[str]:
    return {one.belief.statement for one in memory.recall(question, limit=50).found}


@pytest.mark.parametrize(
    "question",
    ["where is the warehouse full?", "what did the report of May 2024 say?", "the report of last month", "?!"],
)
def test_a_recall_asks_milvus_for_at_most_three_searches(server: Any, open_with: Open, question: str) -> None:
    memory = open_with(server.url)
    memory.retain(TOLD)
    server.asked.clear()

    memory.recall(question)

    assert server.asked["search"] <= 3
    assert server.asked["query"] <= 4
    assert server.asked["search Strong"] == server.asked["upsert"] == 0


def test_several_crowded_periods_are_searched_in_one_go(server: Any, open_with: Open) -> None:
    memory = open_with(server.url)
    days = ("2024-05-02", "2024-05-09")
    memory.retain(
        [
            {"text": f"Parcel {number} came to Lyon", "agent": "ann", "observed_at": f"{day}T12:00:00Z"}
            for day in days
            for number in range(DEPTH)
        ]
    )
    server.asked.clear()

    answer = memory.recall("which parcel came on 2024-05-02 and on 2024-05-09?", limit=4)

    assert server.asked["search"] == 3
    assert {report.name for report in answer.reports if report.state == "ok"} >= {"semantic", "keyword", "temporal"}


def test_what_was_just_told_is_recalled_although_reads_are_bounded(server: Any, open_with: Open) -> None:
    memory = open_with(server.url)
    memory.retain("The warehouse in Lyon is full", agent="ann")

    assert server.asked["query Strong"] >= 1
    assert statements(memory, "warehouse Lyon") == {"The warehouse in Lyon is full"}


def test_strong_reads_are_an_option_of_the_url(server: Any, open_with: Open) -> None:
    memory = open_with(f"{server.url}?consistency=strong")
    memory.retain(TOLD[:3])
    memory.recall("warehouse")
    assert server.asked["search"] == server.asked["search Strong"] > 0


def test_another_embedder_never_empties_recall_and_everything_is_indexed_again(tmp_path: Path, open_with: Open) -> None:
    url = f"milvus:///{tmp_path}/index.db"
    told = {str(one["text"]) for one in TOLD}
    open_with(url).retain(TOLD)

    changed = open_with(url, embedder="hashing:64")

    assert statements(changed, "report warehouse Lyon full") == told
    assert changed.doctor().differences == ()
    assert statements(changed, "report warehouse Lyon full") == told


def test_the_doctor_finds_and_repairs_what_an_index_lost(tmp_path: Path, open_with: Open) -> None:
    memory = open_with(f"milvus:///{tmp_path}/index.db")
    memory.retain(TOLD[:3])
    assert memory.home.index is not None
    memory.home.index.drop("default")

    assert len(memory.doctor().differences) == 3
    assert memory.doctor(fix=True).healthy
    assert len(statements(memory, "report warehouse")) == 3


def test_a_server_that_goes_away_degrades_a_recall_and_does_not_fail_it(server: Any, open_with: Open) -> None:
    memory = open_with(f"{server.url}?timeout=0.5")
    memory.retain(TOLD[:3])
    server.stop()

    answer = memory.recall("warehouse Lyon")

    assert answer.degraded
    assert {report.name for report in answer.reports if report.state == "failed"} == {"semantic", "keyword"}


@pytest.mark.parametrize("fault", ["before", "after", "late"])
@pytest.mark.parametrize("kind", ["upsert", "query", "delete"])
def test_whatever_call_fails_the_doctor_mends_what_is_left(server: Any, open_with: Open, kind: str, fault: str) -> None:
    memory = open_with(f"{server.url}?timeout=0.7")
    memory.retain("The warehouse in Lyon is full", agent="ann")
    index = memory.home.index
    assert index is not None
    server.faults[kind] = fault

    with suppress(StoreUnavailable):
        memory.retain(TOLD[:5])
    with suppress(StoreUnavailable):
        index.delete("default", list(index.versions("default"))[:1])

    assert server.faults == {}
    assert memory.doctor(fix=True).healthy
    assert memory.doctor().differences == ()
    assert len(statements(memory, "warehouse Lyon full")) == 6


def test_a_wrong_token_is_said_to_be_a_possible_reason_and_is_not_quoted(server: Any, open_with: Open) -> None:
    with pytest.raises(StoreUnavailable, match="takes this token") as refused:
        open_with(server.url.replace("mesh-secret", "canary"))
    assert "canary" not in str(refused.value)
