"""What only the index in Milvus promises: literals, pages, models, long texts, killed processes, absent places."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schemas.errors import FolderInUse, InvalidSetting, NewerSchema, StoreUnavailable
from schemas.instant import DAY
from stores.milvus.place import place_of
from stores.open import open_index
from stores.ports import PUBLIC, IndexFilter, IndexRow, SearchIndex, Vectors

pytest.importorskip("milvus_lite", reason="the milvus-lite extra is not installed")

MilvusIndex: Any = pytest.importorskip("stores.milvus.index").MilvusIndex
MilvusCalls: Any = pytest.importorskip("stores.milvus.client").MilvusCalls

pytestmark = pytest.mark.milvus

MAY = 1_714_521_600_000_000
EAST = np.array([1, 0, 0, 0], np.float32)
EVERYBODY = IndexFilter(bank="acme", readers=(PUBLIC,))
HOSTILE = ["*", "%", "_", "", "b%", '"', "'", '" or row != "', "\\", "{beliefs}", "b1|b2", "免运费", "b1\n"]
ROOT = Path(__file__).parents[2]
WRITER = ROOT / "tests" / "milvus" / "milvus_writer.py"

Row = Callable[..., IndexRow]
Put = Callable[..., None]
FoundBy = Callable[[SearchIndex, IndexFilter], set[str]]
Opener = Callable[..., Any]


@pytest.fixture
def reopen(milvus_url: str) -> Iterator[Opener]:
    """Opens the index again, with another model, dimension or page where told; only one is open at a time."""
    opened: list[Any] = []

    def opener(model_id: str = "model-1", dimensions: int = 4, **options: Any) -> Any:
        while opened:
            opened.pop().close()
        opened.append(MilvusIndex(milvus_url, dimensions, model_id, **options))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


@pytest.fixture
def index(reopen: Opener) -> Any:
    """An empty index of four dimensions."""
    return reopen()


def everything(index: SearchIndex, filter: IndexFilter, dimensions: int = 4) -> list[set[str]]:
    """What each of the three searches finds when only the filter chooses."""
    vector = np.zeros(dimensions, np.float32)
    vector[0] = 1
    return [
        {hit.belief for hit in index.semantic(filter, vector, 100)},
        {hit.belief for hit in index.keyword(filter, "word", 100)},
        {hit.belief for hit in index.by_time(filter, MAY - 100 * DAY, MAY + 100 * DAY, 100)},
    ]


class TestLiterals:
    def test_ids_are_kept_and_found_as_they_are(self, index: Any, row: Row, put: Put, found_by: FoundBy) -> None:
        put(index, *[row(id, "word", entities=(id,), readers=(id,)) for id in HOSTILE])

        assert index.versions("acme") == dict.fromkeys(HOSTILE, 1)
        for id in HOSTILE:
            assert found_by(index, IndexFilter(bank="acme", readers=(id,))) == {id}
            assert found_by(index, IndexFilter(bank="acme", readers=tuple(HOSTILE), entities=(id,))) == {id}
            assert index.vectors("acme", [id], HOSTILE).keys() == {id}

    def test_none_widens_a_search_or_a_removal(self, index: Any, row: Row, put: Put, found_by: FoundBy) -> None:
        put(index, row("b1", "word", entities=("n1",)), row("b2", "word", bank="other", entities=("n1",)))

        for id in HOSTILE:
            assert found_by(index, IndexFilter(bank=id, readers=(PUBLIC,))) == set()
            assert found_by(index, IndexFilter(bank="acme", readers=(PUBLIC,), entities=(id,))) == set()
            assert found_by(index, IndexFilter(bank="acme", readers=(f"u:{id}",))) == set()
            assert index.vectors("acme", [id], [PUBLIC]) == {}
            index.delete("acme", [id])
            index.delete(id, ["b1"])
            index.drop(id)

        assert found_by(index, EVERYBODY) == {"b1"}
        assert found_by(index, IndexFilter(bank="other", readers=(PUBLIC,))) == {"b2"}

    def test_no_question_is_an_error_or_finds_what_it_does_not_name(self, index: Any, row: Row, put: Put) -> None:
        put(index, row("b1", "word"))
        for question in ("?", "!!! ...", "*", "%", '"', "' or row != '", "{reader}", "\x00", "a" * 9_000):
            assert index.keyword(EVERYBODY, question, 10) == []

    def test_readers_are_not_patterns_of_each_other(self, index: Any, row: Row, put: Put, found_by: FoundBy) -> None:
        put(index, row("b1", "word", readers=("u:ann", "u:bob")), row("b2", "word", readers=("u:an",)))
        assert found_by(index, IndexFilter(bank="acme", readers=("u:an",))) == {"b2"}
        assert found_by(index, IndexFilter(bank="acme", readers=("u:bob",))) == {"b1"}


class TestPages:
    def test_versions_are_whole_whatever_one_answer_holds(self, reopen: Opener, row: Row, put: Put) -> None:
        index = reopen(page_rows=7)
        put(index, *[row(f"b{at}", version=at + 1) for at in range(50)], row("b0", bank="other", version=99))

        assert index.versions("acme") == {f"b{at}": at + 1 for at in range(50)}

    def test_all_rows_of_a_belief_are_replaced_whatever_one_answer_holds(
        self, reopen: Opener, row: Row, put: Put
    ) -> None:
        index = reopen(page_rows=7)
        put(index, *[row("b1", "word", audience=f"a{at}", readers=(f"u:{at}",)) for at in range(50)])

        put(index, row("b1", "word", audience="a3", readers=("u:3",), version=2))

        assert index.versions("acme") == {"b1": 2}
        seen = [at for at in range(50) if index.keyword(IndexFilter(bank="acme", readers=(f"u:{at}",)), "word", 5)]
        assert seen == [3]

    def test_a_period_of_more_rows_than_a_page_gives_the_nearest(self, index: Any, row: Row, put: Put) -> None:
        put(index, *[row(f"b{at}", at=MAY + at * DAY) for at in range(600)])

        hits = index.by_time(EVERYBODY, MAY, MAY + 598 * DAY, 3)

        assert hits[0].belief == "b299"
        assert {hit.belief for hit in hits} == {"b298", "b299", "b300"}


class TestLongTexts:
    def test_a_word_at_the_end_of_a_very_long_text_is_found_and_the_belief_comes_once(
        self, index: Any, row: Row, put: Put
    ) -> None:
        text = " ".join(f"filler{at}" for at in range(12_000)) + " giraffe"
        put(index, row("long", text), row("short", "zebra"))

        assert [hit.belief for hit in index.keyword(EVERYBODY, "giraffe", 10)] == ["long"]
        assert [hit.belief for hit in index.keyword(EVERYBODY, "filler1 filler11999", 10)] == ["long"]
        assert len(index.semantic(EVERYBODY, EAST, 10)) == 2

    def test_what_a_shorter_text_no_longer_says_is_gone(self, index: Any, row: Row, put: Put) -> None:
        put(index, row("b1", " ".join(f"filler{at}" for at in range(12_000))))
        put(index, row("b1", "giraffe", version=2))

        assert index.keyword(EVERYBODY, "filler11999", 10) == []
        assert index.versions("acme") == {"b1": 2}


class TestAnotherModel:
    @pytest.mark.parametrize(("model", "dimensions"), [("model-2", 4), ("model-1", 8), ("none", 1)])
    def test_keyword_and_time_go_on_and_everything_waits_for_indexing(
        self, reopen: Opener, model: str, dimensions: int, row: Row, put: Put
    ) -> None:
        put(reopen(), *[row(f"b{at}", "word") for at in range(5)])

        other = reopen(model, dimensions)

        all_five = {f"b{at}" for at in range(5)}
        assert everything(other, EVERYBODY, dimensions) == [set(), all_five, all_five]
        assert other.versions("acme") == {}
        assert other.vectors("acme", ["b0"], [PUBLIC]) == {}

    def test_what_is_indexed_again_is_found_once_and_only_as_it_is_now(
        self, reopen: Opener, row: Row, put: Put
    ) -> None:
        put(reopen(), *[row(f"b{at}", "word") for at in range(3)])
        other = reopen("model-2", 8)

        hidden = row("b1", "word", version=2, readers=("u:ann",))
        other.upsert([hidden], np.eye(8, dtype=np.float32)[:1])

        assert everything(other, EVERYBODY, 8) == [set(), {"b0", "b2"}, {"b0", "b2"}]
        assert everything(other, IndexFilter(bank="acme", readers=("u:ann",)), 8) == [{"b1"}, {"b1"}, {"b1"}]
        assert other.versions("acme") == {"b1": 2}
        assert everything(reopen("model-1"), EVERYBODY) == [{"b0", "b2"}, {"b0", "b2"}, {"b0", "b2"}]

    def test_removal_reaches_what_an_earlier_model_indexed(self, reopen: Opener, row: Row, put: Put) -> None:
        put(reopen(), row("b1", "word"), row("b2", "word"), row("b3", "word", bank="other"))
        other = reopen("model-2", 8)

        other.delete("acme", ["b1"])
        assert everything(other, EVERYBODY, 8) == [set(), {"b2"}, {"b2"}]
        other.drop("acme")

        assert everything(reopen("model-1"), EVERYBODY) == [set(), set(), set()]
        assert reopen("model-1").versions("other") == {"b3": 1}

    def test_an_emptied_collection_of_an_earlier_model_goes_with_its_last_bank(
        self, reopen: Opener, row: Row, put: Put, milvus_url: str
    ) -> None:
        put(reopen(), row("b1", "word"))
        other = reopen("model-2", 8)

        other.drop("acme")

        prefix = place_of(milvus_url).collection
        assert len([name for name in other._calls.collections() if name.startswith(prefix)]) == 1

    def test_a_collection_that_somebody_dropped_is_made_again(self, index: Any, row: Row, put: Put) -> None:
        put(index, row("b1", "word"))
        index._calls.drop(index._collections.name)

        assert everything(index, EVERYBODY) == [set(), set(), set()]
        put(index, row("b2", "word"))
        assert everything(index, EVERYBODY) == [{"b2"}, {"b2"}, {"b2"}]

    def test_a_collection_of_a_newer_release_is_refused(self, reopen: Opener, row: Row, put: Put) -> None:
        index = reopen()
        name = index._collections.name.replace("_v1_", "_v2_")
        milvus_schema = pytest.importorskip("stores.milvus.schema")
        index._calls.make(name, milvus_schema.schema_of(4, lite=True), milvus_schema.indexes_of(lite=True))

        with pytest.raises(NewerSchema, match="upgrade this one"):
            reopen()

    def test_a_collection_of_an_earlier_schema_is_left_alone_and_everything_waits_for_indexing(
        self, reopen: Opener, row: Row, put: Put, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(reopen(), row("b1", "word"))
        earlier = reopen()._collections.name
        for module in ("schema", "collections"):
            monkeypatch.setattr(f"stores.milvus.{module}.SCHEMA_VERSION", 2)

        index = reopen()

        assert index.versions("acme") == {}
        assert everything(index, EVERYBODY) == [set(), set(), set()]
        put(index, row("b1", "word"))
        assert everything(index, EVERYBODY) == [{"b1"}, {"b1"}, {"b1"}]
        assert earlier in index._calls.collections()


class TestMilvusLite:
    @pytest.fixture
    def milvus_url(self, milvus_lite_url: str) -> str:
        """These are about the file alone."""
        return milvus_lite_url

    def test_a_process_has_the_file_alone_and_killed_loses_nothing_that_was_acknowledged(
        self, reopen: Opener, milvus_url: str
    ) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(WRITER), milvus_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
            assert writer.stdout is not None
            acknowledged = [int(writer.stdout.readline()) for _ in range(12)][-1]
            with pytest.raises(FolderInUse, match="stop it first"):
                reopen()
            writer.kill()

        index = reopen()

        assert {f"b{at}" for at in range(acknowledged)} <= index.versions("acme").keys()
        assert len(index.semantic(EVERYBODY, EAST, 1_000)) >= acknowledged

    def test_several_in_one_process_share_the_file(self, index: Any, milvus_url: str, row: Row, put: Put) -> None:
        second = open_index(milvus_url, 4, "model-1")
        put(second, row("b1", "word"))
        second.close()
        put(index, row("b2", "word"))
        assert everything(index, EVERYBODY) == [{"b1", "b2"}] * 3

    def test_a_file_that_is_no_database_is_said_to_be_none(self, tmp_path: Path) -> None:
        (tmp_path / "text.db").write_text("hello")
        with pytest.raises(StoreUnavailable, match="does not open it"):
            open_index(f"milvus:///{tmp_path}/text.db", 4, "model-1")

    def test_options_that_are_wrong_open_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidSetting, match="is not an option"):
            open_index(f"milvus:///{tmp_path}/index.db?color=red", 4, "model-1")
        assert list(tmp_path.iterdir()) == []


def test_a_closed_index_says_so(index: Any, row: Row, put: Put) -> None:
    index.close()
    index.close()
    with pytest.raises(StoreUnavailable, match="open it again"):
        put(index, row("b1"))
    with pytest.raises(StoreUnavailable, match="open it again"):
        index.semantic(EVERYBODY, EAST, 1)


def test_a_server_that_is_away_is_named_without_its_token() -> None:
    with pytest.raises(StoreUnavailable, match=r"milvus://127\.0\.0\.1:9.*see that Milvus runs") as away:
        open_index("milvus://root:canary@127.0.0.1:9/db?timeout=0.3", 4, "model-1")
    assert "canary" not in str(away.value)


def test_vectors_come_back_as_they_were_written(index: Any, row: Row) -> None:
    vectors: Vectors = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], np.float32)
    index.upsert([row("b1"), row("b2")], vectors)
    assert np.array_equal(index.vectors("acme", ["b1"], [PUBLIC])["b1"], vectors[0])
