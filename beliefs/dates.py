"""Dates in text, English and Chinese, read relative to the moment at which the text was observed."""

import re
from datetime import date, timedelta
from typing import NamedTuple

from schemas.instant import DAY, Instant, datetime_of, parse_instant

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?:(?i:january|february|march|april|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?|May)"
)
_WORDS = {
    "the day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "the day after tomorrow": 2,
    "前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2,
}  # fmt: skip

DAY_PATTERN = (
    r"(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}(?![\d/-])"
    r"|\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?" + _MONTH + r"\b(?:,?\s\d{4}\b)?"
    r"|" + _MONTH + r"\s\d{1,2}(?:st|nd|rd|th)?\b(?![:.]\d)(?:,?\s\d{4}\b)?"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]"
    r"|(?i:the\sday\sbefore\syesterday|the\sday\safter\stomorrow|yesterday|today|tomorrow)\b"
    r"|前天|昨天|昨日|今天|今日|明天|明日|后天)"
)
"""Matches one day as text; `day_of` reads it."""

_NUMBER = re.compile(r"\d+")
_MONTH_NAME = re.compile(r"[A-Za-z]{3,}")
_FROM = re.compile(
    r"(?:^|,?\s?)(?i:\b(?:(?:starting|beginning|effective|valid)(?:\s(?:from|on|as\sof))?|from|as\sof|since))\s"
    r"(?P<en>" + DAY_PATTERN + r")(?i:\s(?:on|onwards?))?(?!\s?(?:to|until|till|through|and|-)\b),?"
    r"|(?:自从?|从)?(?P<zh>" + DAY_PATTERN + r")(?:起开始|起生效|起|开始|以后|之后)[,，]?"
)
_UNTIL = re.compile(
    r",?\s?(?i:\b(?:until|till|through))\s(?P<en>" + DAY_PATTERN + r")"
    r"|(?:直到|截至)(?P<zh>" + DAY_PATTERN + r")(?:为止|止)?[,，]?"
    r"|(?:有效期)?至(?P<end>" + DAY_PATTERN + r")(?:为止|止)[,，]?"
)
_LEADING = re.compile(r"^(?:(?i:on)\s)?(?P<day>" + DAY_PATTERN + r")(?:[,，]\s?|(?<=[天日号])(?![的是为在前后]))")
_TRAILING = re.compile(r",?\s(?:(?i:on)\s(?P<day>" + DAY_PATTERN + r")|(?P<word>(?i:yesterday|today|tomorrow)))$")
_HINT = re.compile(r"\d{4}[-/]\d|月\d|[昨今明前后][天日]|(?i:yesterday|today|tomorrow)")
_DIGIT = re.compile(r"\d")


class Dated(NamedTuple):
    """A sentence without its dates of validity, and those dates."""

    text: str
    effective_at: Instant | None
    valid_until: Instant | None


def day_of(text: str, moment: Instant) -> date | None:
    """The day that a match of DAY_PATTERN means; without a year, the one nearest to the moment."""
    shift = _WORDS.get(text.lower())
    today = datetime_of(moment).date()
    if shift is not None:
        try:
            return today + timedelta(days=shift)
        except OverflowError:
            return None
    numbers = [int(number) for number in _NUMBER.findall(text)]
    name = _MONTH_NAME.search(text)
    if name is not None and name[0][:3].lower() in _MONTHS:
        numbers.insert(1 if text[0].isdigit() else 0, _MONTHS.index(name[0][:3].lower()) + 1)
        day, month = (numbers[0], numbers[1]) if text[0].isdigit() else (numbers[1], numbers[0])
        return _valid(numbers[2], month, day) if len(numbers) == 3 else _nearest(month, day, today)
    return _valid(numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else _nearest(numbers[0], numbers[1], today)


def has_year(text: str) -> bool:
    """Whether a match of DAY_PATTERN fixes its year by itself."""
    return text.lower() in _WORDS or re.search(r"\d{4}", text) is not None


def cut_dates(text: str, moment: Instant, event: bool) -> Dated:
    """Take out the phrases that say from when and until when the sentence holds.

    With `event`, the sentence tells a change, and a plain date at its end says when that was.
    """
    if not _may_hold_date(text):
        return Dated(text, None, None)
    text, until = _cut(_UNTIL, text, moment)
    text, start = _cut(_FROM, text, moment)
    if start is None:
        text, start = _cut(_LEADING, text, moment)
    if start is None and event:
        text, start = _cut(_TRAILING, text, moment)
    return Dated(text, start, None if until is None else until + DAY)


def _may_hold_date(text: str) -> bool:
    """A cheap look before the patterns, which are slow on text with numbers."""
    if _HINT.search(text):
        return True
    return _DIGIT.search(text) is not None and any(word[:3] in _MONTHS for word in text.lower().split())


def _cut(pattern: re.Pattern[str], text: str, moment: Instant) -> tuple[str, Instant | None]:
    found = pattern.search(text)
    if found is None:
        return text, None
    day = day_of(next(group for group in found.groups() if group), moment)
    if day is None:
        return text, None
    return (text[: found.start()] + " " + text[found.end() :]).strip(" ,，"), parse_instant(day, "date")


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day) if 1 < year < 9999 else None
    except ValueError:
        return None


def _nearest(month: int, day: int, today: date) -> date | None:
    candidates = [_valid(today.year + shift, month, day) for shift in (-1, 0, 1)]
    return min((c for c in candidates if c), key=lambda c: (abs(c - today), c), default=None)
