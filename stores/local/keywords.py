"""Keyword search in tantivy files: BM25 over hashed tokens, with every filter inside the query."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, get_args

from tantivy import Document, FieldType, Index, Occur, Query, SchemaBuilder

from schemas.belief import Status
from schemas.errors import FolderInUse, StoreUnavailable
from stores.analysis import part_tokens, row_tokens, tokens
from stores.local.row_file import Stored
from stores.local.row_table import span_of
from stores.ports import IndexFilter, IndexRow

_HEAP_BYTES = 15_000_000  # the least that tantivy takes; more makes small commits slower
_SEPARATOR = "\x1f"
_STATUSES: tuple[Status, ...] = get_args(Status)
_EXACT_FIELDS = ("bank", "belief", "sight", "network", "status", "entity", "mark")
_MARK = "watermark"


class KeywordFiles:
    """Documents by row number. `seq` is the sequence number of the last change in them, kept in a marker document.

    The files hold keyed hashes in the place of words, names and reader tokens, so that what was forgotten is in no
    file, although tantivy keeps removed documents until it merges them. `sight` is bank and reader in one term: a
    filter without one finds nothing. A checked row has no status term, so no status filter, which excludes, hits it.
    """

    def __init__(self, folder: Path, secret: bytes, text_boost: float, keywords_boost: float) -> None:
        self._boosts = {"text": text_boost, "keywords": keywords_boost}
        self._hash_once = _hasher(secret)
        self._hash = lru_cache(maxsize=65_536)(self._hash_once)
        self._schema = _schema()
        self._folder = folder
        with self._errors():
            folder.mkdir(parents=True, exist_ok=True)
            self._index = Index(self._schema, path=str(folder))
            self._index.config_reader(reload_policy="manual")
            self._writer: Any = self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)
            self.seq, self.count = self._state()

    @classmethod
    def open(cls, folder: Path, secret: bytes, text_boost: float, keywords_boost: float) -> "KeywordFiles":
        """Open the files, or begin with none where they are missing or damaged.

        Raises FolderInUse while another process, or another index of this one, writes them.
        """
        try:
            return cls(folder, secret, text_boost, keywords_boost)
        except StoreUnavailable as error:
            if "LockBusy" in str(error):
                raise FolderInUse(f"{folder.parent}: another process has this index open; stop it first") from error
            return cls.create(folder, secret, text_boost, keywords_boost)

    @classmethod
    def create(cls, folder: Path, secret: bytes, text_boost: float, keywords_boost: float) -> "KeywordFiles":
        """Begin with empty files, whatever was there."""
        shutil.rmtree(folder, ignore_errors=True)
        return cls(folder, secret, text_boost, keywords_boost)

    def apply(
        self,
        seq: int,
        rows: Iterable[Stored],
        beliefs: Iterable[tuple[str, str]] = (),
        banks: Iterable[str] = (),
    ) -> None:
        """Remove whole banks, then all rows of (bank, belief), then add rows; searchable on return, or undone."""
        with self._errors():
            try:
                for bank in banks:
                    self._writer.delete_documents_by_term("bank", self._hash(bank))
                for bank, belief in beliefs:
                    self._writer.delete_documents_by_term("belief", self._hash_once(bank, belief))
                hashed = cache(self._hashed)  # rows of one session hold each other's lines
                for number, row, _ in rows:
                    self._writer.add_document(self._document(number, row, hashed))
                self._writer.delete_documents_by_term("mark", _MARK)
                marker = Document()
                marker.add_text("mark", _MARK)
                marker.add_unsigned("seq", seq)
                self._writer.add_document(marker)
                self._writer.commit()
            except BaseException:
                self._writer.rollback()
                raise
            self._index.reload()
            self.seq, self.count = self._state()

    def search(self, filter: IndexFilter | None, text: str, limit: int) -> list[tuple[int, float]]:
        """(row number, sum of the BM25 of both fields), best first; the question's tokens count once each.

        Without a filter, rows of every bank and reader: the caller must leave out what may not be seen.
        """
        words = [self._hash(token) for token in dict.fromkeys(tokens(text))]
        if not words or (filter is not None and not filter.readers):
            return []
        query = self._any_word(words)
        if filter is not None:
            query = Query.boolean_query([(Occur.Must, query), *self._conditions(filter)])
        with self._errors():
            searcher: Any = self._index.searcher()
            hits = searcher.search(query, limit, count=False).hits
            numbers = searcher.fast_field_values("number", [address for _, address in hits])
        return [(number, score) for number, (score, _) in zip(numbers, hits, strict=True)]

    def close(self) -> None:
        """Release the files."""
        with self._errors():
            self._writer.wait_merging_threads()

    def _any_word(self, words: Sequence[str]) -> Any:
        return Query.boolean_query(
            [
                (Occur.Should, Query.boost_query(self._term(field, word), boost))
                for word in words
                for field, boost in self._boosts.items()
                if boost
            ]
        )

    def _conditions(self, filter: IndexFilter) -> Iterator[tuple[Occur, Any]]:
        """Clauses that let rows through, or keep them out, without adding to their score."""
        yield self._one_of("sight", [self._hash(filter.bank, reader) for reader in filter.readers])
        if filter.networks:
            yield self._one_of("network", filter.networks)
        if filter.entities:
            yield self._one_of("entity", [self._hash(entity) for entity in filter.entities])
        if filter.occurred_from is not None:
            yield Occur.Must, self._range("until", filter.occurred_from, None)
        if filter.occurred_to is not None:
            yield Occur.Must, self._range("since", None, filter.occurred_to)
        if filter.periods:
            yield Occur.Must, Query.boolean_query([(Occur.Should, self._overlap(*each)) for each in filter.periods])
        if filter.statuses:
            for status in _STATUSES:
                if status not in filter.statuses:
                    yield Occur.MustNot, self._term("status", status)

    def _one_of(self, field: str, values: Sequence[str]) -> tuple[Occur, Any]:
        terms = [(Occur.Should, self._term(field, value)) for value in values]
        return Occur.Must, Query.const_score_query(Query.boolean_query(terms) if len(terms) > 1 else terms[0][1], 0.0)

    def _overlap(self, first: int, last: int) -> Any:
        ends, begins = self._range("until", first, None), self._range("since", None, last)
        return Query.boolean_query([(Occur.Must, ends), (Occur.Must, begins)])

    def _range(self, field: str, low: int | None, high: int | None) -> Any:
        return Query.const_score_query(Query.range_query(self._schema, field, FieldType.Integer, low, high), 0.0)

    def _term(self, field: str, value: str) -> Any:
        return Query.term_query(self._schema, field, value, index_option="freq")

    def _document(self, number: int, row: IndexRow, hashed: Callable[[str], str]) -> Document:
        document = Document()
        document.add_unsigned("number", number)
        document.add_text("bank", self._hash(row.bank))
        document.add_text("belief", self._hash_once(row.bank, row.belief))
        for reader in set(row.readers):
            document.add_text("sight", self._hash(row.bank, reader))
        document.add_text("network", row.network)
        if not row.checked:
            document.add_text("status", row.status)
        for entity in set(row.entities):
            document.add_text("entity", self._hash(entity))
        since, until = span_of(row)
        document.add_integer("since", since)
        document.add_integer("until", until)
        document.add_text("text", self._joined(_text_parts(row), hashed))
        document.add_text("keywords", self._joined(row.keywords.split("\n"), hashed))
        return document

    def _joined(self, parts: Sequence[str], hashed: Callable[[str], str]) -> str:
        """The hashes of a text's tokens; stop words count only where nothing else is left in any part of it."""
        return " ".join(filter(None, map(hashed, parts))) or " ".join(map(self._hash, row_tokens("\n".join(parts))))

    def _hashed(self, part: str) -> str:
        return " ".join(map(self._hash, part_tokens(part)))

    def _state(self) -> tuple[int, int]:
        """The marker's sequence number and the number of rows."""
        searcher: Any = self._index.searcher()
        hits = searcher.search(self._term("mark", _MARK), 1, count=False).hits
        if not hits:
            return 0, searcher.num_docs
        return searcher.fast_field_values("seq", [hits[0][1]])[0], searcher.num_docs - 1

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """tantivy raises ValueError and OSError, and on damaged files a Rust panic, whose class cannot be imported."""
        try:
            yield
        except BaseException as error:
            if isinstance(error, ValueError | OSError) or type(error).__name__ == "PanicException":
                raise StoreUnavailable(f"keyword index {self._folder}: {error}") from error
            raise


def _text_parts(row: IndexRow) -> tuple[str, ...]:
    """The text of a row; where it ends in the first line of the keywords, as it mostly does, that line by itself."""
    line = row.keywords.partition("\n")[0]
    lead = row.text.removesuffix(line)
    return (lead, line) if len(lead) < len(row.text) and lead.endswith(" ") else (row.text,)


def _schema() -> Any:
    builder = SchemaBuilder()
    for name in _EXACT_FIELDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("text", "keywords"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in ("since", "until"):
        builder.add_integer_field(name, fast=True)
    for name in ("number", "seq"):
        builder.add_unsigned_field(name, fast=True)
    return builder.build()


def _hasher(secret: bytes) -> Callable[..., str]:
    """A keyed hash of parts, 16 hex digits."""
    keyed = blake2b(key=secret, digest_size=8)

    def hashed(*parts: str) -> str:
        state = keyed.copy()
        state.update(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass"))
        return state.hexdigest()

    return hashed
