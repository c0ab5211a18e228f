"""Which periods a question names."""

import time

import pytest

from recall.when import periods_in
from schemas.instant import format_instant, parse_instant

WEDNESDAY = parse_instant("2023-06-14T10:00:00Z", "now")


def days(text: str) -> list[tuple[str, str]]:
    """First and last day of each period."""
    return [
        (format_instant(period.start)[:10], format_instant(period.end - 1)[:10])
        for period in periods_in(text, WEDNESDAY)
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What happened on 7 May 2023?", "2023-05-07", "2023-05-07"),
        ("What happened on May 7th, 2023?", "2023-05-07", "2023-05-07"),
        ("the report of 2023-05-07", "2023-05-07", "2023-05-07"),
        ("who called yesterday", "2023-06-13", "2023-06-13"),
        ("the day before yesterday", "2023-06-12", "2023-06-12"),
        ("two days ago", "2023-06-12", "2023-06-12"),
        ("last week", "2023-06-05", "2023-06-11"),
        ("last weekend", "2023-06-10", "2023-06-11"),
        ("last Friday", "2023-06-09", "2023-06-09"),
        ("next Monday", "2023-06-19", "2023-06-19"),
        ("in March", "2023-03-01", "2023-03-31"),
        ("in July", "2022-07-01", "2022-07-31"),
        ("during May 2021", "2021-05-01", "2021-05-31"),
        ("in 2022", "2022-01-01", "2022-12-31"),
        ("last summer", "2022-06-01", "2022-08-31"),
        ("the week of 7 May 2023", "2023-05-01", "2023-05-07"),
        ("in the last two weeks", "2023-05-31", "2023-06-14"),
        ("between May 3 and 10 June 2023", "2023-05-03", "2023-06-10"),
        ("from December 2022 to March", "2022-12-01", "2023-03-31"),
        ("3 to 5 May", "2023-05-03", "2023-05-05"),
        ("since April", "2023-04-01", "2023-06-14"),
        ("after 7 May 2023", "2023-05-08", "2023-06-14"),
        ("before 2022", "2021-01-01", "2021-12-31"),
    ],
)
def test_english_names_a_period(text: str, first: str, last: str) -> None:
    assert days(text) == [(first, last)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("上周发生了什么", "2023-06-05", "2023-06-11"),
        ("上上周五", "2023-06-02", "2023-06-02"),
        ("5月20日的会议", "2023-05-20", "2023-05-20"),
        ("十二月二十五日", "2022-12-25", "2022-12-25"),
        ("2023年5月20日", "2023-05-20", "2023-05-20"),
        ("昨天谁来过", "2023-06-13", "2023-06-13"),
        ("三天前", "2023-06-11", "2023-06-11"),
        ("两个月前", "2023-04-01", "2023-04-30"),
        ("最近三天", "2023-06-11", "2023-06-14"),
        ("去年", "2022-01-01", "2022-12-31"),
        ("去年五月", "2022-05-01", "2022-05-31"),
        ("去年夏天", "2022-06-01", "2022-08-31"),
        ("本月", "2023-06-01", "2023-06-30"),
        ("从3月到5月", "2023-03-01", "2023-05-31"),
        ("5月1日之后", "2023-05-01", "2023-06-14"),
        ("2022年之前", "2021-01-01", "2021-12-31"),
    ],
)
def test_chinese_names_a_period(text: str, first: str, last: str) -> None:
    assert days(text) == [(first, last)]


@pytest.mark.parametrize(
    "text",
    ["What may I do?", "They decide to march.", "What does Alice like?", "from 9 to 5", "月亮", "一周有几天是星期"],
)
def test_a_question_without_a_time_names_none(text: str) -> None:
    assert days(text) == []


def test_several_periods_come_in_the_order_of_the_text() -> None:
    assert days("in January or in March 2020?") == [("2023-01-01", "2023-01-31"), ("2020-03-01", "2020-03-31")]


def test_a_day_that_no_calendar_has_is_not_invented() -> None:
    assert days("on 31 June 2023") == [("2023-06-01", "2023-06-30")]


def test_the_longest_question_is_read_in_well_under_a_second() -> None:
    started = time.perf_counter()
    for text in ("in May " * 1400, "1 2 3 " * 1600, "一" * 10_000, "the last " * 1100):
        periods_in(text, WEDNESDAY)
    assert time.perf_counter() - started < 2.0
