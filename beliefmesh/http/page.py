"""Lists by pages: a cursor is the place after a page's last row, and counts for one list of one bank alone."""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, TypeVar
from urllib.parse import urlencode

import msgspec
from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.reply import reply
from beliefmesh.verbs.listing import MOST_LISTED
from schemas.errors import MalformedMessage
from schemas.identity import digest

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="how many rows a page holds at most")]
Cursor = Annotated[
    str | None, Query(max_length=8_192, description="the `next` of the page before; the rest of the query as it was")
]

_PAGING = ("limit", "cursor", "since")
_MARK = 16

Row = TypeVar("Row")


def place_in(request: Request, cursor: str | None) -> str:
    """The place that a cursor names; empty for the beginning. Raises MalformedMessage for one of another list."""
    if not cursor:
        return ""
    try:
        mark, _, place = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("utf-8").partition("/")
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise _foreign() from error
    if mark != _mark(request) or not place:
        raise _foreign()
    return place


def cursor_of(request: Request, place: str) -> str:
    """A place as a cursor of this request's list; empty for the end."""
    return base64.urlsafe_b64encode(f"{_mark(request)}/{place}".encode()).decode("ascii") if place else ""


def page(request: Request, struct: msgspec.Struct, plain: Mapping[str, object], cursor: str) -> Response:
    """A page of a list: `next` is the cursor of the page after it, null at the end; a Link header has it too."""
    response = reply(request, msgspec.structs.replace(struct, next=cursor), {**plain, "next": cursor or None})
    if cursor:
        asked = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
        response.headers["Link"] = f'<{request.url.path}?{urlencode([*asked, ("cursor", cursor)])}>; rel="next"'
    return response


def rows_after(rows: Iterable[Row], place: Callable[[Row], str], after: str, limit: int) -> tuple[Sequence[Row], str]:
    """The next rows of a whole list by their places, and the place to go on from."""
    rest = sorted((row for row in rows if place(row) > after), key=place)
    return rest[:limit], place(rest[limit - 1]) if len(rest) > limit else ""


def last_place(rows: Sequence[Row], place: Callable[[Row], str], limit: int) -> str:
    """The place to go on from after rows of which at most `limit` were asked for."""
    return place(rows[-1]) if len(rows) == limit else ""


def _mark(request: Request) -> str:
    """Names a list: its route, its bank, and what it was asked to hold."""
    asked = sorted(pair for pair in request.query_params.multi_items() if pair[0] not in _PAGING)
    parts = [part for pair in asked for part in pair]
    return digest(request.scope["route"].path, request.path_params.get("bank", ""), *parts)[:_MARK]


def _foreign() -> MalformedMessage:
    return MalformedMessage(
        "cursor", "is none that this list gave; take the `next` of a page as it is, or leave it out"
    )
