"""Questions that come at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from actors.recaller import Recaller
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from recall.question import Question, Sources
from schemas.instant import parse_instant
from schemas.query import Query
from stores.local.index import LocalIndex
from stores.ports import Hit
from stores.sqlite.graph import SqliteGraph

NOW = parse_instant("2024-06-10", "now")


def test_questions_that_come_at_a_time_take_turns_so_that_none_waits_on_anothers_deadline(tmp_path: Path) -> None:
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path), runtime="inline"), stores=StoreSettings(embedder="none:")
    )
    with Memory(settings=settings, clock=lambda: NOW) as memory:
        memory.retain("The lake is cold.")
    graph, index = SqliteGraph(tmp_path / "graph.db"), LocalIndex(tmp_path / "index", 1, "none")
    asking: set[int] = set()
    together: list[int] = []
    turn = threading.Lock()

    def slow(question: Question, sources: Sources) -> list[Hit]:
        with turn:
            asking.add(id(question))
            together.append(len(asking))
        hits = [hit for _ in range(20) for hit in sources.index.keyword(question.filter, "lake", 5)]
        with turn:
            asking.discard(id(question))
        return hits[:1]

    recaller = Recaller(graph, index, None, retrievers={"slow": slow}, threads=8)
    query = Query(bank="default", text="How is the lake?", now=NOW, retrievers=("slow",))
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(recaller.recall, [query] * 48))

    assert max(together) <= 2
    assert all(len(answer.found) == 1 for answer in answers)
    recaller.close()
    index.close()
    graph.close()
