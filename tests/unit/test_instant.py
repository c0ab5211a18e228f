"""Instants: every common way to write a time means the same microsecond."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from schemas.errors import InvalidInput
from schemas.instant import (
    DAY,
    HOUR,
    datetime_of,
    format_day,
    format_instant,
    instant_of,
    parse_instant,
)

NINE_ON_20_MAY = 1_716_195_600_000_000
BEIJING = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-20T09:00:00Z",
        "2024-05-20t09:00:00z",
        " 2024-05-20 09:00 ",
        "2024-05-20T17:00:00+08:00",
        "20240520T090000Z",
        1_716_195_600,
        1_716_195_600.0,
        datetime(2024, 5, 20, 9),
        datetime(2024, 5, 20, 9, tzinfo=UTC),
        datetime(2024, 5, 20, 17, tzinfo=BEIJING),
    ],
)
def test_aware_and_naive_times_of_all_kinds_are_read_as_utc(value: object) -> None:
    assert parse_instant(value, "observed_at") == NINE_ON_20_MAY


@pytest.mark.parametrize("value", ["2024-05-20", date(2024, 5, 20), datetime(2024, 5, 20)])
def test_a_day_begins_at_midnight_utc(value: object) -> None:
    assert parse_instant(value, "observed_at") == NINE_ON_20_MAY - 9 * HOUR


def test_microseconds_are_kept_and_finer_digits_dropped() -> None:
    assert parse_instant("2024-05-20T09:00:00.123456789Z", "at") == NINE_ON_20_MAY + 123_456
    assert parse_instant(1_716_195_600.5, "at") == NINE_ON_20_MAY + 500_000


def test_times_before_1970_are_negative() -> None:
    assert parse_instant("1969-12-31", "at") == -DAY
    assert format_instant(-DAY) == "1969-12-31T00:00:00Z"


@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        "",
        "1716195600",
        "2024-02-30",
        True,
        None,
        [2024, 5, 20],
        float("nan"),
        float("inf"),
        10**30,
        pytest.param(10**5000, id="an integer of 5001 digits"),
        1_716_195_600_000,
    ],
)
def test_what_is_not_a_time_is_refused_by_field_with_the_allowed_forms(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^claims\[0\]\.effective_at: .*ISO 8601"):
        parse_instant(value, "claims[0].effective_at")


@pytest.mark.parametrize("value", ["0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00"])
def test_the_edges_of_the_calendar_are_refused_since_no_time_zone_could_print_them(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"^at: "):
        parse_instant(value, "at")


def test_an_instant_prints_as_it_is_read() -> None:
    assert format_instant(NINE_ON_20_MAY) == "2024-05-20T09:00:00Z"
    assert format_instant(NINE_ON_20_MAY + 1) == "2024-05-20T09:00:00.000001Z"
    assert format_day(NINE_ON_20_MAY) == "2024-05-20"
    assert instant_of(datetime_of(NINE_ON_20_MAY)) == NINE_ON_20_MAY
