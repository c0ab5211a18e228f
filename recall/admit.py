"""What a query may be; everything else is refused by field before any store is asked."""

from collections.abc import Collection
from typing import get_args

from schemas.belief import Status
from schemas.claim import Network
from schemas.errors import InvalidInput, TooLarge
from schemas.instant import format_instant
from schemas.limits import MAX_ITEMS, MAX_QUERY_CHARS, check_bank, check_number, check_text, shown
from schemas.query import Fusion, Query

MAX_DEADLINE = 600.0
MAX_TOKENS = 10_000_000


def admit(query: Query, retrievers: Collection[str]) -> Query:
    """Return the query, or raise InvalidInput (TooLarge for the text) naming the field."""
    check_bank(query.bank)
    check_text(query.text, "text", empty=False)
    if len(query.text) > MAX_QUERY_CHARS:
        raise TooLarge("text", f"has {len(query.text)} characters; ask in at most {MAX_QUERY_CHARS}")
    _check_whole(query.limit, "limit", 1, MAX_ITEMS)
    check_number(query.min_confidence, "min_confidence", 0.0, 1.0)
    check_number(query.deadline, "deadline", 0.0, MAX_DEADLINE)
    _check_whole(query.recent, "recent", 0, MAX_ITEMS)
    if query.max_tokens is not None:
        _check_whole(query.max_tokens, "max_tokens", 1, MAX_TOKENS)
    if query.recent and not query.session:
        raise InvalidInput("session", "is missing; name the session whose recent turns are asked for")
    _check_choices("statuses", query.statuses, get_args(Status))
    _check_choices("networks", query.networks, get_args(Network))
    _check_choices("fusion", (query.fusion,), get_args(Fusion))
    _check_choices("retrievers", query.retrievers, retrievers)
    if not query.statuses:
        raise InvalidInput("statuses", f"is empty; name some of {', '.join(get_args(Status))}")
    if not query.retrievers:
        raise InvalidInput("retrievers", f"is empty; name some of {', '.join(retrievers)}")
    _check_period(query)
    return query


def _check_whole(number: object, field: str, low: int, high: int) -> None:
    if check_number(number, field, low, high) % 1:
        raise InvalidInput(field, f"is {shown(number)}; it must be a whole number")


def _check_choices(field: str, given: Collection[str], allowed: Collection[str]) -> None:
    for name in given:
        if name not in allowed:
            raise InvalidInput(field, f"{shown(name)} is unknown; use {', '.join(allowed)}")


def _check_period(query: Query) -> None:
    start, end = query.occurred_from, query.occurred_to
    if start is not None and end is not None and end < start:
        raise InvalidInput("occurred_to", f"is before occurred_from, {format_instant(start)}")
