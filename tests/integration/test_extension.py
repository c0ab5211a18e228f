"""A caller's own retriever and filter, plugged into the client library."""

from pathlib import Path

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from recall.question import Question, Sources
from schemas.answer import Found
from stores.ports import Hit


def settings(folder: Path) -> Settings:
    return Settings(mesh=MeshSettings(folder=str(folder), runtime="inline"), stores=StoreSettings(embedder="none:"))


def test_a_retriever_and_a_filter_of_ones_own_take_part(tmp_path: Path) -> None:
    with Memory(settings=settings(tmp_path)) as memory:
        memory.retain(["The lake is cold.", "The lake is deep."])
        deep = next(belief.id for belief in memory.holders() if "deep" in belief.statement)

    def wanted(question: Question, sources: Sources) -> list[Hit]:
        return [Hit(deep, 1.0)]

    def shallow(found: Found) -> bool:
        return "cold" not in found.belief.statement

    with Memory(settings=settings(tmp_path), retrievers={"wanted": wanted}, filters=[shallow]) as memory:
        answer = memory.recall("How is the lake?")

    assert [found.belief.id for found in answer.found] == [deep]
    assert answer.found[0].scores["wanted"] == 1.0
    assert answer.left_out["filter"] == 1
