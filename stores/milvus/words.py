"""The words of a row and of a question as Milvus's BM25 compares them: our own tokens, hashed, one field apart.

A Milvus text column holds 65,535 bytes, so a long row has several parts, each a row of Milvus. Since the words are
hashed, what was forgotten is in no file of Milvus, although it keeps removed rows until it merges its segments.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from stores.analysis import row_tokens, tokens
from stores.ports import IndexRow

LONGEST: Final = 65_535
"""Bytes of a text column of Milvus."""

KEYWORDS_TO_TEXT: Final = 2
"""What a word among the keywords counts against one in the text, which is among the keywords as well.

Both are in one column, so their lengths are normalised together. On LoCoMo (760 questions, keywords alone) 2 gives
recall@10 .737 and MRR .541; 5, what the local index has over two columns, .730 and .508, there .735 and .521.
"""

_TEXT, _KEYWORDS = "t", "k"
_WORD_BYTES = 6
_PART = LONGEST // (2 * _WORD_BYTES + 1)


def parts_of(row: IndexRow) -> list[str]:
    """The row's words, text and keywords apart, as one or more texts for the column."""
    words = [_hashed(_TEXT, token) for token in row_tokens(row.text)]
    words += [_hashed(_KEYWORDS, token) for token in row_tokens(row.keywords)]
    return [" ".join(words[at : at + _PART]) for at in range(0, len(words), _PART)] or [""]


def question_of(text: str) -> str:
    """A question's words, once each; empty where it has none.

    BM25 weighs a word of the question by how often it stands there: so the keywords get their weight, in one search.
    """
    found = dict.fromkeys(tokens(text))
    once = [_hashed(_TEXT, token) for token in found]
    often = [_hashed(_KEYWORDS, token) for token in found] * KEYWORDS_TO_TEXT
    return " ".join([*once, *often][:_PART])


@lru_cache(maxsize=65_536)
def _hashed(field: str, token: str) -> str:
    """Twelve hex digits: every analyzer takes them for one word."""
    return blake2b(f"{field}:{token}".encode("utf-8", "surrogatepass"), digest_size=_WORD_BYTES).hexdigest()
