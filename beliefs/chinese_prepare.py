"""How a Chinese sentence is made plain before the rules: openings, corrections, comparisons, weekdays."""

import re

from schemas.claim import EVERYWHERE, Scope

LEAD = re.compile(
    r"^(?:(?P<urged>请务必|请注意|请|务必|必须|应当|一律|始终|总是|今后|以后|从现在起|从今以后|从今往后|规定|决定|要求|记住要)|"
    r"注意|通知|提醒|另外|此外|同时|目前|现在|如今|当前|其实|总之|记住|并且|而且|更正|纠正|订正|抱歉|对不起|不好意思|我(?:是想?|的意思是)说?(?=.{4})|"
    r"我说错了|说错了|准确地?说|应该是说)"
    r"[，,:：]?\s?(?=\S)"
)
"""Words that open a sentence and say nothing of its content; `urged` where they make it a rule."""

_MARK = re.compile(r"^(?:[-*•·]\s*|[(（]?\d{1,2}[.)）、]\s*(?!\d)|[一二三四五六七八九十]{1,2}、)")
_END = re.compile(r"[\s.!;,。！；，、]+$")
_AT_MOST = re.compile(r"(?:不得|不能|不可|不应|不许|不)(?:超过|多于|大于|高于|晚于)")
_AT_LEAST = re.compile(r"(?:不得|不能|不可|不应|不许|不)(?:低于|少于|小于|早于)")
_DAYS = r"(?:每(?:个|逢)?)?(?:(?:周|星期|礼拜)[一二三四五六日天末]|工作日|节假日|法定假日)"
_ON_DAYS = re.compile(
    rf"(?P<before>^|[\u4e00-\u9fff]{{2,10}}?)(?P<days>{_DAYS})(?:的)?(?P<after>(?:[上下]午|早上|晚上|中午|凌晨)?\D{{0,6}}\d.*)"
)
_LEAD_FOR = re.compile(r"^(?:对于|针对|仅限于?|关于)(?P<scope>[^，,]{1,16})[，,](?P<rest>.+)$")
_LEAD_IN = re.compile(r"^在?(?P<scope>[^，,的在]{1,8})(?:地区|区域)(?:内|里)?[，,]?(?P<rest>.+)$")


def trimmed(text: str) -> str:
    """The sentence without list mark and end mark."""
    return _END.sub("", _MARK.sub("", text))


def compared(text: str) -> str:
    """The sentence with 不超过 as 最多 and 不低于 as 至少, which deny nothing."""
    return _AT_LEAST.sub("至少", _AT_MOST.sub("最多", text)) if "于" in text or "超过" in text else text


def cut_scope(text: str) -> tuple[str, Scope]:
    """Take a leading 对于X， or X地区 off the sentence, or the days on which it says that a value holds."""
    if found := _LEAD_FOR.match(text):
        return found["rest"], (("for", found["scope"].casefold()),)
    if found := _LEAD_IN.match(text):
        return found["rest"], (("region", found["scope"].casefold()),)
    if found := _ON_DAYS.fullmatch(text):
        return found["before"] + found["after"], (("on", found["days"]),)
    return text, EVERYWHERE
