"""Typed values in text: dates, times, money, versions, numbers with units; where they stand and what they are."""

import re
from decimal import Decimal
from typing import NamedTuple

from beliefs.dates import DAY_PATTERN, day_of, has_year
from beliefs.units import CURRENCIES, SCALES, UNITS
from schemas.claim import Value, ValueType
from schemas.instant import Instant

_NUMBER = r"-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?"
_SCALE = r"(?:\s?(?:(?i:thousand|million|billion)\b|万|亿)|[kK](?![A-Za-z]))"
_CURRENCY = (
    r"(?:(?i:yuan|rmb|cny|usd|us\sdollars?|dollars?|eur|euros?|gbp|pounds?|jpy|yen)\b"
    r"|人民币|美元|美金|欧元|英镑|日元|元|块钱|块)"
)
_UNIT = "|".join(
    re.escape(unit) + (r"(?![A-Za-z])" if unit[-1].isascii() and unit[-1].isalpha() else "")
    for unit in sorted(UNITS, key=len, reverse=True)
)
_DAYTIME = r"(?:凌晨|早上|上午|中午|下午|晚上)"

_VALUE = re.compile(
    r"(?<![A-Za-z0-9_./#\\-])(?=[-\d$€£¥UuVv版凌早上中下晚昨今明前后JFMASONDjfmasondYyTt])(?:"
    r"(?P<date>" + DAY_PATTERN + r")"
    r"|(?P<time>" + _DAYTIME + r"?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
    r"|\d{1,2}\s?[AaPp]\.?[Mm]\b\.?"
    r"|" + _DAYTIME + r"\d{1,2}点(?:半|\d{1,2}分)?|\d{1,2}点(?:半|钟|\d{1,2}分))"
    r"|(?P<money>(?P<sign>US\$|[$€£¥])\s?(?P<sum>" + _NUMBER + r")(?P<times>" + _SCALE + r")?"
    r"|(?P<amount>" + _NUMBER + r")(?P<by>" + _SCALE + r")?\s?(?P<currency>" + _CURRENCY + r"))"
    r"|(?P<code>\d{1,3}(?:\.\d{1,3}){3})"
    r"|(?P<version>(?:[vV]|[vV]ersion\s|版本\s?)\d+(?:\.\d+)*(?:-[0-9A-Za-z.]*[0-9A-Za-z])?"
    r"|\d+(?:\.\d+){2,}(?:[-+][0-9A-Za-z.]*[0-9A-Za-z])?)"
    r"|(?P<number>(?P<digits>" + _NUMBER + r")(?P<scale>" + _SCALE + r")?(?:[\s-]?(?P<unit>(?i:" + _UNIT + r")))?)"
    r")(?![A-Za-z0-9_]|[./:,-]\d)"
)
_HINT = re.compile(r"\d|day\b|morrow\b|[昨今明前后][天日]")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?")
_CLOCK_ZH = re.compile(r"(\d{1,2})[:点](半|\d{1,2})?")
_BOOLEANS: dict[str, bool] = {
    **dict.fromkeys(("true", "on", "yes", "enabled", "是", "开", "开启", "启用"), True),
    **dict.fromkeys(("false", "off", "no", "disabled", "否", "关", "关闭", "停用"), False),
}


class Typed(NamedTuple):
    """A value in a text, from `start` to `end`."""

    start: int
    end: int
    type: ValueType
    value: Value
    raw: str

    @property
    def mark(self) -> str:
        """What stands in a template where the value stood."""
        return "{" + self.type + "}"


def find_typed(text: str, moment: Instant) -> list[Typed]:
    """Every typed value in the text, left to right."""
    if not _HINT.search(text):
        return []
    return [found for match in _VALUE.finditer(text) if (found := _typed(match, moment)) is not None]


def boolean_of(text: str) -> bool | None:
    """What a word for on or off means."""
    return _BOOLEANS.get(text.strip().casefold())


def yearless(value: Typed) -> Typed:
    """A day that returns every year (a birthday): month and day, where the text names no year."""
    if value.type != "date" or has_year(value.raw):
        return value
    return value._replace(value=str(value.value)[5:], type="text")


def as_version(value: Typed) -> Typed:
    """The same digits read as a version, so that 3.10 is not 3.1."""
    return value._replace(type="version", value=value.raw) if value.type == "number" else value


def _typed(match: re.Match[str], moment: Instant) -> Typed | None:
    raw = match[0]
    kind = next(name for name in ("date", "time", "money", "code", "version", "number") if match[name] is not None)
    value: Value | None
    match kind:
        case "date":
            day = day_of(raw, moment)
            value = None if day is None else day.isoformat()
        case "time":
            value = _clock(raw)
        case "money":
            value = _money(match)
        case "version":
            value = re.sub(r"^(?:[vV](?:ersion)?|版本)\s?", "", raw)
        case "number":
            value = _quantity(match)
        case _:
            value = raw
    return None if value is None else Typed(match.start(), match.end(), kind, value, raw)  # type: ignore[arg-type]


def _quantity(match: re.Match[str]) -> Value:
    number = _scaled(match["digits"], match["scale"])
    unit = match["unit"]
    return number if unit is None else f"{number} {unit.lower()}"


def _money(match: re.Match[str]) -> str:
    if match["sign"]:
        return f"{_scaled(match['sum'], match['times'])} {CURRENCIES[match['sign'].lower()]}"
    name = match["currency"].lower().removeprefix("us ")
    return f"{_scaled(match['amount'], match['by'])} {CURRENCIES[name]}"


def _scaled(digits: str, scale: str | None) -> int | float:
    number = Decimal(digits.replace(",", "")) * SCALES[(scale or "").strip().lower()]
    return float(number) if "." in digits and number % 1 else int(number)


def _clock(raw: str) -> str | None:
    """Hour and minute as HH:MM (with seconds only where given)."""
    chinese = _CLOCK_ZH.search(raw)
    if chinese is not None and ("点" in raw or not raw[0].isdigit()):
        hour, minute, second = int(chinese[1]), 30 if chinese[2] == "半" else int(chinese[2] or 0), None
        if raw[:2] in ("下午", "晚上") and hour < 12:
            hour += 12
    else:
        found = _CLOCK.match(raw)
        if found is None:
            return None
        hour, minute, second = int(found[1]), int(found[2] or 0), found[3]
        suffix = raw[found.end() :].strip().lower()[:1]
        if suffix:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if suffix == "p" else 0)
    if hour > 23 or minute > 59:
        return None
    return f"{hour:02}:{minute:02}" + (f":{second}" if second else "")
