"""Which adapter a URL names, and what is said of one that names none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.errors import InvalidSetting
from stores.local.index import LocalIndex
from stores.open import open_graph, open_index, open_log
from stores.sqlite.graph import SqliteGraph
from stores.sqlite.log import SqliteLog


def index_at(url: str) -> object:
    return open_index(url, 4, "model-1")


def test_four_slashes_begin_an_absolute_path(tmp_path: Path) -> None:
    graph = open_graph(f"sqlite:///{tmp_path}/a folder/graph.db")
    log = open_log(f"sqlite:///{tmp_path}/log.db")
    index = open_index(f"local:///{tmp_path}/index", 4, "model-1")

    assert (type(graph), type(log), type(index)) == (SqliteGraph, SqliteLog, LocalIndex)
    assert sorted(path.name for path in tmp_path.iterdir() if "-" not in path.name) == ["a folder", "index", "log.db"]
    for store in (graph, log, index):
        store.close()


def test_three_slashes_begin_a_path_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_log("sqlite:///here/log.db").close()
    assert (tmp_path / "here" / "log.db").is_file()


@pytest.mark.parametrize(
    ("opener", "url", "problem"),
    [
        (open_graph, "nebula://host:9669/", "names the space ''"),
        (open_graph, "nebulas://root:secret@host/space", r"nebulas://\*\*\*@host"),
        (index_at, "milvus:///", "names no place; use milvus://token@host"),
        (open_graph, "kafka://host", "is unknown; use sqlite:///"),
        (open_log, "postgres://host", "is unknown; use sqlite:///"),
        (index_at, "sqlite:///file.db", "is unknown; use local:///"),
        (open_graph, "graph.db", "is unknown; use sqlite:///"),
        (open_log, "", "is unknown; use sqlite:///"),
        (open_log, "sqlite://log.db", "names no place"),
        (open_log, "sqlite:///", "names no place"),
        (index_at, "local:////", "names no place"),
    ],
)
def test_a_url_that_names_no_store_is_an_invalid_setting_that_says_what_to_use(
    opener: Callable[[str], object], url: str, problem: str
) -> None:
    with pytest.raises(InvalidSetting, match=problem):
        opener(url)
