"""Which tokens of a text keyword search compares: Unicode words, stems, character pairs, whole identifiers."""

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import lru_cache, partial

import Stemmer

_STOP_WORDS = """
    a an and are as at be been being but by can could did do does for from had has have he her hers him his how i if
    in into is it its me my of on or our ours she should so than that the their theirs them then there these they this
    those to was we were what when where which while who whom whose why will with would you your yours
    d ll m re s t ve
"""
_STOP = frozenset(_STOP_WORDS.split())


def _ranges(codes: list[int]) -> str:
    """Code points as the inside of a regular expression's character class."""
    spans: list[list[int]] = []
    for code in codes:
        if spans and code == spans[-1][1] + 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in spans)


# `\w` leaves out combining marks, without which words of Hindi, Thai or Burmese fall apart.
_MARKS = _ranges([code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"])
_PAIRED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_JOINER = "-._@/:+&"


def _chunk_pattern(letters: str) -> re.Pattern[str]:
    """Words, also joined by single marks as identifiers are, with what C++ and C# end in."""
    return re.compile(rf"[{letters}]+(?:[{_JOINER}]{{1,2}}[{letters}]+)*[+#]{{0,2}}")


_CHUNK = _chunk_pattern(r"\w" + _MARKS)
_ASCII_CHUNK = _chunk_pattern("A-Za-z0-9_")  # the same on ASCII, and several times faster
_SPLIT = re.compile(f"[{_JOINER}#]+")
_RUN = re.compile(f"[{_PAIRED}]+|[^{_PAIRED}]+")
_HAS_PAIRED = re.compile(f"[{_PAIRED}]")
_CYRILLIC = re.compile("[\u0400-\u04ff]+")
_ARABIC = re.compile("[\u0620-\u06ff]+")
_LONGEST_KEPT = 64
"""Characters of a word whose tokens are remembered; longer ones seldom come again."""

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

# Invisible characters, variation selectors, and the vowel marks that Arabic and Hebrew may leave out.
_DROPPED = dict.fromkeys(
    (
        0x00AD,
        0x0640,
        0x061C,
        0x0670,
        0xFEFF,
        *range(0x0591, 0x05C8),
        *range(0x064B, 0x0660),
        *range(0x200C, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)


class _Stemmers(threading.local):
    """Snowball stemmers of one thread: an instance must not be used by two threads at once."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english", 0)
        self.russian = Stemmer.Stemmer("russian", 0)
        self.arabic = Stemmer.Stemmer("arabic", 0)


_stemmers = _Stemmers()


def tokens(text: str) -> list[str]:
    """Tokens of a question, in order, repeats included.

    Stop words count only where nothing else is left. A run of letters of a script without spaces gives its
    character pairs, or the character where it stands alone.
    """
    return _analyse(text, singles=False)


def row_tokens(text: str) -> list[str]:
    """Tokens of a stored text: those of `tokens`, and the single characters of scripts without spaces.

    So a question of one character finds the texts that hold it.
    """
    return _analyse(text, singles=True)


def part_tokens(text: str) -> list[str]:
    """Tokens of one of several parts of a stored text: those of `row_tokens`, but none of stop words alone."""
    return _telling_tokens(_words(text), singles=True)


def _analyse(text: str, *, singles: bool) -> list[str]:
    words = _words(text)
    return _telling_tokens(words, singles) or [
        token for word in words for chunk in _chunks(word) for token in _split_chunk(chunk, singles)
    ]


def _words(text: str) -> list[str]:
    """What stands between white space, in the form in which it is compared."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_DROPPED)
    return text.split()


def _telling_tokens(words: Sequence[str], singles: bool) -> list[str]:
    """The tokens of words, without stop words."""
    found: list[str] = []
    telling = _telling[singles]
    for word in words:
        found += telling(word) if len(word) <= _LONGEST_KEPT else _tokens_of(word, singles)
    return found


def _tokens_of(word: str, singles: bool) -> tuple[str, ...]:
    """The tokens of what stands between white space, without stop words."""
    return tuple(token for chunk in _chunks(word) if not _is_stop(chunk) for token in _split_chunk(chunk, singles))


_telling = {singles: lru_cache(maxsize=65_536)(partial(_tokens_of, singles=singles)) for singles in (False, True)}


def _chunks(word: str) -> list[str]:
    """The chunks of what stands between white space; none ever reaches over white space."""
    pattern = _ASCII_CHUNK if word.isascii() else _CHUNK
    found: list[str] = pattern.findall(_THOUSANDS.sub("", word) if "," in word else word)
    return found


def _is_stop(word: str) -> bool:
    """Whether a word says nothing; all capitals do ("template A", "US", "IT"), except "I"."""
    return word.lower() in _STOP and (word == "I" or not word.isupper())


def _split_chunk(chunk: str, singles: bool) -> tuple[str, ...]:
    """An identifier as a whole, then its parts; a plain word alone."""
    whole = chunk.strip("_")
    if whole.isalnum() and whole.isascii():
        return (_stem(whole.lower()),)  # as below, in fewer steps
    parts = [part for part in _SPLIT.split(whole) if part]
    found: list[str] = []
    paired = not whole.isascii() and _HAS_PAIRED.search(whole) is not None
    if parts != [whole] and parts and not paired:
        found.append(_fold(whole))
        parts = [part for part in parts if not _is_stop(part)]
    for part in parts:
        for run in _RUN.findall(part) if paired else (part,):
            if paired and _HAS_PAIRED.match(run):
                found += _pairs(run, singles)
            else:
                found.append(_stem(_fold(run)))
    return tuple(found)


def _pairs(run: str, singles: bool) -> list[str]:
    if len(run) == 1:
        return [run]
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    if singles:
        pairs += [character for character in run if character.isalnum()]
    return pairs


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word.casefold())


def _stem(word: str) -> str:
    """The stem where the script tells a language well enough; question and row are treated alike."""
    if word.isascii():
        stem = _stemmers.english.stemWord(word) if word.isalpha() else word
    elif _CYRILLIC.fullmatch(word):
        stem = _stemmers.russian.stemWord(word)
    elif _ARABIC.fullmatch(word):
        stem = _stemmers.arabic.stemWord(word)
    else:
        stem = word
    return str(stem)
