"""Reads what a request carries: its body within the limit, as JSON, and who sends it."""

from typing import Any

import msgspec
from starlette.requests import Request

from schemas.errors import InvalidInput, MalformedMessage, TooLarge
from schemas.limits import check_name
from schemas.query import Principal

PRINCIPAL_HEADER = "X-Beliefmesh-Principal"
GROUPS_HEADER = "X-Beliefmesh-Groups"
LINES_TYPE = "application/x-ndjson"

_MEGABYTE = 1_048_576


async def read_bytes(request: Request) -> bytes:
    """The body. Raises TooLarge as soon as it is known to be over the limit, without reading the rest."""
    megabytes: int = request.app.state.settings.http.max_body_mb
    limit = megabytes * _MEGABYTE
    told = request.headers.get("content-length", "")
    size = int(told) if told.isdecimal() else 0
    chunks: list[bytes] = []
    if size <= limit:
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                break
            chunks.append(chunk)
    if size > limit:
        raise TooLarge("body", f"is over {megabytes} MB; send it in several requests, or raise http.max_body_mb")
    return b"".join(chunks)


async def read_json(request: Request) -> Any:
    """The body as plain data. Raises MalformedMessage for what is not JSON."""
    data = await read_bytes(request)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MalformedMessage("body", f"is not JSON ({error})") from error


async def read_object(request: Request, *allowed: str) -> dict[str, Any]:
    """The body as an object; with names, no others are allowed. An empty body is an empty object."""
    if request.headers.get("content-length") == "0":
        return {}
    data = await read_json(request)
    if not isinstance(data, dict):
        raise InvalidInput("body", f"must be an object, not {type(data).__name__}")
    for name in data if allowed else ():
        if name not in allowed:
            raise InvalidInput(f"{name:.80}", f"is not a known field. Allowed: {', '.join(allowed)}")
    return data


def is_lines(request: Request) -> bool:
    """Whether the body is one JSON document a line."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == LINES_TYPE


def caller(request: Request) -> Principal:
    """Who asks, by the headers; they are trusted, for this release knows no authentication."""
    id = _header(request, PRINCIPAL_HEADER)
    groups = [name.strip() for name in _header(request, GROUPS_HEADER).split(",") if name.strip()]
    return Principal(
        check_name(id, PRINCIPAL_HEADER) if id else "",
        tuple(check_name(group, GROUPS_HEADER) for group in groups),
    )


def text_of(data: dict[str, Any], name: str, default: str | None = None) -> str:
    """A text of an object; without a default it must be there."""
    value = data.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise InvalidInput(name, "is missing; it must be text" if value is None else "must be text")
    return value


def flag_of(data: dict[str, Any], name: str, default: bool) -> bool:
    """A truth value of an object."""
    value = data.get(name, default)
    if not isinstance(value, bool):
        raise InvalidInput(name, "must be true or false")
    return value


def version_of(data: dict[str, Any]) -> int | None:
    """The `expected_version` of an object, if there is one."""
    value = data.get("expected_version")
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise InvalidInput("expected_version", "must be a whole number")


def _header(request: Request, name: str) -> str:
    """A header's text; names beyond ASCII come as UTF-8."""
    raw = request.headers.get(name, "")
    try:
        return raw.encode("latin-1").decode("utf-8").strip()
    except UnicodeError as error:
        raise InvalidInput(name, "is not UTF-8") from error
