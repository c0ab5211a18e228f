"""Time expressions of English: one pattern for each way of naming a day, week, month, year or stretch."""

import re
from collections.abc import Callable

from recall.period import (
    Period,
    PeriodPhrase,
    ago,
    day,
    day_of,
    latest_day,
    latest_month,
    month,
    month_of,
    past,
    season,
    week_of,
    weekday_after,
    weekday_before,
    weekend_of,
    year,
    year_of,
)
from schemas.instant import Instant, datetime_of

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
_WEEKDAYS = {
    name: n for n, name in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
}
_VERBS = ("may", "march")
_SEASONS = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_NUMBERS = {
    word: n
    for n, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=1
    )
} | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3, "several": 4}
_SHIFTS = {
    "last": -1,
    "previous": -1,
    "past": -1,
    "this": 0,
    "the current": 0,
    "current": 0,
    "next": 1,
    "the coming": 1,
}

_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_LONGEST_MONTH = 12
_ENDS_IN_MONTH = re.compile(r"\b(?:" + "|".join(_MONTHS) + r")\s+$", re.IGNORECASE)
_NO_MONTH = r"(?!\s+(?:of\s+)?(?:" + "|".join(_MONTHS) + r")\b)"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_COUNT = "(?P<count>\\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_UNIT = r"(?P<unit>day|week|month|year)s?\b"
_SHIFT = "(?P<shift>" + "|".join(sorted(_SHIFTS, key=len, reverse=True)) + ")"

Reading = Period | None


def _iso_day(match: re.Match[str], _: Instant) -> Reading:
    return day(int(match["year"]), int(match["number"]), int(match["day"]))


def _iso_month(match: re.Match[str], _: Instant) -> Reading:
    return month(int(match["year"]), int(match["number"]))


def _dated(match: re.Match[str], _: Instant) -> Reading:
    return day(int(match["year"]), _month(match), int(match["day"]))


def _undated(match: re.Match[str], now: Instant) -> Reading:
    return latest_day(now, _month(match), int(match["day"]))


def _day_range(match: re.Match[str], now: Instant) -> Reading:
    if _ENDS_IN_MONTH.search(match.string[max(0, match.start() - _LONGEST_MONTH) : match.start()]):
        return None
    of_year, of_month = match["year"], _month(match)
    if of_year is None:
        last = latest_day(now, of_month, int(match["last"]))
        of_year = str(datetime_of(last.start).year) if last else "1"
    first, last = day(int(of_year), of_month, int(match["day"])), day(int(of_year), of_month, int(match["last"]))
    return Period(first.start, last.end) if first and last and first.start <= last.start else None


def _month_of_year(match: re.Match[str], _: Instant) -> Reading:
    return month(int(match["year"]), _month(match))


def _month_alone(match: re.Match[str], now: Instant) -> Reading:
    if match["month"] in _VERBS and match["call"].lower() not in ("in", "during", "since"):
        return None
    return latest_month(now, _month(match))


def _month_shifted(match: re.Match[str], now: Instant) -> Reading:
    current, number = datetime_of(now), _month(match)
    match _SHIFTS[match["shift"].lower()]:
        case -1:
            return month(current.year - (number >= current.month), number)
        case 0:
            return month(current.year, number)
        case _:
            return month(current.year + (number <= current.month), number)


def _season(match: re.Match[str], now: Instant) -> Reading:
    number = _SEASONS[match["season"].lower()]
    if match["year"]:
        return season(int(match["year"]), number)
    of_year = datetime_of(now).year
    if match["shift"] and _SHIFTS[match["shift"].lower()] == 0:
        return season(of_year, number)
    ended = season(of_year, number)
    return ended if ended.end <= now else season(of_year - 1, number)


def _year(match: re.Match[str], _: Instant) -> Reading:
    return year(int(match["year"]))


def _ago(match: re.Match[str], now: Instant) -> Reading:
    return ago(now, _count(match), match["unit"].lower())


def _past(match: re.Match[str], now: Instant) -> Reading:
    return past(now, _count(match), match["unit"].lower())


def _shifted(match: re.Match[str], now: Instant) -> Reading:
    units = {"week": week_of, "weekend": weekend_of, "month": month_of, "year": year_of}
    return units[match["unit"].lower()](now, _SHIFTS[match["shift"].lower()])


