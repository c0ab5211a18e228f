"""Time expressions of Chinese: one pattern for each way of naming a day, week, month, year or stretch."""

import re

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
    weekday_before,
    weekend_of,
    year,
    year_of,
)
from schemas.instant import DAY, Instant, datetime_of

_DIGITS = {character: n for n, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "几": 3, "数": 3}
_DAYS = {"大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "今天": 0, "今日": 0, "今早": 0}
_DAYS |= {"今晚": 0, "明天": 1, "明日": 1, "后天": 2, "大后天": 3}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_SEASONS = {"春": 0, "夏": 1, "秋": 2, "冬": 3}
_WEEKDAYS = {character: n for n, character in enumerate("一二三四五六日")} | {"天": 6}

_NUMBER = r"[0-9]{1,4}|[一二两三四五六七八九十几数]{1,3}"
_YEAR = r"(?P<year>(?:19|20)[0-9]{2}|[一二][零〇一二三四五六七八九]{3})\s*年"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s*月份?"
_DAY = r"(?P<day>[0-9]{1,2}|[一二三四五六七八九十]{1,3})\s*[日号]"
_WEEK = r"(?:周|星期|礼拜)"


def _dated(match: re.Match[str], now: Instant) -> Period | None:
    return day(_year_number(match, now), _number(match["month"]), _number(match["day"]))


def _undated(match: re.Match[str], now: Instant) -> Period | None:
    return latest_day(now, _number(match["month"]), _number(match["day"]))


def _month_of_year(match: re.Match[str], now: Instant) -> Period:
    return month(_year_number(match, now), _number(match["month"]))


def _month_alone(match: re.Match[str], now: Instant) -> Period:
    return latest_month(now, _number(match["month"]))


def _season(match: re.Match[str], now: Instant) -> Period:
    return season(_year_number(match, now), _SEASONS[match["season"]])


def _year(match: re.Match[str], now: Instant) -> Period:
    return year(_year_number(match, now))


def _relative_year(match: re.Match[str], now: Instant) -> Period:
    return year_of(now, _YEARS[match["relative"]])


def _ago(match: re.Match[str], now: Instant) -> Period:
    return ago(now, _number(match["count"]), _UNITS[match["unit"]])


def _past(match: re.Match[str], now: Instant) -> Period:
    return past(now, _number(match["count"]), _UNITS[match["unit"]])


def _weekday(match: re.Match[str], now: Instant) -> Period:
    weekday = _WEEKDAYS[match["weekday"]]
    if not match["shift"]:
        return weekday_before(now, weekday, same_day=True)
    start = week_of(now, _shift(match)).start + weekday * DAY
    return Period(start, start + DAY)


def _week(match: re.Match[str], now: Instant) -> Period:
    return (weekend_of if match["end"] else week_of)(now, _shift(match))


def _weekend(_: re.Match[str], now: Instant) -> Period:
    current = weekend_of(now)
    return current if current.start <= now else weekend_of(now, -1)


def _relative_month(match: re.Match[str], now: Instant) -> Period:
    return month_of(now, _shift(match))


def _relative_day(match: re.Match[str], now: Instant) -> Period:
    return day_of(now, _DAYS[match[0]])


def _shift(match: re.Match[str]) -> int:
    word = match["shift"]
    return {"上": -1, "下": 1}.get(word[0], 0) * len(word)


def _year_number(match: re.Match[str], now: Instant) -> int:
    if match["relative"]:
        return datetime_of(now).year + _YEARS[match["relative"]]
    digits = match["year"]
    return int(digits) if digits.isascii() else int("".join(str(_DIGITS[digit]) for digit in digits))


def _number(text: str) -> int:
    if text.isascii():
        return int(text)
    tens, mark, ones = text.rpartition("十")
    if not mark:
        return _DIGITS[text[-1]]
    return 10 * (_DIGITS[tens[0]] if tens else 1) + (_DIGITS[ones[0]] if ones else 0)


_ANY_YEAR = rf"(?:{_YEAR}|(?P<relative>{'|'.join(sorted(_YEARS, key=len, reverse=True))})(?:的)?)\s*"
PHRASES: tuple[PeriodPhrase, ...] = tuple(
    PeriodPhrase(re.compile(expression), read, floating)
    for expression, read, floating in (
        (_ANY_YEAR + _MONTH + r"\s*" + _DAY, _dated, False),
        (_ANY_YEAR + _MONTH, _month_of_year, False),
        (_ANY_YEAR + r"(?P<season>[春夏秋冬])[天季]?", _season, False),
        (rf"(?P<relative>){_YEAR}(?!前)", _year, False),
        (rf"(?P<relative>{'|'.join(sorted(_YEARS, key=len, reverse=True))})", _relative_year, False),
        (rf"(?<![0-9一二三四五六七八九十年个]){_MONTH}\s*{_DAY}", _undated, True),
        (rf"(?P<count>{_NUMBER})\s*个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:之|以)?前", _ago, False),
        (rf"(?:最近|过去|近)(?:的)?(?P<count>{_NUMBER})\s*个?(?P<unit>天|日|周|星期|礼拜|月|年)", _past, False),
        (rf"(?P<shift>上+|下+|本|这)?个?{_WEEK}(?P<weekday>[一二三四五六日天])", _weekday, False),
        (rf"(?P<shift>上+|下+|本|这)个?{_WEEK}(?P<end>末)?", _week, False),
        (r"周末", _weekend, False),
        (r"(?P<shift>上+|下+|本|这)个?月", _relative_month, False),
        (rf"(?<![0-9一二三四五六七八九十年个]){_MONTH}(?!\s*[0-9一二三四五六七八九十])", _month_alone, True),
        ("|".join(sorted(_DAYS, key=len, reverse=True)), _relative_day, False),
    )
)
