"""Whether two texts about the same value say the same, so that one of them may stand for both.

What is exact must be the same in both: numbers, amounts, dates, versions and denials. Of the other words most must be,
or, where vectors are known, the vectors must lie close together.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from beliefs.sentences import words
from beliefs.typed import find_typed
from schemas.instant import DAY, Instant

OVERLAP = 0.75
"""The share of the words of both texts that must stand in both, where no vectors are known."""
CLOSENESS = 0.95
"""The cosine from which two vectors count as of one thing said twice; set by pairs under the model that is built in."""

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:['’][^\W_{_UNSPACED}]+)?")
_DIGITS = re.compile(r"\d+")
_SIGN = re.compile(r"[−–±+~≈<>≤≥](?=\s?\d)|(?<=\d)\s?[%‰°+]")
"""What makes another number of digits: a minus that is no hyphen, a bound, a percent sign."""
_DENIALS = ("n't", "n’t")
_EXACT = words(
    "not no never none nobody nothing neither nor without cannot cant dont wont isnt arent doesnt didnt lack lacks "
    "except unless only hardly "
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen "
    "half quarter once twice first second third last "
    "不 没 無 无 未 非 别 勿 只 〇 零 一 二 两 三 四 五 六 七 八 九 十 百 千 万 亿 半"
)
"""Words that deny or count."""


class Wording(NamedTuple):
    """A text as it is compared: its words, and everything exact in it, sorted."""

    words: frozenset[str]
    exact: tuple[str, ...]


def wording(text: str, moment: Instant) -> Wording:
    """What a text told at that moment is compared by; "yesterday" is another day when it is told on another."""
    return _on_day(text, moment // DAY)


@lru_cache(maxsize=4_096)
def _on_day(text: str, day: int) -> Wording:
    plain = unicodedata.normalize("NFKC", text)
    values, rest = _values_apart(plain, day * DAY)
    found = [word.casefold() for word in _WORD.findall(rest)]
    counted = [word for word in found if word in _EXACT or word.endswith(_DENIALS)]
    exact = [*values, *_SIGN.findall(plain), *_DIGITS.findall(rest), *counted]
    return Wording(frozenset(found), tuple(sorted(exact)))


def says_the_same(one: Wording, other: Wording, closeness: Callable[[], float] | None = None) -> bool:
    """Whether two wordings of one value differ in nothing exact and in little else.

    `closeness` gives the cosine of their vectors, where these are known; it is asked only where that decides.
    """
    if one.exact != other.exact:
        return False
    if one.words == other.words:
        return True
    if closeness is not None:
        return closeness() >= CLOSENESS
    return len(one.words & other.words) >= OVERLAP * len(one.words | other.words)


def _values_apart(text: str, moment: Instant) -> tuple[list[str], str]:
    """Typed values, which may be written in several ways, and the text without them."""
    values, rest, end = [], [], 0
    for value in find_typed(text, moment):
        values.append(f"{value.type} {value.value!r}")
        rest.append(text[end : value.start])
        end = value.end
    return values, " ".join([*rest, text[end:]])
