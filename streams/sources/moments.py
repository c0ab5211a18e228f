"""Times as logs write them: ISO 8601, Unix time, or a format; without a year, the newest that is not in the future."""

import re
from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta, timezone
from functools import partial

from schemas.errors import InvalidInput
from schemas.instant import DAY, Instant, datetime_of, instant_of, parse_instant
from schemas.limits import shown

ReadTime = Callable[[str, Instant], Instant]
"""A function of (text, now): the time that the text tells. Raises InvalidInput where there is no such time."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DIRECTIVES = {
    "Y": r"(?P<Y>\d{4})",
    "y": r"(?P<y>\d{2})",
    "m": r"(?P<m>\d{1,2})",
    "d": r"\s?(?P<d>\d{1,2})",
    "b": r"(?P<b>[A-Za-z]{3})[a-z]*",
    "a": r"[A-Za-z]{3,9}",
    "H": r"(?P<H>\d{1,2})",
    "M": r"(?P<M>\d{1,2})",
    "S": r"(?P<S>\d{1,2})",
    "f": r"(?P<f>\d{1,9})",
    "z": r"(?P<z>Z|[+-]\d{2}:?\d{2})",
    "%": "%",
}
_ZONE = re.compile(r"([+-])(\d{2}):?(\d{2})")
_LEAP_CYCLE = 8
_UNIX = {"unix": 1, "unix milliseconds": 1_000, "unix microseconds": 1_000_000}

FORMATS = ("iso", *_UNIX)


def time_reader(told: object, field: str) -> ReadTime:
    """The reader of a time: `iso`, `unix`, `unix milliseconds`, or a format such as `%d/%b/%Y:%H:%M:%S %z`."""
    if told == "iso":
        return _iso
    if isinstance(told, str) and told in _UNIX:
        return partial(_unix, _UNIX[told])
    if not isinstance(told, str) or "%" not in told:
        names = ", ".join(FORMATS)
        raise InvalidInput(field, f"is {shown(told)}; use {names}, or a format such as %d/%b/%Y:%H:%M:%S %z")
    pattern = "".join(_part(part, told, field) for part in re.findall(r"%.|[^%]+|%$", told))
    return partial(_by_format, re.compile(pattern))


def _part(part: str, told: str, field: str) -> str:
    if not part.startswith("%"):
        return re.sub(r"(?:\\ )+", r"\\s+", re.escape(part))
    known = _DIRECTIVES.get(part[1:])
    if known is None:
        allowed = " ".join(f"%{name}" for name in _DIRECTIVES)
        raise InvalidInput(field, f"{shown(told)} has {part!r}; allowed are {allowed}")
    return known


def _iso(text: str, _: Instant) -> Instant:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return parse_instant(text, "time")
    if moment.year in (MINYEAR, MAXYEAR):
        return parse_instant(text, "time")
    return instant_of(moment)


def _unix(scale: int, text: str, _: Instant) -> Instant:
    try:
        return parse_instant(float(text) / scale, "time")
    except ValueError as error:
        raise InvalidInput("time", f"{shown(text)} is not a number of seconds since 1970") from error


def _by_format(pattern: re.Pattern[str], text: str, now: Instant) -> Instant:
    found = pattern.fullmatch(text.strip())
    if found is None:
        raise InvalidInput("time", f"{shown(text)} is not in the format that the pattern names")
    parts = found.groupdict()
    month = _month(parts, text)
    fraction = (parts.get("f") or "").ljust(6, "0")[:6]
    hour, minute, second = (int(parts.get(name) or 0) for name in "HMS")
    day = int(parts.get("d") or 1)
    try:
        if year := _year(parts):
            return _instant(datetime(year, month, day, hour, minute, second, int(fraction)), parts.get("z"))
        return _newest(datetime(4, month, day, hour, minute, second, int(fraction)), parts.get("z"), now)
    except (ValueError, OverflowError) as error:
        raise InvalidInput("time", f"{shown(text)} is no time that there is ({error})") from error


def _month(parts: dict[str, str | None], text: str) -> int:
    name = parts.get("b")
    if name is None:
        return int(parts.get("m") or 1)
    if name.lower() not in _MONTHS:
        raise InvalidInput("time", f"{shown(text)} names no month")
    return _MONTHS.index(name.lower()) + 1


def _year(parts: dict[str, str | None]) -> int:
    if short := parts.get("y"):
        return 1900 + int(short) if int(short) > 68 else 2000 + int(short)
    return int(parts.get("Y") or 0)


def _newest(moment: datetime, zone: str | None, now: Instant) -> Instant:
    """The year that a line leaves out: the newest in which its time is not in the future, a day of clock skew aside."""
    this_year = datetime_of(now + DAY).year
    for year in range(this_year, this_year - _LEAP_CYCLE - 1, -1):
        try:
            at = _instant(moment.replace(year=year), zone)
        except ValueError:
            continue
        if at <= now + DAY:
            return min(at, now)
    raise ValueError("in no recent year")


def _instant(moment: datetime, zone: str | None) -> Instant:
    found = _ZONE.fullmatch(zone or "")
    if found is None:
        return instant_of(moment.replace(tzinfo=UTC))
    shift = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return instant_of(moment.replace(tzinfo=timezone(-shift if found[1] == "-" else shift)))
