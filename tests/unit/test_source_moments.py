"""Times of logs: formats, years that are left out, dates that there are not."""

import pytest

from schemas.errors import InvalidInput
from schemas.instant import format_instant, parse_instant
from streams.sources.moments import time_reader

NOW = parse_instant("2024-06-10T12:00:00Z", "now")


def read(form: str, text: str) -> str:
    return format_instant(time_reader(form, "time")(text, NOW))


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("iso", "2015-07-29 17:41:44,747", "2015-07-29T17:41:44.747000Z"),
        ("iso", "2024-05-20T09:00:00.5+0200", "2024-05-20T07:00:00.500000Z"),
        ("unix", "1716195600", "2024-05-20T09:00:00Z"),
        ("unix milliseconds", "1716195600500", "2024-05-20T09:00:00.500000Z"),
        ("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2023:13:55:36 -0700", "2023-10-10T20:55:36Z"),
        ("%a %b %d %H:%M:%S %Y", "Sun Dec 04 04:47:44 2005", "2005-12-04T04:47:44Z"),
        ("%y%m%d %H%M%S", "081109 203615", "2008-11-09T20:36:15Z"),
        ("%b %d %H:%M:%S", "Jun  1 03:07:20", "2024-06-01T03:07:20Z"),
        ("%b %d %H:%M:%S", "Dec 31 23:59:59", "2023-12-31T23:59:59Z"),
        ("%b %d %H:%M:%S", "Jun 12 00:00:00", "2023-06-12T00:00:00Z"),
        ("%b %d %H:%M:%S", "Feb 29 10:00:00", "2024-02-29T10:00:00Z"),
    ],
)
def test_a_time_is_read(form: str, text: str, expected: str) -> None:
    assert read(form, text) == expected


def test_a_time_without_a_year_is_never_in_the_future() -> None:
    assert read("%b %d %H:%M:%S", "Jun 10 12:00:30") == "2024-06-10T12:00:00Z"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("iso", "2024-02-31 09:00:00"),
        ("iso", "0000-01-01 00:00:00"),
        ("%b %d %H:%M:%S", "Feb 31 09:00:00"),
        ("%b %d %H:%M:%S", "Foo 01 09:00:00"),
        ("%d/%b/%Y:%H:%M:%S %z", "31/Feb/2023:13:55:36 -0700"),
        ("%b %d %H:%M:%S", "Jun 10 25:00:00"),
        ("unix", "99999999999999999"),
        ("%b %d %H:%M:%S", "nonsense"),
    ],
)
def test_a_time_that_there_is_not_is_refused_by_name(form: str, text: str) -> None:
    with pytest.raises(InvalidInput, match="time: "):
        read(form, text)


@pytest.mark.parametrize("told", ["%Q", "soon", 3, "%d %"])
def test_a_format_that_is_none_is_refused(told: object) -> None:
    with pytest.raises(InvalidInput, match=r"use iso, unix|allowed are"):
        time_reader(told, "patterns[0].time")
