"""An instant is a whole number of microseconds since 1970-01-01 UTC; this file reads and prints them."""

from datetime import UTC, date, datetime, timedelta

from schemas.errors import InvalidInput
from schemas.limits import shown

Instant = int

SECOND: Instant = 1_000_000
MINUTE: Instant = 60 * SECOND
HOUR: Instant = 60 * MINUTE
DAY: Instant = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = _EPOCH.replace(tzinfo=None)
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_SECOND, _LAST_SECOND = ((end - _EPOCH).total_seconds() for end in (EARLIEST, LATEST))


def instant_of(moment: datetime) -> Instant:
    """Turn a datetime into an instant; a naive one means UTC."""
    return (moment - (_EPOCH if moment.tzinfo else _NAIVE_EPOCH)) // _MICROSECOND


def datetime_of(instant: Instant) -> datetime:
    """Turn an instant into an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=instant)


def parse_instant(value: object, field: str) -> Instant:
    """Read ISO 8601 text, Unix seconds, a date or a datetime; naive means UTC.

    Raises InvalidInput, naming `field`, when it is none of these or outside the years 1 to 9999.
    """
    if isinstance(value, float) and _FIRST_SECOND <= value <= _LAST_SECOND:
        return round(value * SECOND)
    try:
        moment = _moment(value)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise InvalidInput(field, f"{shown(value)} is not a time; use ISO 8601 (2024-05-20T09:00:00Z) or Unix seconds")
    if not EARLIEST <= moment <= LATEST:
        raise InvalidInput(field, f"{shown(value)} is outside the years 1 to 9999")
    return instant_of(moment)


def format_instant(instant: Instant) -> str:
    """Print an instant as ISO 8601 in UTC, with fractions only where there are any."""
    return datetime_of(instant).isoformat().replace("+00:00", "Z")


def format_day(instant: Instant) -> str:
    """Print the UTC day of an instant, as in 2024-05-20."""
    return datetime_of(instant).date().isoformat()


def _moment(value: object) -> datetime | None:
    match value:
        case str():
            return _aware(datetime.fromisoformat(value.strip().upper()))
        case bool():
            return None
        case int() | float():
            return _EPOCH + timedelta(microseconds=round(value * SECOND))
        case datetime():
            return _aware(value)
        case date():
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None


def _aware(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
