"""Where sentences begin and end, in English and Chinese, and how long texts are cut at such bounds."""

import re

LONGEST = 2_000
"""Characters that one free statement holds at most."""


def words(text: str) -> frozenset[str]:
    """A set of words, written as one text."""
    return frozenset(text.split())


_ABBREVIATIONS = words("mr mrs ms dr prof st vs etc no fig e.g i.e a.k.a u.s a.m p.m inc ltd co jr sr approx")
_BOUND = re.compile(
    r"[.!?]+[\"'”’)\]]*(?=\s)"  # Latin ends, before white space
    r"|[。！？；!?]+[\"'”’」』）)]*(?=[^\s])"  # CJK ends need no space
    r"|;(?=\s)"
    r"|\n+"
)
_CJK_END = frozenset("。！？；")

Span = tuple[int, int]


def sentence_spans(text: str) -> list[Span]:
    """Start and end of each sentence, white space outside; none is longer than LONGEST, none is lost."""
    spans: list[Span] = []
    start = 0
    for bound in _BOUND.finditer(text):
        if _ends_sentence(text, start, bound):
            _add(text, start, bound.end(), spans)
            start = bound.end()
    _add(text, start, len(text), spans)
    return spans


def chunk_spans(spans: list[Span]) -> list[Span]:
    """Neighbouring sentences joined to pieces of at most LONGEST characters."""
    chunks: list[Span] = []
    for start, end in spans:
        if chunks and end - chunks[-1][0] <= LONGEST:
            chunks[-1] = (chunks[-1][0], end)
        else:
            chunks.append((start, end))
    return chunks


def _ends_sentence(text: str, start: int, bound: re.Match[str]) -> bool:
    mark = bound[0]
    if mark[0] == "\n":
        following = text[bound.end() : bound.end() + 1]
        return len(mark) > 1 or not following.islower()
    if mark[0] in _CJK_END:
        return True
    if mark != ".":
        # "!" and "?" inside Latin text without a space belong to the word (a URL, a name).
        after = text[bound.end() : bound.end() + 1]
        return after.isspace() or ord(after) > 0x2E7F
    word = text[max(start, bound.start() - 12) : bound.start()].rpartition(" ")[2].lower()
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    # A dot after a bare number at the start of a line is a list mark, not an end.
    return not (word.isdigit() and not text[start : bound.start() - len(word)].strip())


def _add(text: str, start: int, end: int, spans: list[Span]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = max(text.rfind(mark, start + LONGEST // 2, start + LONGEST) for mark in " ，,、\t\n")
        cut = cut + 1 if cut > 0 else start + LONGEST
        _add(text, start, cut, spans)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))
