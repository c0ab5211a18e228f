"""Reads what a request carries: its body within the limit, as JSON, and who sends it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request

from beliefmesh.grant import Grant
from beliefmesh.http.door import granted
from beliefmesh.quota import Quotas
from schemas.errors import InvalidInput, MalformedMessage, TooLarge
from schemas.limits import check_name
from schemas.query import Principal

PRINCIPAL_HEADER = "X-Beliefmesh-Principal"
GROUPS_HEADER = "X-Beliefmesh-Groups"
LINES_TYPE = "application/x-ndjson"

MEGABYTE = 1_048_576


async def read_bytes(request: Request) -> bytes:
    """The body. Raises TooLarge as soon as it is known to be over the limit, without reading the rest."""
    read: bytes | None = getattr(request.state, "body", None)
    if read is not None:
        return read
    megabytes: int = request.app.state.settings.http.max_body_mb
    limit = megabytes * MEGABYTE
    bank = request.path_params.get("bank", "")
    quotas: Quotas = request.app.state.quotas
    quotas.require_bytes(bank)
    told = request.headers.get("content-length", "")
    size = int(told) if told.isdecimal() else 0
    chunks: list[bytes] = []
    if size <= limit:
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            quotas.take_bytes(bank, len(chunk))
            if size > limit:
                break
            chunks.append(chunk)
    if size > limit:
        raise TooLarge("body", f"is over {megabytes} MB; send it in several requests, or raise http.max_body_mb")
    body = request.state.body = b"".join(chunks)
    return body


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
    """Who asks: the principal of the caller's grant, or by the headers whomever it may ask for. Raises AccessDenied."""
    id = _header(request, PRINCIPAL_HEADER)
    groups = [name.strip() for name in _header(request, GROUPS_HEADER).split(",") if name.strip()]
    named = Principal(
        check_name(id, PRINCIPAL_HEADER) if id else "",
        tuple(check_name(group, GROUPS_HEADER) for group in groups),
    )
    return granted(request).asker(named)


def speaker(request: Request, data: Mapping[str, Any]) -> str:
    """Who tells: the `agent` of an object, else who asks. Raises AccessDenied for whom the caller may not speak."""
    return granted(request).speaker(text_of(data, "agent", "")) or caller(request).id


def signed(request: Request, told: Any) -> Any:
    """Observations as read, in the name of whoever may tell them. Raises AccessDenied for any in another's name.

    A caller that may speak for others is taken at its word; of any other one, what it tells is its own.
    """
    grant = granted(request)
    if grant.delegate:
        return told
    return [_signed(grant, one) for one in told] if isinstance(told, list) else _signed(grant, told)


def text_of(data: Mapping[str, Any], name: str, default: str | None = None) -> str:
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


def signed_lines(request: Request, lines: list[bytes]) -> list[bytes]:
    """Lines of JSON likewise, all or none of them; one that cannot be read stays as it is, to be set aside."""
    if granted(request).delegate:
        return lines
    return [_signed_line(request, line) for line in lines]


def _signed(grant: Grant, told: Any) -> Any:
    """One observation in the caller's own name: its source is a label, and the voice behind it the caller's."""
    if isinstance(told, str):
        told = {"text": told}
    if not isinstance(told, dict):
        return told
    grant.speaker(_name_in(told, "owner"))
    agent = grant.speaker(_name_in(told, "agent"))
    own = {**told, "agent": agent} if agent else dict(told)
    source = told.get("source")
    if source is not None:
        voice = agent or grant.name
        own["source"] = {"id": source.get("id", voice) if isinstance(source, dict) else source, "origin": voice}
    return own


def _signed_line(request: Request, line: bytes) -> bytes:
    try:
        told = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return line
    return msgspec.json.encode(_signed(granted(request), told)) if isinstance(told, dict) else line


def _name_in(told: Mapping[str, Any], field: str) -> str:
    """A name of an observation, if it is one; what is none is for intake to refuse."""
    name = told.get(field)
    return name if isinstance(name, str) else ""


def _header(request: Request, name: str) -> str:
    """A header's text; names beyond ASCII come as UTF-8."""
    raw = request.headers.get(name, "")
    try:
        return raw.encode("latin-1").decode("utf-8").strip()
    except UnicodeError as error:
        raise InvalidInput(name, "is not UTF-8") from error
