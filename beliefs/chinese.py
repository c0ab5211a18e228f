"""How a Chinese sentence is read: prepared (urgency, dates, exceptions, negation), then tried against the rules."""

import re

import msgspec

from beliefs.chinese_aliases import cut_aliases
from beliefs.chinese_facts import allergic, born, can, change, does, habit, is_value, likes, names, state
from beliefs.chinese_orders import allowed, always, make, must, save_as, set_to, use
from beliefs.chinese_places import is_in, lives, looks_after, role_of, works
from beliefs.chinese_prepare import LEAD, compared, cut_scope, trimmed
from beliefs.chinese_thresholds import threshold
from beliefs.chinese_words import SETTINGS, UNSURE, english_name, named
from beliefs.dates import cut_dates
from beliefs.reading import (
    NOTHING,
    Negation,
    Reading,
    Readings,
    Rule,
    Sentence,
    cut_lead,
    first_fit,
    negated,
    with_aliases,
    within,
)
from schemas.instant import Instant

RULES: tuple[tuple[str, Rule], ...] = (
    ("name", names),
    ("born", born),
    ("allergy", allergic),
    ("preference", likes),
    ("residence", lives),
    ("employer", works),
    ("owner", looks_after),
    ("role", role_of),
    ("habit", habit),
    ("use", use),
    ("save", save_as),
    ("make", make),
    ("change", change),
    ("set", set_to),
    ("value", is_value),
    ("state", state),
    ("location", is_in),
    ("threshold", threshold),
    ("must", must),
    ("can", can),
    ("allowed", allowed),
    ("does", does),
    ("always", always),
)
"""Every rule with its name, the most particular first; the first that fits speaks."""

_LONGEST = 80
_ADVERBS = re.compile(r"目前|现在|如今|当前|已经|(?<=[\u4e00-\u9fff])仍然?(?=[\u4e00-\u9fff])")
_EXCEPT = re.compile(r"[，,]?(?:除了?(?P<a>[^，,]{1,20}?)(?:之外|以外|外)[，,]?|[，,](?P<b>[^，,]{1,12})除外)")
_SWAPS: tuple[tuple[re.Pattern[str], str, Negation], ...] = (
    (re.compile(r"不再(?:是|为)(?=.)"), "是", "ended"),
    (re.compile(r"(?:不再|不)(?:允许|可以|能够|能)(?!不)"), "可以", "not"),
    (re.compile(r"(?:现已|已经?)?不再(?=使用|采用|喜欢|支持|提供|包含|包括|接受|要求|需要|对)"), "", "ended"),
    (re.compile(r"(?:不得|不可|禁止|严禁|不准)(?:以)?(?=.)"), "可以", "not"),
    (re.compile(r"(?:无法|不能)(?=.)"), "可以", "not"),
    (re.compile(r"不(?=支持|提供|包含|包括|接受|要求)"), "", "not"),
    (re.compile(r"(?:不需要|不必|无需|无须|不用)(?=.)"), "必须", "not"),
    (re.compile(r"不(?=对.{1,10}过敏)"), "", "not"),
    (re.compile(r"(对.{1,10})不(?=过敏)"), r"\1", "not"),
    (re.compile(r"不再(?=在.{2,12}(?:工作|上班|任职)|住在|负责|免费)"), "", "ended"),
    (re.compile(r"不(?=吃|喝|抽|免费|住在|负责|包邮)"), "", "not"),
    (re.compile(r"(?<=[\w])不是(?=.)"), "是", "not"),
    (re.compile(r"未(?=启用|开启|开放|停用|过期|生效)"), "已", "not"),
    (re.compile(r"^(?:不要|别|勿|切勿|请勿|绝不|永远不要|从不)(?=.)"), "", "not"),
)
_CANCEL = re.compile(r"^(?:现|现已|已|已经)?(?:取消|废止|撤销|停止执行)了?(?P<rest>.{3,})$")
_CANCELLED = re.compile(r"^(?P<rest>.*\d.*?)(?:现已|已经?|均已)(?:取消|废止|作废|撤销)了?$")
_DENIAL = re.compile(r"不|没|未|无(?!线|锡|人机|障碍)|别(?!名|墅|人)|禁|勿|非(?!常|洲)|免责")
_REVERT = re.compile(
    r"(?:请|麻烦|还是|那就|那么|好的?[，,])*(?:恢复|还原|回到|改回|换回|切换回|退回|用回|重新使用)(?:到|成|为)?(?:之前|以前|原来|原先|原有|原|先前|"
    rf"上一个|上次|旧|默认|最初)的?(?P<what>{SETTINGS}|版本|状态)?(?:设置|设定|配置|那个|的样子|值)?(?:吧|了|即可)?"
)
_HAPPENING = re.compile(r"改|变|升|降|提高|调整|取消|停用|启用|关闭")
_HARMLESS = re.compile(r"不(?=喜欢|爱吃|爱喝|锈钢|同的|动产)|讨厌")


def read_chinese(text: str, moment: Instant) -> Readings:
    """What a Chinese sentence says by rule; nothing where no rule is sure."""
    text = trimmed(text)
    if not 3 <= len(text) <= _LONGEST:
        return NOTHING
    if found := _REVERT.fullmatch(text):
        return (_revert(found["what"]),)
    if UNSURE.search(text):
        return NOTHING
    text, urged = cut_lead(LEAD, text)
    rest, aliases = cut_aliases(text)
    if aliases:
        named_so = tuple(msgspec.structs.replace(reading, rule="rule:zh.alias") for reading in aliases)
        return with_aliases(named_so, read_chinese(rest, moment), rest)
    dated = cut_dates(text, moment, _HAPPENING.search(text) is not None)
    text, more_urged = cut_lead(LEAD, dated.text)
    text, scope = cut_scope(_EXCEPT.sub("", text))
    text, negation = _denial(compared(_ADVERBS.sub("", text)))
    if _DENIAL.search(_HARMLESS.sub("", text)):
        return NOTHING
    sentence = Sentence(
        text=text, moment=moment, negation=negation, urged=urged or more_urged, dated=dated.effective_at is not None
    )
    readings = negated(first_fit(RULES, "zh", sentence), negation)
    return within(readings, scope, dated.effective_at, dated.valid_until)


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
