"""How alike two names are: spelling, order of words, initials, short forms, and names of unspaced scripts.

Jaro-Winkler: Winkler (1990), String Comparator Metrics and Enhanced Decision Rules in the Fellegi-Sunter Model.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from beliefs.sentences import words
from schemas.identity import normal_name

_SPLIT = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\d+")
_UNSPACED = re.compile("^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+$")
_EMPTY = words("the a an mr mrs ms dr prof inc ltd llc corp corporation co company gmbh ag sa plc group team")
_CHINESE_ENDS = (
    "股份有限公司",
    "有限责任公司",
    "有限公司",
    "公司",
    "集团",
    "先生",
    "女士",
    "小姐",
    "老师",
    "经理",
    "博士",
)
_SHORT_FORMS = (
    "robert bob rob bobby bert",
    "william bill will billy liam",
    "richard rick dick rich",
    "elizabeth liz beth lizzie eliza betty",
    "katherine catherine kate kathy katie cathy",
    "margaret maggie meg peggy",
    "michael mike mick micky",
    "alexander alex sasha",
    "james jim jimmy jamie",
    "john johnny jack",
    "joseph joe joey",
    "thomas tom tommy",
    "edward ed eddie ted",
    "daniel dan danny",
    "christopher chris kit",
    "jennifer jen jenny",
    "susan sue susie",
    "deborah deb debbie",
    "anthony tony",
    "andrew andy drew",
    "benjamin ben",
    "samuel sam sammy",
    "stephen steven steve",
    "matthew matt",
    "patricia pat patty tricia",
    "rebecca becky becca",
    "victoria vicky tori",
    "charles charlie chuck",
    "nicholas nick",
    "gregory greg",
    "jonathan jon",
    "timothy tim",
    "kubernetes k8s",
    "postgresql postgres",
    "database db",
    "production prod",
    "development dev",
    "application app",
    "administrator admin",
    "repository repo",
    "international intl",
    "department dept",
)
_LONG: dict[str, str] = {}
for _family in _SHORT_FORMS:
    _long, *_others = _family.split()
    for _other in (_long, *_others):
        _LONG[_other] = _long


@lru_cache(maxsize=65_536)
def tokens_of(name: str) -> tuple[str, ...]:
    """The words of a name that tell it apart, in their long form; the whole where it has no other word."""
    plain = normal_name(name)
    parts = _parts(plain.removesuffix(_chinese_end(plain)))
    telling = [part for part in parts if part not in _EMPTY] or parts
    return tuple(_LONG.get(part, part) for part in telling)


def _chinese_end(plain: str) -> str:
    return next((end for end in _CHINESE_ENDS if plain.endswith(end) and plain != end), "")


def _parts(plain: str) -> list[str]:
    return [part for part in _SPLIT.split(plain) if part]


def compact(name: str) -> str:
    """A name without what separates its words."""
    return "".join(tokens_of(name))


def all_words(name: str) -> list[str]:
    """Every word of a name, as it is written."""
    return _parts(normal_name(name))


def is_unspaced(name: str) -> bool:
    """Whether a name is written in a script that does not space its words."""
    return bool(_UNSPACED.match(compact(name)))


def name_likeness(one: str, other: str) -> float:
    """From 0 (nothing alike) to 1 (the same name, spelled otherwise)."""
    first, second = tokens_of(one), tokens_of(other)
    if not first or not second:
        return 0.0
    if "".join(first) == "".join(second):
        return 1.0
    if _NUMBER.findall("".join(first)) != _NUMBER.findall("".join(second)):
        return 0.0
    if sorted(first) == sorted(second):
        return 0.97
    if is_unspaced(one) and is_unspaced(other):
        named_in_full = bool(_chinese_end(normal_name(one)) or _chinese_end(normal_name(other)))
        return _unspaced_likeness("".join(first), "".join(second), named_in_full)
    short = _acronym(all_words(one), all_words(other))
    spelled = _misspelled("".join(first), "".join(second)) if 1 in (len(first), len(second)) else 0.0
    return max(_by_words(first, second), short, _login(first, second), spelled)


def jaro_winkler(one: str, other: str) -> float:
    """Similarity of two spellings from 0 to 1, with a bonus for up to four equal first letters."""
    likeness = _jaro(one, other)
    shared = 0
    for left, right in zip(one[:4], other[:4], strict=False):
        if left != right:
            break
        shared += 1
    return likeness + shared * 0.1 * (1.0 - likeness)


def _jaro(one: str, other: str) -> float:
    if not one or not other:
        return 0.0
    reach = max(max(len(one), len(other)) // 2 - 1, 0)
    taken = [False] * len(other)
    matched: list[str] = []
    for at, letter in enumerate(one):
        for place in range(max(0, at - reach), min(len(other), at + reach + 1)):
            if not taken[place] and other[place] == letter:
                taken[place] = True
                matched.append(letter)
                break
    if not matched:
        return 0.0
    mirrored = [letter for letter, hit in zip(other, taken, strict=True) if hit]
    swapped = sum(left != right for left, right in zip(matched, mirrored, strict=True)) / 2
    count = len(matched)
    return (count / len(one) + count / len(other) + (count - swapped) / count) / 3


def _misspelled(one: str, other: str) -> float:
    """One slip of the pen within a long name; at its ends a letter more often makes another name: Carla, Carlo."""
    ends_alike = one[0] == other[0] and one[-1] == other[-1]
    alike = jaro_winkler(one, other)
    return 0.9 * alike if ends_alike and alike >= 0.93 and min(len(one), len(other)) >= 8 else 0.0


def _by_words(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Words that are equal, initials of each other, or misspelled; the longer name may have further ones."""
    short, long = (first, second) if len(first) <= len(second) else (second, first)
    left = list(long)
    worth = 0.0
    for word in short:
        best, place = max(((_word(word, other), -at) for at, other in enumerate(left)), default=(0.0, 0))
        if best <= 0.0:
            return 0.0
        worth += best
        left.pop(-place)
    mean = worth / len(short)
    if len(short) == len(long):
        return 0.95 * mean
    return (0.8 if len(short) > 1 else 0.62) * mean


