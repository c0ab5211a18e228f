"""Which rows lie nearest to the middle of a period, found in few pages although Milvus cannot sort by distance."""

from collections.abc import Callable
from typing import NamedTuple

from schemas.instant import DAY, Instant
from stores.ports import Hit

MOST_STEPS = 48
_STEP = 4


class Span(NamedTuple):
    """When a belief's row occurred."""

    belief: str
    since: Instant
    until: Instant


Fetch = Callable[[tuple[Instant, Instant] | None], list[Span]]
"""Rows of the period, only those with their middle in the given bounds where there are any; at most a page of them."""


def nearest(fetch: Fetch, start: Instant, end: Instant, limit: int, page: int) -> list[Hit]:
    """The `limit` beliefs nearest to the middle of [start, end].

    Where the period holds more than a page, bounds around its middle are halved or widened until they hold enough
    beliefs and less than a page. Rows at one and the same distance are equally good: of more than a page, any count.
    """
    spans = fetch(None)
    if len(spans) >= page:
        spans = _around((start + end) // 2, (end - start) // 2, fetch, limit, page)
    return _ranked(spans, start, end)[:limit]


def _around(middle: Instant, width: int, fetch: Fetch, limit: int, page: int) -> list[Span]:
    few, many = -1, 0
    nearer: list[Span] = []
    over: list[Span] = []
    width = max(1, width)
    for _ in range(MOST_STEPS):
        spans = fetch((middle - width, middle + width))
        if len(spans) >= page:
            many, over = width, spans
        elif len({span.belief for span in spans}) >= limit:
            return spans
        else:
            few, nearer = width, spans
        following = _between(few, many)
        if following in (few, width):
            break
        width = following
    return nearer + over


def _between(few: int, many: int) -> int:
    """The next width to try: at `few` there were too few rows, at `many` too many; -1 and 0: not met yet."""
    if few < 0:
        return many // _STEP
    return (few + many) // 2 if many else few * _STEP


def _ranked(spans: list[Span], start: Instant, end: Instant) -> list[Hit]:
    """Each belief once. Score: 1 / (1 + |middle - asked middle| / max(end - start, one day))."""
    asked, scale = start / 2 + end / 2, max(end - start, DAY)
    best: dict[str, float] = {}
    for span in spans:
        score = 1.0 / (1.0 + abs(span.since / 2 + span.until / 2 - asked) / scale)
        best[span.belief] = max(score, best.get(span.belief, 0.0))
    return [Hit(belief, score) for belief, score in sorted(best.items(), key=lambda item: -item[1])]
