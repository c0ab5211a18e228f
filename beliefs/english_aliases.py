"""Rules for English statements of a further name: "X, also known as Y, does Z", "X is also called Y"."""

import re

from beliefs.english_words import about
from beliefs.reading import NOTHING, Reading, Readings, Sentence
from schemas.reserved import ALIAS

_AS = (
    r"(?:(?:also|formerly|previously|otherwise|better|commonly|sometimes)\s(?:known|referred\sto)\sas|also\s(?:called|named)|"
    r"a\.k\.a\.?|aka|AKA)"
)
_NAME = r"[\w'\"“][\w.'&+#/-]*(?:\s[\w.'&+#/()-]+){0,4}?[\"”]?"
_APPOSITION = re.compile(
    rf"(?P<who>[\w][\w.'&-]*(?:\s[\w.'&-]+){{0,4}}?)(?:,\s{_AS}\s(?P<a>{_NAME})(?:,\s?(?P<ra>.+))?|"
    rf"\s\({_AS}\s(?P<b>[^()]{{1,60}})\),?(?:\s(?P<rb>.+))?)"
)
_ALSO = re.compile(rf"(?P<who>.+?)\s(?:is|am|are)\s(?P<as>{_AS}|known\sas|called)\s(?P<name>{_NAME})")
_DESCRIBES = re.compile(r"(?:an?|one|his|her|its|their|my|our)\s|the\s(?!.*[A-Z0-9])")
_QUOTES = "'\"“”"
_PLAIN = ("known as", "called")


def cut_aliases(text: str) -> tuple[str, Readings]:
    """A sentence without the further name that it gives its subject, and that; ("", …) where that was all of it."""
    found = _APPOSITION.fullmatch(text)
    if found is None:
        return text, NOTHING
    readings = _alias(found["who"], found["a"] or found["b"])
    rest = found["ra"] or found["rb"] or ""
    return (f"{found['who']} {rest}" if rest else "") if readings else text, readings


def also_known(sentence: Sentence) -> Readings:
    """As in "X is also known as Y"; without "also", which may tell what X is famous for, only where it is over."""
    found = _ALSO.fullmatch(sentence.text)
    if found is None or (found["as"] in _PLAIN and sentence.negation != "ended"):
        return NOTHING
    return _alias(found["who"], found["name"])


def _alias(who: str, told: str) -> Readings:
    name = told.strip(f" {_QUOTES}")
    if not name or _DESCRIBES.match(name):
        return NOTHING
    return about(Reading(attribute=ALIAS, value=name, value_type="name", rule="rule:en.alias"), who)
