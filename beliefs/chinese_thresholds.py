"""The Chinese rule for thresholds and amounts: sentences that differ only in one typed value share a slot."""

import re

from beliefs.chinese_words import DROPPED, EVENT, named
from beliefs.reading import NOTHING, Reading, Readings, Sentence, template
from beliefs.typed import Typed, find_typed

_EACH = r"每(?:个?[月周年天日季]度?|小时|人|次|件|张|位|晚|份)"
_CUE = re.compile(
    rf"(?:满|超过|超|达到?|至少|最多|最低|最高|不超过|不低于|为|是|到|至|在|于|限购?|限领|限|每|{_EACH}|需要?|要|有|仅|共|享受?|打|收取?|收费|"
    r"送|减|返|起|价格?|票|费|约|容纳|早于|晚于|[:：=≥≤<>])\s?$"
)
_CUE_AFTER = re.compile(
    r"^\s?(?:以上|以下|以内|之内|内|之?前|起|包邮|免|开始|开门|关门|开馆|闭馆|开店|闭店|打烊|营业|开放|关闭|上班|下班|发车|起飞|开会|开课|"
    r"入住|退房|截止|结束|到期|过期|后|一[次个]|更换|/)"
)
_MODAL = re.compile(r"(?<!^)(?:可以?|能|必须|应当?|须)(?!能|爱|靠)")
_BOUND = re.compile(r"^\s?(?:以上|以下|以内|之内|内|起)")
_LESS = re.compile(r"[减送返]\s?$")
_NAMED_CUE = re.compile(r"(?:满|为|是|到|至|[=≥≤])\s?$")
_HEAD = re.compile(
    r"(?:满|超过|超|达到?|至少|最多|最低|最高|限|每|需要?|要|有|仅|共|享|打|收取?|送|减|为|是|在|于|到|至|可|会|应|从|的时间|[:：=≥≤<>，,\d])"
)


def threshold(sentence: Sentence) -> Readings:
    """A sentence with one typed value where a threshold or amount stands (满200元免运费): the rest is the attribute."""
    text = sentence.text
    found = find_typed(text, sentence.moment)
    if not 1 <= len(found) <= 3 or len(text) > 40 or EVENT.search(text):
        return NOTHING
    value = _value_named(text, found)
    if value is None:
        return NOTHING
    before, after = text[: value.start], text[value.end :]
    subject = named(_HEAD.split(before, maxsplit=1)[0] or _said(after) or _said(before))
    if subject is None:
        return NOTHING
    return (
        Reading(
            attribute=template(before, value, after, DROPPED), value=value.value, value_type=value.type, subject=subject
        ),
    )


def _value_named(text: str, found: list[Typed]) -> Typed | None:
    if len(found) == 1:
        return found[0] if _stands(text, found[0]) else None
    if len(found) == 2 and found[1].type == "money" and _LESS.search(text[found[0].end : found[1].start]):
        return found[1]
    marked = [value for value in found if _NAMED_CUE.search(text[: value.start])]
    return marked[0] if len(marked) == 1 else None


def _stands(text: str, value: Typed) -> bool:
    """Whether a value stands where sentences state one; a quantity also after "may", "must"."""
    before = text[: value.start]
    if _CUE.search(before) or _CUE_AFTER.search(text[value.end :]):
        return True
    return isinstance(value.value, str) and _MODAL.search(before) is not None


def _said(part: str) -> str:
    """What a part of the sentence names, where nothing stands before the value."""
    words = DROPPED.sub("", _BOUND.sub("", part))
    return words if len(words) > 1 else ""