def _weekday(match: re.Match[str], now: Instant) -> Reading:
    weekday, shift = _WEEKDAYS[match["weekday"].lower()], (match["shift"] or "").lower()
    if _SHIFTS.get(shift) == 1:
        return weekday_after(now, weekday)
    return weekday_before(now, weekday, same_day=_SHIFTS.get(shift) != -1)


def _weekend(_: re.Match[str], now: Instant) -> Reading:
    current = weekend_of(now)
    return current if current.start <= now else weekend_of(now, -1)


def _relative_day(match: re.Match[str], now: Instant) -> Reading:
    offsets = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
    name = match[0].lower()
    if name.startswith("the day"):
        return day_of(now, -2 if "before" in name else 2)
    if name == "last night":
        return Period(day_of(now, -1).start, day_of(now).start + (day_of(now).end - day_of(now).start) // 4)
    return day_of(now, offsets.get(name.split()[0], 0))


def _month(match: re.Match[str]) -> int:
    return _MONTHS[match["month"].lower()]


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower() if match["count"] else "a"
    return int(word) if word.isdigit() else _NUMBERS[word]


def _phrase(expression: str, read: Callable[[re.Match[str], Instant], Reading], floating: bool = False) -> PeriodPhrase:
    return PeriodPhrase(re.compile(expression, re.IGNORECASE | re.ASCII), read, floating)


# "may" and "march" are also verbs, so a month without day or year needs a word before it that calls for a time,
# and in lower case one that calls for nothing else.
_CALLS = (
    r"\b(?P<call>in|during|of|since|until|till|by|before|after|from|between|to|and|early|mid|late|throughout)"
    r"\s+(?:the month of\s+)?"
)

PHRASES = (
    _phrase(r"\b" + _YEAR + r"[-/.](?P<number>0?[1-9]|1[0-2])[-/.](?P<day>\d{1,2})\b", _iso_day),
    _phrase(r"\b" + _YEAR + r"-(?P<number>0[1-9]|1[0-2])\b(?!-)", _iso_month),
    _phrase(
        rf"\b{_DAY}\s*(?:-|–|to|and|through)\s*(?P<last>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?",
        _day_range,
    ),
    _phrase(
        rf"\b{_MONTH}\s+{_DAY}\s*(?:-|–|to|and|through)\s*(?P<last>\d{{1,2}})(?:st|nd|rd|th)?\b{_NO_MONTH}(?:,?\s+{_YEAR})?",
        _day_range,
    ),
    _phrase(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}", _dated),
    _phrase(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY},?\s+{_YEAR}", _dated),
    _phrase(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?!\w)", _undated, True),
    _phrase(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b", _undated, True),
    _phrase(rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}", _month_of_year),
    _phrase(rf"\b{_SHIFT}\s+{_MONTH}", _month_shifted),
    _phrase(_CALLS + _MONTH, _month_alone, True),
    _phrase(
        rf"\b(?:{_SHIFT}\s+|in\s+(?:the\s+)?|during\s+(?:the\s+)?)(?P<season>spring|summer|autumn|fall|winter)\b(?:\s+(?:of\s+)?{_YEAR})?",
        _season,
    ),
    _phrase(rf"\b(?P<shift>)(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+)?{_YEAR}", _season),
    _phrase(rf"\b{_COUNT}\s+{_UNIT}\s+(?:ago|earlier|back)\b", _ago),
    _phrase(rf"\b(?:in|over|during|for|within)?\s*(?:the\s+)?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}", _past),
    _phrase(r"\b(?:in|over|during|within)\s+the\s+(?:last|past)\s+(?P<count>)(?P<unit>week|month|year)\b", _past),
    _phrase(rf"\b{_SHIFT}\s+(?P<unit>weekend|week|month|year)\b", _shifted),
    _phrase(rf"\b(?:{_SHIFT}|on)\s+(?P<weekday>{'|'.join(_WEEKDAYS)})\b", _weekday),
    _phrase(r"\b(?:the|at the|over the|on the)\s+weekend\b", _weekend),
    _phrase(r"\bthe day (?:before yesterday|after tomorrow)\b", _relative_day),
    _phrase(r"\b(?:last night|yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening))\b", _relative_day),
    _phrase(
        rf"\b(?:in|during|of|since|until|till|by|before|after|from|between|to|and|early|late|mid|throughout|year)\s+{_YEAR}",
        _year,
    ),
)
