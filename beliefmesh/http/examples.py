"""An example for any schema: the values that a reader would expect under a name, else the plainest that fit."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_VALUES: dict[str, object] = {
    "bank": "support",
    "name": "shop",
    "type": "thing",
    "entity": "shop",
    "into": "web shop",
    "attribute": "free shipping from",
    "value": 200,
    "statement": "Shipping is free from 200.",
    "text": "Shipping is free from 200.",
    "question": "From what amount is shipping free?",
    "background": "You answer for a small shop.",
    "id": "b3f09a2c47d1e8b65f0a9d2c4e7b1a380",
    "belief": "b3f09a2c47d1e8b65f0a9d2c4e7b1a380",
    "slot": "s81c0de72f4a9b3365d1e0f8a7b2c9d41",
    "observation": "o-2024-05-20-7",
    "observation_id": "o-2024-05-20-7",
    "ids": ["o-2024-05-20-7"],
    "observations": ["o-2024-05-20-7"],
    "changed": ["b3f09a2c47d1e8b65f0a9d2c4e7b1a380"],
    "premises": ["b3f09a2c47d1e8b65f0a9d2c4e7b1a380"],
    "token": "0:41,3:12",
    "agent": "desk",
    "owner": "lena",
    "session": "ticket-118",
    "reason": "the terms changed",
    "confidence": 0.77,
    "observed_at": "2024-05-20T09:00:00Z",
    "at": "2024-05-20T09:00:00Z",
    "moment": "2024-06-10T12:00:00Z",
    "job": "decay",
    "code": "invalid_input",
    "message": "text: is missing; it must be text",
    "field": "text",
    "next": "NmY1ZDBjZTEvc2xvdC9iZWxpZWY=",
    "network": "world",
    "status": "active",
    "verdict": "right",
    "visibility": "bank",
    "stance": "supports",
    "kind": "observation",
    "value_type": "number",
    "tier": "medium",
    "mode": "apply",
    "state": "ok",
    "line": "[memory b3f09a2c47d1, 21 days ago, confidence 0.77] Shipping is free from 200.",
}
_LEFT_OUT = frozenset(("now", "principal", "known_at", "as_of", "question_time", "occurred_from", "occurred_to"))
"""Of a request, what most leave out."""

_SHOWN = 2
"""So deep an example shows what is in a list; further down it is empty."""


def example_of(schema: Schema, components: Mapping[str, Schema], name: str = "", depth: int = 0) -> Any:
    """An example that fits a schema, given what its references mean."""
    if "$ref" in schema:
        return example_of(components[schema["$ref"].rpartition("/")[2]], components, name, depth)
    if "example" in schema:
        return schema["example"]
    for many in ("anyOf", "oneOf"):
        if many in schema:
            return example_of(_chosen(schema[many], depth), components, name, depth)
    if "enum" in schema:
        return _known(name, schema["enum"])
    if "const" in schema:
        return schema["const"]
    return _by_kind(schema, components, name, depth)


def _chosen(schemas: list[Schema], depth: int) -> Schema:
    """The first of several; deep inside, nothing where that may be."""
    empty = [each for each in schemas if each.get("type") == "null"]
    return empty[0] if empty and depth > 1 else schemas[0]


def _known(name: str, among: list[Any]) -> Any:
    value = _VALUES.get(name)
    return value if value in among else among[0]


def _by_kind(schema: Schema, components: Mapping[str, Schema], name: str, depth: int) -> Any:
    kind = schema.get("type")
    value = _VALUES.get(name)
    match kind:
        case "object":
            return _object(schema, components, depth)
        case "array":
            if isinstance(value, list) and schema.get("items", {}).get("type") == "string":
                return value
            if "prefixItems" in schema:
                return [example_of(item, components, "", depth + 1) for item in schema["prefixItems"]]
            if depth > _SHOWN or not isinstance(schema.get("items"), Mapping):
                return []
            return [example_of(schema["items"], components, name, depth + 1)]
        case "string":
            if schema.get("format") == "date-time":
                return value if isinstance(value, str) and value[:2] == "20" else "2024-05-20T09:00:00Z"
            return value if isinstance(value, str) else name.replace("_", " ") or "shop"
        case "integer" | "number":
            return _number(schema, value)
        case "boolean":
            return False
        case "null":
            return None
    return value


def _object(schema: Schema, components: Mapping[str, Schema], depth: int) -> dict[str, Any]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    shown = [key for key in properties if key in required or (depth < 1 and key in _VALUES and key not in _LEFT_OUT)]
    return {key: example_of(properties[key], components, key, depth + 1) for key in shown}


def _number(schema: Schema, value: object) -> float:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum", 0)), schema.get("maximum", float("inf"))
    if isinstance(value, int | float) and low <= value <= high:
        return int(value) if schema["type"] == "integer" else value
    return int(low) + ("exclusiveMinimum" in schema)
