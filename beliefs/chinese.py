"""How a Chinese sentence is read: prepared (urgency, dates, exceptions, negation), then tried against the rules."""

import re

from beliefs.chinese_facts import allergic, born, can, change, does, is_value, likes, names, state, threshold
from beliefs.chinese_orders import always, make, must, save_as, set_to, use
from beliefs.chinese_words import SETTINGS, UNSURE, english_name, named
from beliefs.dates import cut_dates
from beliefs.reading import NOTHING, Negation, Reading, Readings, Rule, Sentence, cut_lead, first_fit, negated, within
from schemas.claim import EVERYWHERE, Scope
from schemas.instant import Instant

RULES: tuple[tuple[str, Rule], ...] = (
    ("name", names),
    ("born", born),
    ("allergy", allergic),
    ("preference", likes),
    ("use", use),
    ("save", save_as),
    ("make", make),
    ("change", change),
    ("set", set_to),
    ("value", is_value),
    ("state", state),
    ("threshold", threshold),
    ("must", must),
    ("can", can),
    ("does", does),
    ("always", always),
)
"""Every rule with its name, the most particular first; the first that fits speaks."""

_LONGEST = 80
_END = re.compile(r"[\s.!;,。！；，、]+$")
_MARK = re.compile(r"^(?:[-*•·]\s*|[(（]?\d{1,2}[.)）、]\s*|[一二三四五六七八九十]{1,2}、)")
_LEAD = re.compile(
    r"^(?:(?P<urged>请务必|请注意|请|务必|必须|应当|一律|始终|总是|今后|以后|从现在起|从今以后|从今往后|规定|决定|要求|记住要)|注意|通知|提醒|另外|此外|同时|目前|现在|如今|当前|其实|总之|记住|并且|而且)"
    r"[，,:：]?\s?(?=\S)"
)
_ADVERBS = re.compile(r"目前|现在|如今|当前|已经|(?<=[\u4e00-\u9fff])仍然?(?=[\u4e00-\u9fff])")
_EXCEPT = re.compile(r"[，,]?(?:除了?(?P<a>[^，,]{1,20}?)(?:之外|以外|外)[，,]?|[，,](?P<b>[^，,]{1,12})除外)")
_LEAD_FOR = re.compile(r"^(?:对于|针对|仅限于?|关于)(?P<scope>[^，,]{1,16})[，,](?P<rest>.+)$")
_LEAD_IN = re.compile(r"^在?(?P<scope>[^，,的在]{1,8})(?:地区|区域)(?:内|里)?[，,]?(?P<rest>.+)$")
_SWAPS: tuple[tuple[re.Pattern[str], str, Negation], ...] = (
    (re.compile(r"不再(?:是|为)(?=.)"), "是", "ended"),
    (re.compile(r"(?:不再|不)(?:允许|可以|能够|能)(?!不)"), "可以", "not"),
    (re.compile(r"(?:现已|已经?)?不再(?=使用|采用|喜欢|支持|提供|包含|包括|接受|要求|需要|对)"), "", "ended"),
    (re.compile(r"(?:不得|不可|禁止|严禁|不准)(?:以)?(?=.)"), "可以", "not"),
    (re.compile(r"(?:无法|不能)(?=.)"), "可以", "not"),
    (re.compile(r"不(?=支持|提供|包含|包括|接受|要求)"), "", "not"),
    (re.compile(r"(?:不需要|不必|无需|无须|不用)(?=.)"), "必须", "not"),
    (re.compile(r"不(?=对.{1,10}过敏)"), "", "not"),
    (re.compile(r"(?<=[\w])不是(?=.)"), "是", "not"),
    (re.compile(r"未(?=启用|开启|开放|停用|过期|生效)"), "已", "not"),
    (re.compile(r"^(?:不要|别|勿|切勿|请勿|绝不|永远不要|从不)(?=.)"), "", "not"),
)
_CANCEL = re.compile(r"^(?:现|现已|已|已经)?(?:取消|废止|撤销|停止执行)了?(?P<rest>.{3,})$")
_CANCELLED = re.compile(r"^(?P<rest>.*\d.*?)(?:现已|已经?|均已)(?:取消|废止|作废|撤销)了?$")
_DENIAL = re.compile(r"不|没|未|无(?!线|锡|人机|障碍)|别(?!名|墅|人)|禁|勿|非(?!常|洲)|免责")
_REVERT = re.compile(
    rf"(?:请)?(?:恢复|还原|回到|改回|换回|切换回|退回|用回|重新使用)(?:到|成|为)?(?:之前|以前|原来|原先|原有|原|先前|上一个|上次|旧|默认|最初)的?(?P<what>{SETTINGS})?"
)
_HAPPENING = re.compile(r"改|变|升|降|提高|调整|取消|停用|启用|关闭")
_HARMLESS = re.compile(r"不(?=喜欢|爱吃|爱喝|锈钢|同的|动产)|讨厌")


def read_chinese(text: str, moment: Instant) -> Readings:
    """What a Chinese sentence says by rule; nothing where no rule is sure."""
    text = _END.sub("", _MARK.sub("", text))
    if not 3 <= len(text) <= _LONGEST:
        return NOTHING
    if found := _REVERT.match(text):
        return (_revert(found["what"]),)
    if UNSURE.search(text):
        return NOTHING
    text, urged = cut_lead(_LEAD, text)
    dated = cut_dates(text, moment, _HAPPENING.search(text) is not None)
    text, more_urged = cut_lead(_LEAD, dated.text)
    text, scope = _cut_scope(_EXCEPT.sub("", text))
    text, negation = _denial(_ADVERBS.sub("", text))
    if _DENIAL.search(_HARMLESS.sub("", text)):
        return NOTHING
    sentence = Sentence(
        text=text, moment=moment, negation=negation, urged=urged or more_urged, dated=dated.effective_at is not None
    )
    readings = negated(first_fit(RULES, "zh", sentence), negation)
    return within(readings, scope, dated.effective_at, dated.valid_until)


def _cut_scope(text: str) -> tuple[str, Scope]:
    """Take a leading 对于X， or X地区 off the sentence."""
    if found := _LEAD_FOR.match(text):
        return found["rest"], (("for", found["scope"].casefold()),)
    if found := _LEAD_IN.match(text):
        return found["rest"], (("region", found["scope"].casefold()),)
    return text, EVERYWHERE


def _denial(text: str) -> tuple[str, Negation]:
    """The sentence without its one negation, and which it was."""
    if found := _CANCEL.match(text) or _CANCELLED.match(text):
        return found["rest"], "ended"
    for pattern, positive, negation in _SWAPS:
        if pattern.search(text):
            return pattern.sub(positive, text, count=1), negation
    return text, ""


def _revert(what: str | None) -> Reading:
    """A marked sentence: a later step finds which earlier value it means; it is never guessed here."""
    name = english_name(what) if what else ""
    return Reading(
        attribute=None,
        value=None,
        subject=named(what) if what else None,
        kind="instruction",
        tier="high",
        rule="rule:revert" + (f":{name}" if name else ""),
    )
