"""How many tokens a text costs, and which part of an answer a budget of them pays for.

A token is estimated as four bytes of ASCII, or one character of any other script (two to three bytes a token for
CJK, about what byte-pair vocabularies reach). What is counted is the `structured` rendering as JSON: what a model gets.
"""

import json
import math
import re

import msgspec

from recall.render import structured
from schemas.answer import Answer, Found
from schemas.evidence import Evidence

_ASCII_BYTES_A_TOKEN = 4
_OTHER = re.compile(r"[^\x00-\x7f]")


def tokens_of(text: str) -> int:
    """The estimate for a text, rounded up."""
    other = 0 if text.isascii() else len(_OTHER.findall(text))
    return math.ceil((len(text) - other) / _ASCII_BYTES_A_TOKEN) + other


def answer_tokens(answer: Answer) -> int:
    """The estimate for what a model gets of an answer."""
    return tokens_of(json.dumps(structured(answer), ensure_ascii=False))


def within_budget(answer: Answer, max_tokens: int | None) -> Answer:
    """The answer with its cost in `tokens`, cut to the budget.

    First goes what needs a fresh look; then beliefs are taken in order, and turns from the newest back.
    What is cut is counted under "budget". An answer without any of them is never cut further.
    """
    if max_tokens is not None and answer_tokens(answer) > max_tokens:
        answer = msgspec.structs.replace(answer, needs_fresh_look=())
    if max_tokens is None or answer_tokens(answer) <= max_tokens:
        return msgspec.structs.replace(answer, tokens=answer_tokens(answer))
    found: list[Found] = []
    recent: list[Evidence] = []
    best = _cut(answer, found, recent)
    for one in answer.found:
        tried = _cut(answer, [*found, one], recent)
        if tried.tokens <= max_tokens:
            found.append(one)
            best = tried
    for piece in reversed(answer.recent):
        tried = _cut(answer, found, [piece, *recent])
        if tried.tokens > max_tokens:
            break
        recent.insert(0, piece)
        best = tried
    return best


def _cut(answer: Answer, found: list[Found], recent: list[Evidence]) -> Answer:
    lost = len(answer.found) + len(answer.recent) - len(found) - len(recent)
    left_out = answer.left_out | {"budget": lost} if lost else answer.left_out
    cut = msgspec.structs.replace(answer, found=tuple(found), recent=tuple(recent), left_out=left_out)
    return msgspec.structs.replace(cut, tokens=answer_tokens(cut))
