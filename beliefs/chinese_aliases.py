"""Rules for Chinese statements of a further name: X又称Y, X（又名Y）住在Z."""

import re

from beliefs.chinese_facts import about
from beliefs.reading import NOTHING, Readings
from schemas.reserved import ALIAS

_AS = r"(?:又称|又名|又叫|也叫|也称|亦称|俗称|简称|别名|别称)(?:为|作|是|叫)?"
_NAME = r"[^，,、;；:：。()（）\s]{1,12}"
_NAMES = rf"{_NAME}(?:(?:、|或者?){_NAME})*?"
_TOLD = re.compile(
    rf"(?P<who>[^，,;；:：()（）]{{1,16}}?)的?(?:[(（]{_AS}(?P<a>{_NAMES})[)）][，,]?(?P<ra>.*)|[，,]?{_AS}(?P<b>{_NAMES})(?:[，,](?P<rb>.+))?)"
)
_OR = re.compile(r"、|或者?")
_QUOTES = "“”「」'\""


def cut_aliases(text: str) -> tuple[str, Readings]:
    """A sentence without the further names that it gives its subject, and these; ("", …) where that was all of it."""
    found = _TOLD.fullmatch(text)
    if found is None:
        return text, NOTHING
    names = [name for each in _OR.split(found["a"] or found["b"]) if (name := each.strip(_QUOTES))]
    readings = tuple(reading for name in names for reading in about(found["who"], ALIAS, name, "name"))
    rest = found["ra"] or found["rb"] or ""
    return (f"{found['who']}{rest}" if rest else "") if readings else text, readings
