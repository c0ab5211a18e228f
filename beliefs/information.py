"""How much a text tells that is worth keeping: rare words, names, numbers, first-person facts; chatter tells little.

    tells = sqrt( sum over sentences of share * ( sum over distinct rare words of ln(1 + texts / texts with the word)
                  + NAMED for each capitalised rare word but the first + MEASURED for each number
                  + PERSONAL if it speaks of the speaker's own ) )

`share` is ASKS for a question, else 1. The root keeps rambling from winning over substance.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable

NAMED = 2.0
MEASURED = 2.0
PERSONAL = 3.0
ASKS = 0.4

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_PERSONAL = frozenset(
    ["i", "i'm", "i've", "i'd", "my", "mine", "we", "our", "me", "us", "myself", "我", "我们", "我的"]
)
_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]?")
_HALF_TOLD = 8.0
_OFTEN = 0.1
"""A word that stands in more than this share of all texts tells nothing."""


def words_of(text: str) -> list[str]:
    """The words of a text, case-folded; what is written without spaces is one word."""
    return [word.replace("’", "'").casefold() for word in _WORD.findall(text)]


def frequencies(texts: Iterable[str]) -> Counter[str]:
    """In how many of the texts each word stands."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update(set(words_of(text)))
    return found


def tells(text: str, seen_in: Counter[str], texts: int) -> float:
    """How much a text tells, 0 or more, given in how many of `texts` texts each word stands."""
    total = 0.0
    for sentence in _SENTENCE.findall(text):
        share = ASKS if sentence.rstrip().endswith(("?", "？")) else 1.0
        total += share * _of_sentence(sentence, seen_in, texts)
    return math.sqrt(total)


def _of_sentence(sentence: str, seen_in: Counter[str], texts: int) -> float:
    spoken = _WORD.findall(sentence)
    told = {word.replace("’", "'").casefold() for word in spoken}
    rare = [word for word in told if seen_in[word] <= max(1.0, _OFTEN * texts)]
    total: float = math.fsum(sorted(math.log(1 + texts / max(seen_in[word], 1)) for word in rare))
    total += NAMED * sum(word[0].isupper() and word.casefold() in rare for word in spoken[1:])
    total += MEASURED * sum(word[0].isdigit() for word in spoken)
    total += PERSONAL if rare and told & _PERSONAL else 0.0
    return total


def informs(text: str, seen_in: Counter[str], texts: int) -> float:
    """How much a text tells, from 0 to below 1: half for one that tells 8."""
    told = tells(text, seen_in, texts)
    return told / (told + _HALF_TOLD)
