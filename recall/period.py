"""Periods: half-open stretches of UTC time, and the calendar units that they are made of."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from schemas.instant import DAY, Instant, datetime_of, instant_of

_FIRST_YEAR, _LAST_YEAR = 1, 9998


class Period(msgspec.Struct, frozen=True, array_like=True):
    """The time from `start` up to, not including, `end`."""

    start: Instant
    end: Instant


class Mention(msgspec.Struct, frozen=True, array_like=True):
    """A period that a text names between two places; `floating` says that it named no year."""

    begin: int
    finish: int
    period: Period
    floating: bool = False


class PeriodPhrase(msgspec.Struct, frozen=True, array_like=True):
    """One way of naming a period: a pattern, how a match is read at a time, and whether it names no year."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], Instant], Period | None]
    floating: bool = False


def day_of(moment: Instant, offset: int = 0) -> Period:
    """The UTC day of a moment, or the one so many days later."""
    start = moment - moment % DAY + offset * DAY
    return Period(start, start + DAY)


def week_of(moment: Instant, offset: int = 0) -> Period:
    """The week, Monday to Sunday, of a moment, or the one so many weeks later."""
    monday = day_of(moment, -datetime_of(moment).weekday()).start + 7 * offset * DAY
    return Period(monday, monday + 7 * DAY)


def weekend_of(moment: Instant, offset: int = 0) -> Period:
    """Saturday and Sunday of the week of a moment, or of one so many weeks later."""
    week = week_of(moment, offset)
    return Period(week.start + 5 * DAY, week.end)


def month_of(moment: Instant, offset: int = 0) -> Period:
    """The calendar month of a moment, or the one so many months later."""
    today = datetime_of(moment)
    months = today.year * 12 + today.month - 1 + offset
    return month(months // 12, months % 12 + 1)


def year_of(moment: Instant, offset: int = 0) -> Period:
    """The calendar year of a moment, or the one so many years later."""
    return year(datetime_of(moment).year + offset)


def day(of_year: int, of_month: int, number: int) -> Period | None:
    """A calendar day; None where the calendar has no such day."""
    try:
        start = instant_of(datetime(of_year, of_month, number, tzinfo=UTC))
    except ValueError:
        return None
    return Period(start, start + DAY)


def month(of_year: int, number: int) -> Period:
    """A calendar month."""
    after = (of_year, number + 1) if number < 12 else (of_year + 1, 1)
    return Period(_first(of_year, number), _first(*after))


def year(number: int) -> Period:
    """A calendar year."""
    return Period(_first(number, 1), _first(number + 1, 1))


def season(of_year: int, number: int) -> Period:
    """Spring 0, summer 1, autumn 2, winter 3 of a year, northern, in whole months; winter runs into the next year."""
    first = 3 * number + 3
    last = month(of_year, first + 2) if number < 3 else month(of_year + 1, 2)
    return Period(month(of_year, first).start, last.end)


def weekday_before(moment: Instant, weekday: int, *, same_day: bool) -> Period:
    """The latest such weekday (Monday 0) before a moment's day, or on it where `same_day`."""
    back = (datetime_of(moment).weekday() - weekday) % 7
    return day_of(moment, -(back if back or same_day else 7))


def weekday_after(moment: Instant, weekday: int) -> Period:
    """The first such weekday (Monday 0) after a moment's day."""
    return day_of(moment, (weekday - datetime_of(moment).weekday() - 1) % 7 + 1)


def latest_month(moment: Instant, number: int) -> Period:
    """The latest such month that has begun by a moment."""
    current = datetime_of(moment)
    return month(current.year - (number > current.month), number)


def latest_day(moment: Instant, of_month: int, number: int) -> Period | None:
    """The latest such day of the year that has begun by a moment; looks back over a leap cycle for 29 February."""
    current = datetime_of(moment).year
    for candidate in (day(current - back, of_month, number) for back in range(9)):
        if candidate is not None and candidate.start <= moment:
            return candidate
    return None


def ago(moment: Instant, count: int, unit: str) -> Period:
    """So many days, weeks, months or years before a moment, as wide as the unit is vague.

    Days give that day; weeks the seven days around it; months and years the calendar month or year.
    """
    count = min(count, _most(unit))
    if unit == "day":
        return day_of(moment, -count)
    if unit == "week":
        middle = day_of(moment, -7 * count)
        return Period(middle.start - 3 * DAY, middle.end + 3 * DAY)
    return month_of(moment, -count) if unit == "month" else year_of(moment, -count)


def past(moment: Instant, count: int, unit: str) -> Period:
    """The last so many days, weeks, months or years, up to a moment."""
    days = min(count, _most(unit)) * {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    return Period(day_of(moment, -days).start, moment + 1)


def moved_to_year(period: Period, of_year: int) -> Period:
    """The same dates in another year; the end keeps its distance in months and days."""
    start, end = datetime_of(period.start), datetime_of(period.end)
    return Period(_dated(start, of_year), _dated(end, of_year + end.year - start.year))


def _dated(moment: datetime, of_year: int) -> Instant:
    try:
        return instant_of(moment.replace(year=of_year))
    except ValueError:
        return instant_of(moment.replace(year=of_year, month=3, day=1))


def _most(unit: str) -> int:
    return {"day": 36_500, "week": 5_200, "month": 1_200, "year": 100}[unit]


def _first(of_year: int, of_month: int) -> Instant:
    bounded = min(max(of_year, _FIRST_YEAR), _LAST_YEAR)
    return instant_of(datetime(bounded, of_month, 1, tzinfo=UTC))
