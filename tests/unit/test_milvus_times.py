"""The nearest rows of a period are found as if all had been read, however few a page may hold."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.instant import DAY
from stores.milvus.times import Span, nearest

PAGE = 12


class Rows:
    """Rows that answer as Milvus does, at most a page at a time, and count how often."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self.asked = 0

    def fetch(self, bounds: tuple[int, int] | None) -> list[Span]:
        self.asked += 1
        low, high = bounds or (-(2**62), 2**62)
        return [span for span in self.spans if low <= (span.since + span.until) // 2 <= high][:PAGE]


def scores(spans: Sequence[Span], start: int, end: int) -> list[float]:
    """The scores of all rows, best first."""
    middle, scale = (start + end) / 2, max(end - start, DAY)
    return sorted((1 / (1 + abs((span.since + span.until) / 2 - middle) / scale) for span in spans), reverse=True)


@given(st.lists(st.integers(-10_000, 10_000), max_size=120), st.integers(1, 10), st.integers(0, 4_000))
def test_they_are_those_of_an_exact_scan(middles: list[int], limit: int, length: int) -> None:
    spans = [Span(f"b{at}", middle * DAY, middle * DAY) for at, middle in enumerate(middles)]
    rows = Rows(spans)

    hits = nearest(rows.fetch, 0, length * DAY, limit, PAGE)

    assert [hit.score for hit in hits] == pytest.approx(scores(spans, 0, length * DAY)[:limit], rel=1e-9)
    assert rows.asked < 50


def test_rows_at_one_moment_fill_more_than_a_page_and_any_of_them_will_do() -> None:
    rows = Rows([Span(f"b{at}", 0, 0) for at in range(1_000)])
    hits = nearest(rows.fetch, 0, 0, 5, PAGE)
    assert [hit.score for hit in hits] == [1.0] * 5


def test_a_belief_of_many_rows_comes_once_with_its_nearest() -> None:
    rows = Rows([Span("b1", at * DAY, at * DAY) for at in range(5)] + [Span("b2", 0, 20 * DAY)])
    hits = nearest(rows.fetch, 0, 4 * DAY, 5, PAGE)
    assert [(hit.belief, hit.score) for hit in hits] == [("b1", 1.0), ("b2", 1 / 3)]


def test_a_period_of_less_than_a_page_is_read_once() -> None:
    rows = Rows([Span(f"b{at}", at, at) for at in range(PAGE - 1)])
    nearest(rows.fetch, 0, 10, 5, PAGE)
    assert rows.asked == 1
