"""The search index in Milvus, a server or Milvus Lite: what each call reads and writes, and in which order."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from schemas.errors import InvalidInput
from schemas.instant import Instant
from stores.milvus.client import MOST_ROWS, Found, MilvusCalls
from stores.milvus.collections import Collections
from stores.milvus.filter import Condition, embedded, in_bank, middle_within, of_beliefs, overlapping, passing, seen_by
from stores.milvus.place import place_of
from stores.milvus.schema import BM25, VECTOR, padded, stored_rows, unpadded, vector_search, word_search
from stores.milvus.times import Span, nearest
from stores.milvus.words import KEYWORDS_TO_TEXT, question_of
from stores.ports import Hit, IndexFilter, IndexRow, Vectors

_PAGE = 4_096
_IN_LIST = 500
_PERIOD_PAGE = 128
_FLUSHED_ROWS = 500
_WIDER = 4

Scored = list[tuple[str, float]]


class MilvusIndex:
    """A `SearchIndex` in Milvus; several processes may have it open, except with Milvus Lite.

    Each embedding model has a collection of its own. Opened with another model, an index begins a new one: `versions`
    is empty, so that everything is indexed again, semantic search finds only what was, and keyword and time answer
    from the earlier collections too. A belief's rows are in one collection: writing them removes them from the others.

    Reads have the place's consistency level. A write returns once a strong read has seen it: from then on every read
    of the same replica sees it, whatever its level. With several replicas of a collection, use `consistency=strong`.
    """

    def __init__(self, url: str, dimensions: int, model_id: str, *, page_rows: int = _PAGE) -> None:
        place = place_of(url)
        self._lite = place.lite
        self._dimensions = dimensions
        self._model_id = model_id
        self._page_rows = page_rows
        self._unflushed = 1  # what was written before is not known
        self._calls = MilvusCalls(place)
        try:
            self._collections = Collections(self._calls, dimensions, model_id)
        except BaseException:
            self._calls.close()
            raise

    @property
    def searches(self) -> int:
        """How many searches were sent to Milvus."""
        return self._calls.searches

    @property
    def queries(self) -> int:
        """How many queries (reads by condition alone) were sent to Milvus."""
        return self._calls.queries

    def upsert(self, rows: Sequence[IndexRow], vectors: Vectors | None) -> None:
        """Replace *all* rows of the beliefs named by these rows; durable and searchable on return.

        1. The rows are written over those with their keys. 2. A strong read waits until they are searchable, and
        finds what else these beliefs had; that is removed. 3. So are their rows of earlier models. A crash between
        leaves the beliefs marked unindexed in the graph; to repeat the call completes it.
        """
        if not rows:
            return
        if vectors is not None and vectors.shape != (len(rows), self._dimensions):
            raise InvalidInput("vectors", f"has shape {vectors.shape}; must be ({len(rows)}, {self._dimensions})")
        made = stored_rows(rows, vectors, self._model_id, self._dimensions, self._lite)
        stored = {row["row"]: row for row in made}
        self._collections.write(lambda name: self._calls.upsert(name, list(stored.values())))
        self._unflushed += len(stored)
        if self._unflushed >= _FLUSHED_ROWS:
            self._flush()
        for condition in _beliefs_of(rows):
            strays = [key for key in self._keys(condition) if key not in stored]
            for some in _parts(strays):
                self._collections.remove_own(Condition("row in {rows}", {"rows": some}))
            self._collections.remove_from_others(condition)

    def delete(self, bank: str, beliefs: Sequence[str]) -> None:
        """Remove every row of these beliefs of this bank."""
        for some in _parts(beliefs):
            self._collections.remove(of_beliefs(bank, some))

    def drop(self, bank: str) -> None:
        """Remove every row of a bank, and each collection of an earlier model that is empty then."""
        self._collections.remove(in_bank(bank))
        self._collections.drop_empty()

    def wipe(self) -> None:
        """Let Milvus write what it holds without the rows that were removed; a server does that in its own time."""
        self._flush()

    def prepare(self, bank: str) -> None:
        """Do what would make the bank's first search slow, so that no deadline pays for it; returns at once later."""
        if self._lite and self._unflushed:
            self._flush()
            self._search(self._collections.name, BM25, question_of("prepare"), in_bank(bank), 1)

    def semantic(self, filter: IndexFilter, vector: Vectors, limit: int) -> list[Hit]:
        """Nearest rows by cosine to one vector of shape (dimensions,); score is the cosine."""
        if vector.shape != (self._dimensions,):
            raise InvalidInput("vector", f"has shape {vector.shape}; this index holds ({self._dimensions},)")
        if limit < 1 or not filter.readers:
            return []
        condition = passing(filter, self._lite) & embedded()
        asked = padded(vector)

        def scored(count: int) -> Scored:
            return self._collections.read_own(lambda name: self._search(name, VECTOR, asked, condition, count))

        return _best(scored, limit)

    def keyword(self, filter: IndexFilter, text: str, limit: int) -> list[Hit]:
        """Best rows by BM25 over `text` and `keywords`; the question is analysed as the rows are.

        The score is the sum over the keywords plus half of that over the text, whose words are keywords as well.
        """
        question = question_of(text)
        if limit < 1 or not filter.readers or not question:
            return []
        condition = passing(filter, self._lite)
        # A server gives the score; Milvus Lite a distance, which is the less the better.
        scale = (-1.0 if self._lite else 1.0) / KEYWORDS_TO_TEXT

        def scored(count: int) -> Scored:
            found = self._collections.read(lambda name: self._search(name, BM25, question, condition, count))
            return [(belief, scale * score) for belief, score in found]

        return _best(scored, limit)

    def by_time(self, filter: IndexFilter, start: Instant, end: Instant, limit: int) -> list[Hit]:
        """Rows that occurred (else: whose newest support lies) in [start, end], those nearest to its middle first.

        The score is 1 / (1 + |middle of the row - middle of the question| / max(end - start, one day)).
        """
        if limit < 1 or start > end or not filter.readers:
            return []
        condition = passing(filter, self._lite) & overlapping(start, end)
        page = min(MOST_ROWS, max(_PERIOD_PAGE, _WIDER * limit))

        def fetch(bounds: tuple[Instant, Instant] | None) -> list[Span]:
            within = condition & middle_within(*bounds) if bounds else condition
            found = self._collections.read(
                lambda name: self._calls.query(name, within, ["belief", "since", "until"], page)
            )
            return [Span(row["belief"], row["since"], row["until"]) for row in found]

        return nearest(fetch, start, end, limit, page)

    def vectors(self, bank: str, beliefs: Sequence[str], readers: Sequence[str]) -> dict[str, Vectors]:
        """The stored vector of each belief's row that these readers may see."""
        found: dict[str, Vectors] = {}
        for some in _parts(beliefs) if readers else ():
            condition = of_beliefs(bank, some) & seen_by(bank, readers, self._lite) & embedded()
            for row in self._rows(condition, ["belief", VECTOR]):
                found.setdefault(row["belief"], np.asarray(unpadded(row[VECTOR], self._dimensions), np.float32))
        return found

    def versions(self, bank: str) -> dict[str, int]:
        """The indexed version of every belief of the bank."""
        return {row["belief"]: row["version"] for row in self._rows(in_bank(bank), ["belief", "version"], strong=True)}

    def close(self) -> None:
        """Flush and release everything."""
        self._calls.close()

    def _keys(self, condition: Condition) -> list[str]:
        """The keys of all rows of a condition, once everything written is searchable."""
        return [row["row"] for row in self._rows(condition, ["row"], strong=True)]

    def _rows(self, condition: Condition, fields: Sequence[str], *, strong: bool = False) -> list[Found]:
        """All rows of a condition in the own collection, page by page where one answer cannot hold them."""

        def ask(name: str) -> list[Found]:
            first = self._calls.query(name, condition, fields, self._page_rows, strong=strong)
            if len(first) < self._page_rows:
                return first
            return [row for page in self._calls.pages(name, condition, fields, self._page_rows) for row in page]

        return self._collections.read_own(ask)

    def _search(self, name: str, column: str, data: object, condition: Condition, count: int) -> Scored:
        params = word_search() if column == BM25 else vector_search(count, self._lite)
        return self._calls.search(name, column, data, condition, count, params)

    def _flush(self) -> None:
        """In Milvus Lite, what is not in a segment is scanned row by row in Python."""
        if self._lite:
            self._calls.flush(self._collections.name)
        self._unflushed = 0


def _best(scored: Callable[[int], Scored], limit: int) -> list[Hit]:
    """The `limit` best beliefs, each once with its best row; more rows are asked for while too few beliefs come."""
    count = min(MOST_ROWS, 2 * limit)
    while True:
        rows = scored(count)
        best: dict[str, float] = {}
        for belief, score in sorted(rows, key=lambda row: -row[1]):
            best.setdefault(belief, score)
        if len(best) >= limit or len(rows) < count or count == MOST_ROWS:
            return [Hit(belief, score) for belief, score in list(best.items())[:limit]]
        count = min(MOST_ROWS, _WIDER * count)


def _beliefs_of(rows: Sequence[IndexRow]) -> Iterator[Condition]:
    """Conditions that together hold the beliefs of rows, each once."""
    banks: dict[str, dict[str, None]] = {}
    for row in rows:
        banks.setdefault(row.bank, {})[row.belief] = None
    for bank, beliefs in banks.items():
        for some in _parts(list(beliefs)):
            yield of_beliefs(bank, some)


def _parts(items: Sequence[str]) -> Iterator[list[str]]:
    """Lists as long as one expression should bear."""
    for at in range(0, len(items), _IN_LIST):
        yield list(items[at : at + _IN_LIST])
