"""Writes what a request gets back: JSON for everybody, the exact structs as msgpack for a Beliefmesh client."""

import math
from collections.abc import Mapping

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.failure import RETRY_AFTER_SECONDS, error_shape, error_to_builtins, http_status
from schemas.errors import BeliefmeshError, Busy, InFlight, NotAuthenticated, OverLimit, StoreUnavailable
from schemas.wire import dump

JSON_TYPE = "application/json"
EXACT_TYPE = "application/msgpack"


def json_reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response."""
    return Response(msgspec.json.encode(value), status, headers, JSON_TYPE)


def wants_exact(request: Request) -> bool:
    """Whether the client reads the structs themselves."""
    return EXACT_TYPE in request.headers.get("accept", "")


def reply(request: Request, struct: msgspec.Struct, plain: object, status: int = 200) -> Response:
    """`plain` as JSON, or the struct itself where the client accepts `application/msgpack`."""
    if wants_exact(request):
        return Response(dump(struct), status, media_type=EXACT_TYPE)
    return json_reply(plain, status)


def error_reply(error: BeliefmeshError) -> Response:
    """An error of ours in the one shape, with advice when to try again where that helps."""
    again = isinstance(error, Busy | InFlight | StoreUnavailable)
    seconds = math.ceil(error.seconds) if isinstance(error, OverLimit) else RETRY_AFTER_SECONDS
    headers = {"Retry-After": str(max(1, seconds))} if again else None
    if isinstance(error, NotAuthenticated):
        headers = {"WWW-Authenticate": "Bearer"}
    return json_reply(error_to_builtins(error), http_status(error), headers)


def refusal(
    status: int, code: str, message: str, field: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    """An error that is the protocol's, in the same shape."""
    return json_reply(error_shape(code, message, field), status, headers)
