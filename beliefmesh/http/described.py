"""Request bodies for OpenAPI, derived from the structs: what intake and queries accept is written nowhere twice."""

from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from schemas.claim import Claim
from schemas.observation import Observation
from schemas.profile import HIGHEST, LOWEST, TRAITS
from schemas.query import Query
from schemas.recall_record import Usefulness

Schema = dict[str, Any]

_TIME: Schema = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]}
ENTITY: Schema = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "type": {"type": "string"}},
            "required": ["name"],
        },
    ]
}
_PAIRS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_SOURCE: Schema = {
    "anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {key: {"type": "string"} for key in ("id", "origin", "type")}},
    ]
}
_WRITTEN: dict[str, Schema] = {
    **dict.fromkeys(("observed_at", "effective_at", "valid_until", "occurred_start", "occurred_end"), _TIME),
    **dict.fromkeys(("as_of", "known_at", "question_time", "occurred_from", "occurred_to"), _TIME),
    **dict.fromkeys(("scope", "metadata"), _PAIRS),
    "entity": ENTITY,
    "mentions": {"type": "array", "items": ENTITY},
}
"""Fields that are written otherwise than they are kept (schemas/intake.py)."""


def struct_schema(struct: type[msgspec.Struct], without: Iterable[str] = (), required: Iterable[str] = ()) -> Schema:
    """The schema of a struct as a caller writes it."""
    _, components = msgspec.json.schema_components([struct])
    schema: Schema = components[struct.__name__]
    hidden = set(without)
    properties = {name: _field(name, told) for name, told in schema["properties"].items() if name not in hidden}
    described: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    names = list(required)
    return described | ({"required": names} if names else {})


def body(schema: Schema, *, lines: bool = False) -> Schema:
    """The `openapi_extra` of a route with this request body."""
    content: Schema = {"application/json": {"schema": schema}}
    if lines:
        content["application/x-ndjson"] = {"schema": {"type": "string", "description": "one observation a line"}}
    return {"requestBody": {"required": True, "content": content}}


def _field(name: str, told: Schema) -> Schema:
    if name in _WRITTEN:
        return _WRITTEN[name]
    return {key: value for key, value in told.items() if key != "default"}


_CLAIM = struct_schema(Claim)
_OBSERVATION = struct_schema(Observation, without=["bank"])
_OBSERVATION["properties"] |= {"claims": {"type": "array", "items": _CLAIM}, "source": _SOURCE}
_QUERY = struct_schema(Query, without=["bank", "principal", "now"], required=["text"])
_QUERY["properties"] |= {
    "form": {"type": "string", "enum": ["full", "structured", "graph", "text"]},
    "wait_for": {"type": "string", "description": "the token of a receipt"},
}
_TEXT: Schema = {"type": "string"}
_WAIT: Schema = {"type": "boolean", "default": True}

LINES_BODY: Schema = {
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string", "description": "one observation a line"}}},
    }
}
BACKUP_BODY: Schema = {
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string", "description": "the lines of a backup"}}},
    }
}
OBSERVATIONS_BODY = body({"anyOf": [_OBSERVATION, {"type": "array", "items": _OBSERVATION}, _TEXT]}, lines=True)
RECALL_BODY = body(_QUERY)
REVOKE_BODY = body(
    {
        "type": "object",
        "properties": {"reason": _TEXT, "agent": _TEXT, "expected_version": {"type": "integer"}, "wait": _WAIT},
        "required": ["reason"],
    }
)
FEEDBACK_BODY = body(
    {
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": list(get_args(Usefulness))},
            "agent": _TEXT,
            "wait": _WAIT,
        },
        "required": ["verdict"],
    }
)
_REFLECTED = struct_schema(Query, without=["bank", "principal", "now"], required=["text"])
_REFLECTED["properties"] |= {"opinions": {"type": "boolean", "default": True}, "wait_for": {"type": "string"}}
REFLECT_BODY = body(_REFLECTED)
SUMMARY_BODY = body({"type": "object", "properties": {"entity": ENTITY}, "required": ["entity"]})
FORGET_BODY = body(
    {
        "type": "object",
        "properties": {
            "ids": {"type": "array", "items": _TEXT, "description": "ids of observations or beliefs"},
            "owner": _TEXT,
            "source": _TEXT,
            "dry_run": {"type": "boolean"},
        },
    }
)
PROFILE_BODY = body(
    {
        "type": "object",
        "properties": {
            **{trait: {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST} for trait in TRAITS},
            "bias_strength": {"type": "number", "minimum": 0, "maximum": 1},
            "background": _TEXT,
            "agent": _TEXT,
        },
    }
)
