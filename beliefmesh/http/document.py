"""The OpenAPI document, complete: what FastAPI knows of the routes, with replies, errors, headers and examples."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from beliefmesh.http.body import GROUPS_HEADER, PRINCIPAL_HEADER
from beliefmesh.http.examples import example_of
from beliefmesh.http.once import REPLAYED_HEADER
from beliefmesh.http.replies import ERROR, REPLIES, ReplyShape
from beliefmesh.http.shapes import REF, TEXT, Components, Schema
from schemas.limits import BANK_NAME, MAX_NAME_BYTES
from stores.sqlite.replies import KEY_FIELD

_JSON = "application/json"
_API = "/v1/"
_ERROR = "Error"
_KEYLESS = ("/recall", "/explanations")
_AGAIN = {"Retry-After": {"description": "seconds after which to ask again", "schema": {"type": "integer"}}}
_ERRORS: Mapping[int, tuple[str, str]] = {
    400: ("malformed_message", "What was sent cannot be read: a body that is not JSON, a cursor of another list."),
    401: ("not_authenticated", "Nobody is known by this key or token, or there is none."),
    403: ("access_denied", "The caller may not do this, or not in this bank."),
    404: ("not_found", "There is nothing under this name that the caller may see."),
    409: ("version_conflict", "It has moved on since it was read, or the same request is still running."),
    413: ("too_large", "The body, or a name, is over its limit."),
    422: ("invalid_input", "A field or parameter is wrong; `field` names it."),
    429: ("busy", "Too much is in flight, or the bank has used up what it may."),
    501: ("missing_extra", "An optional package is needed for this."),
    502: ("model_failed", "A language model gave no answer that can be used."),
    503: ("store_unavailable", "A store is down, or the process ends."),
}
_EVERYWHERE = (401, 403, 404, 413, 422, 429, 503)
_OF_WRITES = (400, 409, 501, 502)
_PATHS: Mapping[str, Schema] = {"bank": {"type": "string", "pattern": f"^{BANK_NAME.pattern}$"}}
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_BYTES}
_KEY: Schema = {"type": "string", "pattern": "^[ -~]{1,255}$"}
_HEADERS: Mapping[str, tuple[str, Schema]] = {
    PRINCIPAL_HEADER: ("who asks or tells, where the caller may say so", TEXT),
    GROUPS_HEADER: ("the groups of who asks, separated by commas", TEXT),
    KEY_FIELD: ("a key of your own for this request: sent again, it has no second effect", _KEY),
    "Last-Event-ID": ("the id of the last event that was read", TEXT),
}


def complete(app: FastAPI) -> None:
    """Have the application give the whole document."""
    whole: dict[str, Any] = {}
    from_routes = app.openapi

    def openapi() -> dict[str, Any]:
        if not whole:
            whole.update(_completed(from_routes()))
        return whole

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    components = Components()
    components.schemas[_ERROR] = ERROR
    operations = [
        (path, method.upper(), operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for path, method, operation in operations:
        _describe(path, method, operation, components)
    document["components"] = {
        "schemas": components.schemas,
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
    }
    for _, _, operation in operations:
        _exemplify(operation, components.schemas)
    return document


def _describe(path: str, method: str, operation: dict[str, Any], components: Components) -> None:
    operation["summary"] = operation.get("description", "").partition("\n")[0]
    told = REPLIES.get((method, path), ReplyShape(lambda _: {}))
    operation["responses"] = {str(status): reply for status, reply in _replies(told, components)}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["schema"] = _PATHS.get(parameter["name"], _NAME)
    if not path.startswith(_API):
        operation["responses"] |= {"422": _error(422)} if operation.get("parameters") else {}
        return
    writes = method == "POST"
    operation["security"] = [{}, {"bearer": []}]
    operation["parameters"] = [*operation.get("parameters", ()), *_headers(path, writes)]
    statuses = sorted({*_EVERYWHERE, *(_OF_WRITES if writes else ()), *((400,) if _takes_cursor(operation) else ())})
    operation["responses"] |= {str(status): _error(status) for status in statuses}


def _replies(told: ReplyShape, components: Components) -> list[tuple[int, dict[str, Any]]]:
    schema = told.make(components)
    content: dict[str, Any] = {_JSON: {"schema": schema}} if told.statuses else {}
    if told.instead:
        content[told.instead] = {"schema": TEXT}
    headers = {REPLAYED_HEADER: {"description": "whether the reply was given before", "schema": TEXT}}
    return [
        (status, {"description": HTTPStatus(status).phrase, "content": content, "headers": headers})
        for status in told.statuses or (200,)
    ]


def _headers(path: str, writes: bool) -> list[dict[str, Any]]:
    wanted = [PRINCIPAL_HEADER, GROUPS_HEADER] if "{bank}" in path else []
    wanted += [KEY_FIELD] if writes and not path.endswith(_KEYLESS) else []
    wanted += ["Last-Event-ID"] if path.endswith("/changes") else []
    return [
        {"name": name, "in": "header", "required": False, "description": _HEADERS[name][0], "schema": _HEADERS[name][1]}
        for name in wanted
    ]


def _takes_cursor(operation: Mapping[str, Any]) -> bool:
    return any(parameter["name"] == "cursor" for parameter in operation["parameters"])


def _error(status: int) -> dict[str, Any]:
    code, description = _ERRORS[status]
    example = {"error": {"code": code, "message": description, "field": "text" if status in (413, 422) else ""}}
    told: dict[str, Any] = {
        "description": description,
        "content": {_JSON: {"schema": {"$ref": f"{REF}{_ERROR}"}, "example": example}},
    }
    return told | ({"headers": _AGAIN} if status in (409, 429, 503) else {})


def _exemplify(operation: Mapping[str, Any], schemas: Mapping[str, Schema]) -> None:
    """Give every body its example."""
    bodies = [reply["content"] for reply in operation["responses"].values()]
    bodies += [operation["requestBody"]["content"]] if "requestBody" in operation else []
    for content in bodies:
        for kind, media in content.items():
            if "example" not in media:
                media["example"] = _TEXTS.get(kind) or example_of(media["schema"], schemas)


_TEXTS: Mapping[str, str] = {
    "application/x-ndjson": '{"text": "Shipping is free from 200.", "agent": "desk"}\n"The desk opens at 9."\n',
    "text/event-stream": 'event: change\nid: ZjE3…\ndata: {"bank": "support", "changed": ["b3f09a2c…"]}\n\n',
    "text/plain": "# a log, or figures for Prometheus\nbeliefmesh_ready 1\n",
}
