"""What a search index keeps: upserts, removals, restarts, threads; each adapter is a parameter."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import InvalidInput
from stores.ports import PUBLIC, Hit, IndexFilter, IndexRow, SearchIndex, Vectors

MAY = 1_714_521_600_000_000
EVERYBODY = IndexFilter(bank="acme", readers=(PUBLIC,))
EAST = np.array([1, 0, 0, 0], np.float32)
NORTH = np.array([0, 1, 0, 0], np.float32)

Row = Callable[..., IndexRow]
Put = Callable[..., None]
FoundBy = Callable[[SearchIndex, IndexFilter], set[str]]


def toward(degrees: float) -> Vectors:
    """A unit vector that many degrees from EAST toward NORTH."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0, 0], np.float32)


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.belief for hit in hits]


class TestUpsert:
    def test_rows_are_searchable_on_return(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        put(index, row("b1", "word"))
        assert found_by(index, EVERYBODY) == {"b1"}

    def test_all_rows_of_a_named_belief_are_replaced(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, row("b1", "word", audience="private", readers=("u:ann",)), row("b1", "word"), row("b2", "word"))

        put(index, row("b1", "other"))

        ann = IndexFilter(bank="acme", readers=("u:ann",))
        assert found_by(index, ann) == set()
        assert names(index.keyword(EVERYBODY, "word", 10)) == ["b2"]
        assert names(index.keyword(EVERYBODY, "other", 10)) == ["b1"]

    def test_a_changed_status_with_the_same_vector_takes_effect(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, row("b1", "word"), row("b2", "word"))

        put(index, row("b1", "word", status="revoked", version=2, entities=("n1",)))

        active = IndexFilter(bank="acme", readers=(PUBLIC,), statuses=("active",))
        about = IndexFilter(bank="acme", readers=(PUBLIC,), entities=("n1",))
        assert found_by(index, active) == {"b2"}
        assert found_by(index, about) == {"b1"}
        assert index.versions("acme") == {"b1": 2, "b2": 1}

    def test_a_changed_vector_takes_effect(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1"), vector=EAST)
        put(index, row("b1"), vector=NORTH)

        assert index.semantic(EVERYBODY, NORTH, 10) == [Hit("b1", pytest.approx(1.0, abs=1e-3))]
        assert np.allclose(index.vectors("acme", ["b1"], [PUBLIC])["b1"], NORTH, atol=1e-3)

    def test_repeating_it_changes_nothing(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        for _ in range(3):
            put(index, row("b1", "word"), row("b2", "word"))
        assert found_by(index, EVERYBODY) == {"b1", "b2"}
        assert len(index.keyword(EVERYBODY, "word", 10)) == 2

    def test_rows_of_several_banks_may_come_together(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1", "word"), row("b1", "word", bank="other"))
        assert index.versions("acme") == index.versions("other") == {"b1": 1}

    def test_rows_not_embedded_are_left_out_of_semantic_search_only(
        self, index: SearchIndex, row: Row, put: Put
    ) -> None:
        put(index, row("b1", "word", embedded=False), row("b2", "word"))
        assert names(index.semantic(EVERYBODY, EAST, 10)) == ["b2"]
        assert set(names(index.keyword(EVERYBODY, "word", 10))) == {"b1", "b2"}
        assert set(names(index.by_time(EVERYBODY, MAY, MAY, 10))) == {"b1", "b2"}

    def test_without_vectors_no_row_is_in_semantic_search(self, index: SearchIndex, row: Row) -> None:
        index.upsert([row("b1", "word")], None)
        assert names(index.semantic(EVERYBODY, EAST, 10)) == []
        assert names(index.keyword(EVERYBODY, "word", 10)) == ["b1"]
        assert names(index.by_time(EVERYBODY, MAY, MAY, 10)) == ["b1"]
        assert index.vectors("acme", ["b1"], [PUBLIC]) == {}

    def test_nothing_may_be_upserted(self, index: SearchIndex) -> None:
        index.upsert([], np.empty((0, 4), np.float32))
        assert index.versions("acme") == {}

    @pytest.mark.parametrize("shape", [(1, 3), (2, 4), (4,)])
    def test_vectors_of_another_shape_are_refused(self, index: SearchIndex, shape: tuple[int, ...], row: Row) -> None:
        with pytest.raises(InvalidInput, match="vectors: has shape"):
            index.upsert([row("b1")], np.zeros(shape, np.float32))
        with pytest.raises(InvalidInput, match="vector: has shape"):
            index.semantic(EVERYBODY, np.zeros((2, 4), np.float32), 10)


class TestRemoval:
    def test_delete_removes_these_beliefs_of_this_bank_only(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, row("b1", "word"), row("b2", "word"), row("b1", "word", bank="other"))

        index.delete("acme", ["b1", "not there"])

        assert found_by(index, EVERYBODY) == {"b2"}
        assert found_by(index, IndexFilter(bank="other", readers=(PUBLIC,))) == {"b1"}
        assert index.versions("acme") == {"b2": 1}

    def test_drop_removes_one_bank_and_leaves_the_others(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, row("b1", "word"), row("b1", "word", bank="other"))

        index.drop("acme")

        assert found_by(index, EVERYBODY) == set()
        assert index.versions("acme") == {}
        assert found_by(index, IndexFilter(bank="other", readers=(PUBLIC,))) == {"b1"}

    def test_a_removed_belief_may_come_back(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        put(index, row("b1", "word"))
        index.delete("acme", ["b1"])
        put(index, row("b1", "word"))
        index.drop("acme")
        put(index, row("b1", "word"))
        assert found_by(index, EVERYBODY) == {"b1"}

    @pytest.mark.parametrize("removal", ["delete", "drop", "replace"])
    def test_removed_text_is_in_no_file(
        self,
        index: SearchIndex,
        reopen_index: Callable[[], SearchIndex],
        index_files: Path,
        removal: str,
        row: Row,
        put: Put,
    ) -> None:
        told = row("told-once", "canary773", keywords="canary774", readers=(PUBLIC, "u:canary775"))
        put(index, told, row("b2", "word"))
        # The id shows that these are the files: an adapter may keep the words as hashes alone.
        assert b"told-once" in content(index_files)

        if removal == "delete":
            index.delete("acme", ["told-once"])
        elif removal == "drop":
            index.drop("acme")
        else:
            put(index, row("told-once", "word"))

        assert b"canary77" not in content(index_files)
        reopen_index()
        assert b"canary77" not in content(index_files)


class TestPrepare:
    def test_a_prepared_bank_answers_as_any_other(
        self, index: SearchIndex, reopen_index: Callable[[], SearchIndex], row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, *[row(f"b{at}", "word") for at in range(20)])
        again = reopen_index()
        again.prepare("acme")
        again.prepare("acme")
        assert found_by(again, EVERYBODY) == {f"b{at}" for at in range(20)}

    def test_what_is_written_afterwards_is_found(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        index.prepare("acme")
        put(index, row("b1", "word"))
        index.prepare("acme")
        put(index, row("b2", "word"))
        assert found_by(index, EVERYBODY) == {"b1", "b2"}


class TestVectorsAndVersions:
    def test_the_vector_is_that_of_a_row_the_readers_may_see(self, index: SearchIndex, row: Row) -> None:
        rows = [row("b1", audience="ann", readers=("u:ann",)), row("b1", readers=(PUBLIC,))]
        index.upsert(rows, np.array([EAST, NORTH]))

        assert np.allclose(index.vectors("acme", ["b1", "b2"], ["u:ann"])["b1"], EAST, atol=1e-3)
        assert np.allclose(index.vectors("acme", ["b1"], [PUBLIC])["b1"], NORTH, atol=1e-3)
        assert index.vectors("acme", ["b1"], ["u:bob"]) == {}

    def test_a_vector_given_back_counts_as_unchanged(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1"), vector=toward(33))
        stored = index.vectors("acme", ["b1"], [PUBLIC])["b1"]
        put(index, row("b1", version=2), vector=stored)
        assert np.array_equal(index.vectors("acme", ["b1"], [PUBLIC])["b1"], stored)

    def test_versions_are_those_last_indexed(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1", version=3), row("b1", version=3, audience="x"), row("b2", version=7, embedded=False))
        put(index, row("b1", version=5))
        assert index.versions("acme") == {"b1": 5, "b2": 7}
        assert index.versions("unknown") == {}


class TestRestart:
    def test_everything_is_there_after_a_restart(
        self, index: SearchIndex, reopen_index: Callable[[], SearchIndex], row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, *[row(f"b{at}", "word") for at in range(40)])
        put(index, row("b1", "word", status="revoked", version=2))
        index.delete("acme", ["b2"])
        active = IndexFilter(bank="acme", readers=(PUBLIC,), statuses=("active",))
        kept = [f"b{at}" for at in range(40) if at != 2]

        again = reopen_index()

        assert found_by(again, EVERYBODY) == set(kept)
        assert found_by(again, active) == {belief for belief in kept if belief != "b1"}
        assert again.versions("acme") == dict.fromkeys(kept, 1) | {"b1": 2}

    def test_removed_rows_stay_removed_and_writing_goes_on(
        self, index: SearchIndex, reopen_index: Callable[[], SearchIndex], row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, *[row(f"b{at}", "word") for at in range(20)])
        index.drop("acme")
        again = reopen_index()
        put(again, row("b1", "word"), vector=NORTH)
        assert found_by(reopen_index(), EVERYBODY) == {"b1"}


class TestConcurrency:
    def test_searches_during_upserts_see_each_belief_whole(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, *[row(f"b{at}", "word", version=0) for at in range(30)])

        def write(round: int) -> None:
            rows = [row(f"b{at}", f"word {round}", version=round) for at in range(30)]
            put(index, *rows, vector=EAST if round % 2 else NORTH)

        def search(_: int) -> int:
            return len(index.semantic(EVERYBODY, EAST, 100))

        with ThreadPoolExecutor(4) as pool:
            counts = pool.map(search, range(300))
            list(pool.map(write, range(1, 13)))
            assert set(counts) == {30}
        assert found_by(index, EVERYBODY) == {f"b{at}" for at in range(30)}

    def test_what_is_written_while_a_bank_is_read_for_the_first_time_is_found(
        self, index: SearchIndex, reopen_index: Callable[[], SearchIndex], row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, *[row(f"b{at}", "word") for at in range(3_000)])
        again = reopen_index()
        with ThreadPoolExecutor(3) as pool:
            read = pool.submit(again.prepare, "acme")
            pool.submit(put, again, row("new", "word")).result()
            pool.submit(again.delete, "acme", [f"b{at}" for at in range(2_990)]).result()
            read.result()
        assert found_by(again, EVERYBODY) == {"new", *(f"b{at}" for at in range(2_990, 3_000))}

    def test_writers_in_several_threads_lose_nothing(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda at: put(index, row(f"b{at}", "word")), range(40)))
        assert found_by(index, EVERYBODY) == {f"b{at}" for at in range(40)}


def content(folder: Path) -> bytes:
    """The bytes of every file below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