def _word(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if (len(one) == 1 or len(other) == 1) and one[0] == other[0]:
        return 0.85
    ends_alike = one[0] == other[0] and one[-1] == other[-1]
    alike = jaro_winkler(one, other) if ends_alike and min(len(one), len(other)) >= 5 else 0.0
    return alike if alike >= 0.88 else 0.0


def _acronym(first: Sequence[str], second: Sequence[str]) -> float:
    """One word that is made of the first letters of the other's words."""
    for short, long in ((first, second), (second, first)):
        if (
            len(short) == 1
            and len(long) >= 2
            and len(short[0]) == len(long)
            and short[0] == "".join(w[0] for w in long)
        ):
            return 0.85 if len(long) >= 3 else 0.6
    return 0.0


def _login(first: Sequence[str], second: Sequence[str]) -> float:
    """One word that is the other's first letter and last word, or its first word and last letter."""
    for short, long in ((first, second), (second, first)):
        if len(short) == 1 and len(long) == 2 and short[0] in (long[0][0] + long[1], long[0] + long[1][0]):
            return 0.8
    return 0.0


def _unspaced_likeness(one: str, other: str, named_in_full: bool) -> float:
    """A company without its place; a given name in the full one; 小 or 老 before a part of it; one slip in four."""
    short, long = sorted((one, other), key=len)
    if named_in_full and len(short) >= 3 and short in long:
        return 0.87
    if len(short) >= 2 and (long.endswith(short) or long.startswith(short)):
        return 0.78 if long.endswith(short) else 0.7
    if len(short) == 2 and short[0] in "小阿老" and short[1] in long and short[0] not in long:
        return 0.6 if short[0] != "老" or long[0] == short[1] else 0.0
    if len(short) >= 2 and len(short) <= len(long) - 2 and _in_order(short, long) and short[0] == long[0]:
        return 0.62
    if len(short) == len(long) >= 4 and sum(a != b for a, b in zip(short, long, strict=True)) == 1:
        return 0.66
    return 0.0


def _in_order(short: str, long: str) -> bool:
    rest = iter(long)
    return all(letter in rest for letter in short)
