"""The search index in a folder of one process: SQLite rows as its truth, tantivy and vectors made from them."""

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, RLock
from typing import TypeVar

import numpy as np
import structlog

from schemas.errors import InvalidInput, StoreUnavailable
from schemas.identity import digest
from schemas.instant import Instant
from stores.local.bank_index import BankIndex
from stores.local.keywords import KeywordFiles
from stores.local.neighbours import Grower, Neighbours
from stores.local.row_file import Key, RowFile, Written
from stores.ports import Hit, IndexFilter, IndexRow, Vectors

_CATCH_UP_ROWS = 5_000
_OPEN_SHARE = 0.5
_READ_AHEAD_ROWS = 200_000

_ADVICE = "the workers index everything again; `beliefmesh doctor` tells what is left, and with --fix does it at once"

_log = structlog.get_logger()

Item = TypeVar("Item")


class LocalIndex:
    """A `SearchIndex` in a folder. The caller sees to it that no other process has the folder open.

    Files: `index.db` (rows, vectors; durable), `keywords-*` (tantivy), `vectors-*` (one graph for each large bank).
    Whatever is missing, behind or damaged besides `index.db` is made again from it. A bank is read into memory when it
    is first searched or prepared; the largest ones in the background, as soon as the folder is open.

    With another `model_id` or dimension than the folder was written with, stored vectors are dropped and `versions`
    leaves out all beliefs until they are indexed again; keyword search and time go on meanwhile.

    Text that was removed or replaced is overwritten when the call returns, and in no file after `wipe`. The vectors of
    removed rows may stay in a graph's file until most of it is waste or the bank is dropped.
    """

    def __init__(
        self,
        folder: str | Path,
        dimensions: int,
        model_id: str,
        *,
        text_boost: float = 0.2,
        keywords_boost: float = 1.0,
        exact_up_to: int = 20_000,
        read_ahead_from: int = 5_000,
    ) -> None:
        self._folder = Path(folder)
        self._dimensions = dimensions
        self._exact_up_to = exact_up_to
        self._writing = RLock()
        self._banks: dict[str, BankIndex] = {}
        self._reading: dict[str, Lock] = {}
        self._changed: dict[str, int] = {}
        self._searched = 0.0
        self._closed = False
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"index {self._folder}: {error}") from error
        self._file = RowFile(self._folder / "index.db", model_id, dimensions)
        if self._file.model_changed:
            _log.warning("index.model_changed", index=str(self._folder), model=model_id, advice=_ADVICE)
        self._graphs = self._folder / f"vectors-{self._file.generation}"
        keywords = self._folder / f"keywords-{self._file.generation}"
        self._remove_strangers({self._graphs, keywords})
        self._graphs.mkdir(exist_ok=True)
        self._keywords = KeywordFiles.open(keywords, self._file.secret, text_boost, keywords_boost)
        if self._keywords.seq <= self._file.seq:
            self._catch_up()
        if (self._keywords.seq, self._keywords.count) != (self._file.seq, self._file.count()):
            with suppress(StoreUnavailable):
                self._keywords.close()
            self._keywords = KeywordFiles.create(keywords, self._file.secret, text_boost, keywords_boost)
            self._catch_up()
        self._ahead = self._file.largest(read_ahead_from, _READ_AHEAD_ROWS)
        self._grower = Grower(self._work, lambda: self._searched)
        if self._ahead:
            self._grower.wake()

    def upsert(self, rows: Sequence[IndexRow], vectors: Vectors | None) -> None:
        """Replace *all* rows of the beliefs named by these rows; durable and searchable on return.

        1. Rows and vectors into `index.db`. 2. Into the keyword files. 3. Into memory, where the bank is loaded.
        4. Replaced text out of the write-ahead log. What 2 failed to do is made good at the next write, or the next
        start; each step is safe to repeat.
        """
        if not rows:
            return
        keyed = self._keyed(rows, vectors)
        with self._writing:
            self._catch_up()
            written = self._file.upsert(keyed, self._keywords.seq)
            try:
                self._keywords.apply(written.seq, written.stored, written.known)
            finally:
                self._remember(written)
            if written.replaced:
                self._file.wipe()
        self._grower.wake()

    def delete(self, bank: str, beliefs: Sequence[str]) -> None:
        """Remove every row of these beliefs of this bank."""
        if not beliefs:
            return
        with self._writing:
            self._catch_up()
            gone = self._file.delete(bank, beliefs, self._keywords.seq)
            self._changed[bank] = self._file.seq
            if bank in self._banks:
                self._banks[bank].put((), gone=gone)
                self._renew_wasteful(bank)
            self._keywords.apply(self._file.seq, (), [(bank, belief) for belief in beliefs])
            self._file.wipe()

    def drop(self, bank: str) -> None:
        """Remove every row of a bank."""
        with self._writing:
            self._catch_up()
            self._file.drop(bank, self._keywords.seq)
            self._changed[bank] = self._file.seq
            self._banks.pop(bank, None)
            self._graph_path(bank).unlink(missing_ok=True)
            self._keywords.apply(self._file.seq, (), banks=[bank])
            self._file.wipe()

    def prepare(self, bank: str) -> None:
        """Read the bank into memory, or wait until the background has, where it is not there yet."""
        self._bank(bank)

    def semantic(self, filter: IndexFilter, vector: Vectors, limit: int) -> list[Hit]:
        """Nearest rows by cosine to one vector of shape (dimensions,); score is the cosine."""
        if vector.shape != (self._dimensions,):
            raise InvalidInput("vector", f"has shape {vector.shape}; this index holds ({self._dimensions},)")
        return self._bank(filter.bank).semantic(filter, vector.astype(np.float32), limit) if limit > 0 else []

    def keyword(self, filter: IndexFilter, text: str, limit: int) -> list[Hit]:
        """Best rows by BM25 over `text` and `keywords`; the question is analysed as the rows are.

        The score is the sum of the two fields' scores, each times its boost.
        """
        if limit < 1:
            return []
        bank = self._bank(filter.bank)
        share = min(1.0, bank.passing(filter) / max(1, self._keywords.count))
        # Conditions in tantivy's query double its time, so where most rows pass the filter, only memory applies it.
        condition = filter if share < _OPEN_SHARE else None
        count = 2 * limit if condition else int(1.25 * limit / share)
        while True:
            scored = self._keywords.search(condition, text, count)
            hits = bank.hits(filter, scored, limit)
            if len(hits) == limit or len(scored) < count:
                return hits
            count *= 4

    def by_time(self, filter: IndexFilter, start: Instant, end: Instant, limit: int) -> list[Hit]:
        """Rows that occurred (else: whose newest support lies) in [start, end], those nearest to its middle first.

        The score is 1 / (1 + |middle of the row - middle of the question| / max(end - start, one day)).
        """
        return self._bank(filter.bank).by_time(filter, start, end, limit) if limit > 0 else []

    def vectors(self, bank: str, beliefs: Sequence[str], readers: Sequence[str]) -> dict[str, Vectors]:
        """The stored vector of each belief's row that these readers may see."""
        return self._bank(bank).vectors(beliefs, readers)

    def versions(self, bank: str) -> dict[str, int]:
        """The indexed version of every belief of the bank."""
        return self._file.versions(bank)

    def wipe(self) -> None:
        """Write `index.db` anew; the keyword files hold only keyed hashes, the graphs' files only vectors."""
        with self._writing:
            self._file.renew()

    def settle(self) -> None:
        """Read ahead, and bring the graph of every loaded bank up to its rows, now, as the background does in time."""
        while self._work():
            pass

    def close(self) -> None:
        """Flush and release everything."""
        if self._closed:
            return
        self._closed = True
        self._grower.stop()
        with self._writing:
            for name, bank in self._banks.items():
                if bank.neighbours.unsaved:
                    self._save(name, bank)
            self._banks.clear()
            self._keywords.close()
            self._file.close()

    def _keyed(self, rows: Sequence[IndexRow], vectors: Vectors | None) -> dict[Key, tuple[IndexRow, bytes | None]]:
        """Rows with their float16 vectors, by identity."""
        if vectors is None:
            return {(row.bank, row.belief, row.audience): (row, None) for row in rows}
        if vectors.shape != (len(rows), self._dimensions):
            raise InvalidInput("vectors", f"has shape {vectors.shape}; must be ({len(rows)}, {self._dimensions})")
        return {
            (row.bank, row.belief, row.audience): (row, vector.tobytes() if row.embedded else None)
            for row, vector in zip(rows, vectors.astype(np.float16), strict=True)
        }

    def _remember(self, written: Written) -> None:
        """Bring the banks in memory up to what was written."""
        gone = _by_bank(written.gone, lambda pair: pair[0])
        stored = _by_bank(written.stored, lambda item: item.row.bank)
        for name in gone.keys() | stored.keys():
            self._changed[name] = written.seq
            if name in self._banks:
                numbers = [number for _, number in gone.get(name, ())]
                self._banks[name].put(stored.get(name, ()), written.kept, numbers)
                self._renew_wasteful(name)

    def _bank(self, name: str) -> BankIndex:
        """The bank in memory; read from the file the first time, unless nothing is there to keep."""
        self._searched = time.monotonic()
        bank = self._banks.get(name)
        if bank is not None:
            return bank
        with self._reading.setdefault(name, Lock()):
            bank = self._banks.get(name) or self._read(name)
        self._grower.wake()
        return bank

    def _read(self, name: str) -> BankIndex:
        """Read a bank beside those who write, and again in their place if one of them changed it meanwhile."""
        before = self._changed.get(name, 0)
        bank = self._load(name, self._load_graph(name))
        with self._writing:
            if self._changed.get(name, 0) != before:
                bank = self._load(name, bank.neighbours)
            if bank.size:
                self._banks[name] = bank
        return bank

    def _load(self, name: str, graph: Neighbours) -> BankIndex:
        bank = BankIndex(self._file.sizes(name), graph, self._dimensions, self._exact_up_to)
        for rows in self._file.bank(name):
            if self._closed:
                raise StoreUnavailable(f"index {self._folder}: it was closed; open it again")
            bank.put(rows)
        return bank

    def _load_graph(self, name: str) -> Neighbours:
        return Neighbours.load(self._graph_path(name), self._file.saved(name), self._dimensions)

    def _renew_wasteful(self, name: str) -> None:
        """Make a bank anew where most of its memory is for rows that are gone."""
        if self._banks[name].wasteful:
            self._banks[name] = self._load(name, self._banks[name].neighbours)

    def _work(self) -> bool:
        """One step in the background: read a large bank ahead of its first search, else grow a graph."""
        if not self._ahead:
            return self._grow()
        name = self._ahead[0]
        # What cannot be read is for the first search to report.
        with suppress(StoreUnavailable):
            self._bank(name)
        # Taken off once it is read, so that `settle` waits for what the background has begun.
        with suppress(ValueError):
            self._ahead.remove(name)
        return True

    def _grow(self) -> bool:
        """One small step for a graph that lags behind its bank; False when none does."""
        for name, bank in list(self._banks.items()):
            if bank.grow():
                if bank.neighbours.worth_saving:
                    self._save(name, bank)
                return True
        return False

    def _save(self, name: str, bank: BankIndex) -> None:
        """Write a bank's graph, unless the bank was dropped meanwhile."""
        path = self._graph_path(name)
        checksum = bank.neighbours.save(path)
        with self._writing:
            current = self._banks.get(name)
            if current is not None and current.neighbours is bank.neighbours:
                self._file.set_saved(name, checksum)
            else:
                path.unlink(missing_ok=True)

    def _graph_path(self, name: str) -> Path:
        return self._graphs / f"{digest(name)}.usearch"

    def _remove_strangers(self, ours: set[Path]) -> None:
        """Delete files that were made from another `index.db`."""
        for path in [*self._folder.glob("keywords-*"), *self._folder.glob("vectors-*")]:
            if path not in ours:
                shutil.rmtree(path, ignore_errors=True)

    def _catch_up(self) -> None:
        """Apply to the keyword files what they have missed: removals first, then the rows as they are now."""
        while self._keywords.seq < self._file.seq:
            reached = self._keywords.seq
            changed = self._file.changed(reached, _CATCH_UP_ROWS)
            removed = self._file.removals(reached)
            self._keywords.apply(
                changed[-1][0] if changed else self._file.seq,
                [stored for _, stored in changed],
                {(stored.row.bank, stored.row.belief) for _, stored in changed}.union(
                    pair for pair in removed if pair[1]
                ),
                [bank for bank, belief in removed if not belief],
            )


def _by_bank(items: Iterable[Item], bank_of: Callable[[Item], str]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(bank_of(item), []).append(item)
    return found
