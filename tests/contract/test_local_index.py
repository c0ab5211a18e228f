"""What the local index promises beyond the port: crashes, damaged files, another model, the graph of neighbours."""

import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import FolderInUse, NewerSchema, StoreUnavailable
from stores.local.bank_index import BankIndex
from stores.local.index import LocalIndex
from stores.local.neighbours import Grower, Neighbours
from stores.local.row_file import RowFile, Stored
from stores.ports import PUBLIC, IndexFilter, IndexRow, Vectors

ROOT = Path(__file__).parents[2]
EVERYBODY = IndexFilter(bank="acme", readers=(PUBLIC,))
EAST = np.array([1, 0, 0, 0], np.float32)
EAST_BYTES = EAST.astype(np.float16).tobytes()

Opener = Callable[..., LocalIndex]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the index lies."""
    return tmp_path / "index"


@pytest.fixture
def reopen(folder: Path) -> Iterator[Opener]:
    """Opens the index anew, after closing it."""
    opened: list[LocalIndex] = []

    def opener(
        model_id: str = "model-1", exact_up_to: int = 8, read_ahead_from: int = 5_000, **boosts: float
    ) -> LocalIndex:
        while opened:
            opened.pop().close()
        opened.append(
            LocalIndex(folder, 4, model_id, exact_up_to=exact_up_to, read_ahead_from=read_ahead_from, **boosts)
        )
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


def row(belief: str, text: str = "word", version: int = 1, bank: str = "acme", embedded: bool = True) -> IndexRow:
    return IndexRow(
        bank=bank,
        belief=belief,
        audience=PUBLIC,
        readers=(PUBLIC,),
        version=version,
        network="world",
        status="active",
        text=text,
        keywords="",
        entities=(),
        at=0,
        embedded=embedded,
    )


def rows(count: int, start: int = 0) -> list[IndexRow]:
    return [row(f"b{at}") for at in range(start, start + count)]


def directions(count: int, seed: int = 1) -> Vectors:
    """Unit vectors."""
    vectors = np.random.default_rng(seed).standard_normal((count, 4)).astype(np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def beliefs(index: LocalIndex) -> tuple[set[str], set[str]]:
    """What both searches find in all."""
    semantic = {hit.belief for hit in index.semantic(EVERYBODY, EAST, 10_000)}
    return semantic, {hit.belief for hit in index.keyword(EVERYBODY, "word", 10_000)}


def both(count: int) -> tuple[set[str], set[str]]:
    named = {f"b{at}" for at in range(count)}
    return named, named


class TestCrash:
    def test_what_returned_survives_a_killed_process(self, folder: Path, reopen: Opener) -> None:
        script = (
            "import os, sys; import numpy as np\n"
            "from stores.local.index import LocalIndex; from stores.ports import IndexRow\n"
            "index = LocalIndex(sys.argv[1], 4, 'model-1', exact_up_to=8)\n"
            "for at in range(30):\n"
            "    row = IndexRow(bank='acme', belief=f'b{at}', audience='*', readers=('*',), version=1,\n"
            "        network='world', status='active', text='word', keywords='', entities=(), at=0)\n"
            "    index.upsert([row], np.array([[1, 0, 0, 0]], np.float32))\n"
            "index.delete('acme', ['b29'])\n"
            "os.kill(os.getpid(), 9)"
        )
        died = subprocess.run([sys.executable, "-c", script, str(folder)], cwd=ROOT, check=False)
        assert died.returncode == -9

        assert beliefs(reopen()) == both(29)

    def test_rows_that_the_keyword_files_missed_are_added_at_the_next_start(self, folder: Path, reopen: Opener) -> None:
        reopen().upsert(rows(20), np.tile(EAST, (20, 1)))
        reopen().close()
        behind = RowFile(folder / "index.db", "model-1", 4)
        behind.delete("acme", ["b19"], applied=0)
        behind.upsert({("acme", "b3", PUBLIC): (row("b3", "changed"), EAST_BYTES)}, applied=0)
        behind.upsert({("acme", "b4", "other"): (row("b4", "changed"), EAST_BYTES)}, applied=0)
        behind.close()

        index = reopen()

        assert {hit.belief for hit in index.keyword(EVERYBODY, "changed", 10)} == {"b3", "b4"}
        assert beliefs(index)[1] == {f"b{at}" for at in range(19)} - {"b3", "b4"}

    def test_a_bank_dropped_and_filled_again_behind_the_keyword_files_ends_as_filled(
        self, folder: Path, reopen: Opener
    ) -> None:
        reopen().upsert(rows(5), np.tile(EAST, (5, 1)))
        reopen().close()
        behind = RowFile(folder / "index.db", "model-1", 4)
        behind.drop("acme", applied=0)
        behind.upsert({("acme", "b0", PUBLIC): (row("b0"), EAST_BYTES)}, applied=0)
        behind.close()

        assert beliefs(reopen()) == both(1)


class TestDamage:
    @pytest.mark.parametrize("damage", ["removed", "emptied", "cut", "garbled"])
    @pytest.mark.parametrize("kind", ["keywords-*", "vectors-*"])
    def test_derived_files_are_made_again(self, folder: Path, reopen: Opener, kind: str, damage: str) -> None:
        index = reopen()
        index.upsert(rows(50), np.tile(EAST, (50, 1)))
        assert beliefs(index) == both(50)
        index.settle()
        index.close()
        (derived,) = folder.glob(kind)
        if damage == "removed":
            shutil.rmtree(derived)
        for path in derived.glob("*"):
            data = path.read_bytes()
            path.write_bytes({"emptied": b"", "cut": data[: len(data) // 2], "garbled": data[::-1]}[damage])

        again = reopen()

        assert beliefs(again) == both(50)
        again.upsert([row("b50")], EAST[np.newaxis])
        assert beliefs(again) == both(51)

    def test_derived_files_of_another_index_are_not_believed(self, folder: Path, reopen: Opener) -> None:
        reopen().upsert(rows(20), np.tile(EAST, (20, 1)))
        reopen().close()
        for path in folder.glob("index.db*"):
            path.unlink()

        index = reopen()

        assert beliefs(index) == both(0)
        assert len(list(folder.glob("keywords-*"))) == 1

    def test_a_damaged_truth_says_what_to_do(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "index.db").write_bytes(b"no database at all, and long enough to be read" * 100)
        with pytest.raises(StoreUnavailable, match="remove its folder"):
            LocalIndex(folder, 4, "model-1")

    def test_an_index_of_a_newer_release_is_refused(self, folder: Path, reopen: Opener) -> None:
        reopen().close()
        connection = sqlite3.connect(folder / "index.db")
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        with pytest.raises(NewerSchema, match="schema 99"):
            LocalIndex(folder, 4, "model-1")

    def test_a_folder_that_cannot_be_made_is_a_store_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreUnavailable):
            LocalIndex(tmp_path / "file" / "index", 4, "model-1")

    def test_a_second_opener_is_turned_away_and_harms_nothing(self, folder: Path, reopen: Opener) -> None:
        index = reopen()
        index.upsert(rows(3), np.tile(EAST, (3, 1)))

        with pytest.raises(FolderInUse, match="stop it first"):
            LocalIndex(folder, 4, "model-1")

        index.upsert(rows(5), np.tile(EAST, (5, 1)))
        assert beliefs(index) == both(5)
        assert beliefs(reopen()) == both(5)

    def test_a_closed_index_says_so(self, reopen: Opener) -> None:
        index = reopen()
        index.close()
        with pytest.raises(StoreUnavailable):
            index.upsert([row("b1")], EAST[np.newaxis])
        with pytest.raises(StoreUnavailable):
            index.semantic(EVERYBODY, EAST, 1)


class TestAnotherModel:
    def test_vectors_are_dropped_and_their_beliefs_wait_for_indexing(self, reopen: Opener) -> None:
        index = reopen("model-1")
        index.upsert([*rows(20), row("plain", embedded=False)], np.tile(EAST, (21, 1)))
        index.settle()

        other = reopen("model-2")

        assert beliefs(other) == (set(), {*both(20)[1], "plain"})
        assert other.versions("acme") == {}

    def test_rows_indexed_without_a_model_wait_for_the_first_one(self, reopen: Opener) -> None:
        reopen("").upsert(rows(3), None)
        assert reopen("").versions("acme") == {"b0": 1, "b1": 1, "b2": 1}
        assert reopen("model-1").versions("acme") == {}

    def test_indexed_again_all_is_as_before(self, reopen: Opener) -> None:
        reopen("model-1").upsert(rows(20), np.tile(EAST, (20, 1)))
        reopen("model-2").upsert(rows(20), np.tile(EAST, (20, 1)))

        again = reopen("model-2")

        assert beliefs(again) == both(20)
        assert len(again.versions("acme")) == 20


class TestBoosts:
    def test_a_field_weighs_as_its_boost_says(self, reopen: Opener) -> None:
        reopen().upsert([row("b1", "giraffe")], None)
        plain = reopen(text_boost=1.0).keyword(EVERYBODY, "giraffe", 1)[0].score
        assert reopen(text_boost=3.0).keyword(EVERYBODY, "giraffe", 1)[0].score == pytest.approx(3 * plain)

    def test_a_field_without_boost_is_not_searched(self, reopen: Opener) -> None:
        reopen().upsert([row("b1", "giraffe")], None)
        assert reopen(text_boost=0.0).keyword(EVERYBODY, "giraffe", 1) == []


class TestGraph:
    def test_it_finds_what_an_exact_scan_finds(self, reopen: Opener) -> None:
        vectors = directions(2_000)
        reopen().upsert(rows(2_000), vectors)
        exact = reopen(exact_up_to=20_000).semantic(EVERYBODY, EAST, 20)

        index = reopen(exact_up_to=100)
        assert index.semantic(EVERYBODY, EAST, 20) == exact
        index.settle()

        assert index.semantic(EVERYBODY, EAST, 20) == exact

    def test_a_saved_graph_is_used_again_and_rows_after_it_are_found(self, folder: Path, reopen: Opener) -> None:
        index = reopen(exact_up_to=100)
        index.upsert(rows(1_000), directions(1_000))
        index.semantic(EVERYBODY, EAST, 1)
        index.settle()

        index = reopen(exact_up_to=100)
        (saved,) = folder.glob("vectors-*/*.usearch")
        changed = saved.stat().st_mtime_ns
        index.upsert([row("new")], EAST[np.newaxis])

        assert index.semantic(EVERYBODY, EAST, 1)[0].belief == "new"
        assert saved.stat().st_mtime_ns == changed

    def test_a_dropped_bank_leaves_no_vector_file(self, folder: Path, reopen: Opener) -> None:
        index = reopen()
        index.upsert(rows(50), np.tile(EAST, (50, 1)))
        index.semantic(EVERYBODY, EAST, 1)
        index.settle()
        reopen().drop("acme")
        assert list(folder.glob("vectors-*/*")) == []

    def test_a_bank_that_is_mostly_waste_is_made_anew(self, reopen: Opener) -> None:
        index = reopen(exact_up_to=100)
        index.upsert(rows(1_500), directions(1_500))
        index.settle()
        index.upsert(rows(1_500), directions(1_500, seed=2))
        index.settle()
        index.delete("acme", [f"b{at}" for at in range(10, 1_500)])
        index.settle()
        assert beliefs(index) == both(10)
        index.upsert(rows(1_500), directions(1_500, seed=3))
        assert beliefs(index) == both(1_500)

    def test_a_graph_that_is_mostly_waste_is_let_go(self) -> None:
        graph = Neighbours(4)
        graph.add(np.arange(1, 2_001), directions(2_000))
        assert BankIndex((5, 5), graph, 4, exact_up_to=100).neighbours is not graph
        assert BankIndex((1_500, 1_500), graph, 4, exact_up_to=100).neighbours is graph

    def test_adding_the_same_rows_twice_adds_them_once(self) -> None:
        graph = Neighbours(4)
        graph.add(np.arange(1, 11), directions(10))
        graph.add(np.arange(6, 16), directions(10))
        graph.add(np.arange(1, 6), directions(5))
        assert (len(graph), graph.top) == (15, 15)

    def test_while_it_is_being_filled_an_exact_scan_stands_in(self) -> None:
        bank = BankIndex((0, 0), Neighbours(4), 4, exact_up_to=10)
        bank.put(numbered(rows(100), directions(100)))
        expected = bank.semantic(EVERYBODY, EAST, 5)
        assert bank.grow()
        assert bank.semantic(EVERYBODY, EAST, 5) == expected
        while bank.grow():
            pass
        assert bank.semantic(EVERYBODY, EAST, 5) == expected


class TestReadingAhead:
    def test_a_large_bank_is_read_before_anybody_searches_it(self, folder: Path, reopen: Opener) -> None:
        reopen().upsert(rows(50), np.tile(EAST, (50, 1)))
        reopen(read_ahead_from=50).settle()
        reopen()
        assert len(list(folder.glob("vectors-*/*.usearch"))) == 1

    def test_a_smaller_one_is_not(self, folder: Path, reopen: Opener) -> None:
        reopen().upsert(rows(50), np.tile(EAST, (50, 1)))
        reopen(read_ahead_from=51).settle()
        reopen()
        assert list(folder.glob("vectors-*/*.usearch")) == []

    def test_closing_ends_the_reading(self, reopen: Opener) -> None:
        reopen().upsert(rows(9_000), None)
        reopen(read_ahead_from=1).close()
        assert len(beliefs(reopen())[1]) == 9_000

    def test_the_largest_banks_are_read_as_far_as_they_fit_together(self, folder: Path, reopen: Opener) -> None:
        for bank, count in (("small", 2), ("middle", 4), ("large", 6)):
            reopen().upsert([row(f"b{at}", bank=bank) for at in range(count)], None)
        reopen().close()
        file = RowFile(folder / "index.db", "model-1", 4)
        assert file.largest(3, 100) == ["large", "middle"]
        assert file.largest(1, 10) == ["large", "middle"]
        assert file.largest(1, 5) == []
        file.close()


class TestGrower:
    def test_it_goes_on_while_searches_never_end(self) -> None:
        left = [1, 2, 3]
        done = threading.Event()

        def grow() -> bool:
            left.pop()
            if not left:
                done.set()
            return bool(left)

        grower = Grower(grow, time.monotonic)
        grower.wake()
        assert done.wait(30)
        grower.stop()


def numbered(rows: Sequence[IndexRow], vectors: Vectors) -> list[Stored]:
    """Rows under the numbers 1, 2, 3…"""
    halves = vectors.astype(np.float16)
    return [Stored(at + 1, row, halves[at].tobytes()) for at, row in enumerate(rows)]
