"""JSON Schema of what travels on the log, for programs in other languages; made from the structs that read it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from schemas.claim import Claim
from schemas.dead_letter import DeadLetter
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import EARLIEST, LATEST, instant_of
from schemas.limits import BANK_NAME, BELIEF_ID, MAX_ITEMS, MAX_NAME_BYTES, MAX_TEXT_BYTES, MAX_WEIGHT
from schemas.observation import Observation, Source
from schemas.recall_record import Feedback, RecallRecord
from schemas.slot import Change
from schemas.tombstone import Tombstone
from schemas.wire import MAJOR, MINOR, Envelope

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ENVELOPE = "envelope"
MESSAGES: Mapping[str, type[msgspec.Struct]] = {
    kind.__name__.lower(): kind
    for kind in (Observation, Evidence, Change, DeadLetter, RecallRecord, Feedback, Tombstone)
}
"""What may be the body of a message, by the `type` in its envelope."""

_PACKED = (
    "The value that is packed with msgpack, whole: an object is a msgpack map, an array a msgpack array, text is str"
    " (never bin), an integer is an int (never a float). Unknown fields are ignored."
)
_INSTANT = {
    "description": "Microseconds since 1970-01-01 UTC.",
    "minimum": instant_of(EARLIEST),
    "maximum": instant_of(LATEST),
}
_INSTANTS = ("at", "moment", "valid_until", "occurred_start", "occurred_end")
_NAME = {"minLength": 1, "maxLength": MAX_NAME_BYTES, "pattern": r"^[^\x00]*[^\x00\s][^\x00]*$"}
_LABEL = {"maxLength": MAX_NAME_BYTES, "pattern": r"^([^\x00]*[^\x00\s][^\x00]*)?$"}
_TEXT = {"maxLength": MAX_TEXT_BYTES, "pattern": r"^[^\x00]*$"}
_WEIGHT = {"minimum": 0, "maximum": MAX_WEIGHT}
_NAMES = {"maxItems": MAX_ITEMS, "items": _NAME}
_NOT_NULL = {"not": {"type": "null"}}

_LIMITS: Mapping[type[msgspec.Struct], Mapping[str, Schema]] = {
    Observation: {
        "id": _NAME,
        "bank": {"pattern": f"^{BANK_NAME.pattern}$"},
        "agent": _LABEL,
        "text": _TEXT,
        "claims": {"maxItems": MAX_ITEMS},
        "session": _LABEL,
        "turn": {"minimum": 0},
        "weight": _WEIGHT,
        "owner": _LABEL,
        "readers": _NAMES,
        "metadata": {
            "maxProperties": MAX_ITEMS,
            "propertyNames": _NAME,
            "additionalProperties": {"maxLength": MAX_NAME_BYTES},
        },
    },
    Claim: {
        "attribute": _NAME,
        "value": {**_TEXT, "description": "Numbers are finite; integers have at most 64 bits, with their sign."},
        "scope": {"maxItems": MAX_ITEMS, "description": "Pairs of name and value, sorted by name, each name once."},
        "statement": _TEXT,
        "weight": _WEIGHT,
        "mentions": {"maxItems": MAX_ITEMS},
        "premises": {"maxItems": MAX_ITEMS, "items": {"pattern": f"^{BELIEF_ID.pattern}$"}},
        "extractor": _NAME,
    },
    Source: {"id": _NAME, "origin": _LABEL},
}
"""What intake and screen ask of a producer beyond the types. Lengths are theirs in bytes, so these are upper bounds."""

_RULES: Mapping[type[msgspec.Struct], Schema] = {
    Observation: {
        "anyOf": [
            {"properties": {"text": {"pattern": r"\S"}}, "required": ["text"]},
            {"properties": {"claims": {"minItems": 1}}, "required": ["claims"]},
        ],
        "allOf": [
            {
                "if": {"properties": {"visibility": {"const": "private"}}, "required": ["visibility"]},
                "then": {"properties": {"owner": {"minLength": 1}}, "required": ["owner"]},
            },
            {
                "if": {"properties": {"visibility": {"const": "group"}}, "required": ["visibility"]},
                "then": {"properties": {"readers": {"minItems": 1}}, "required": ["readers"]},
                "else": {"properties": {"readers": {"maxItems": 0}}},
            },
        ],
    },
    Claim: {
        "anyOf": [
            {"properties": {"attribute": {"type": "null"}, "value": {"type": "null"}}},
            {"properties": {"attribute": _NOT_NULL, "value": _NOT_NULL}, "required": ["attribute", "value"]},
            {
                "properties": {"attribute": _NOT_NULL, "stance": {"const": "retracts"}},
                "required": ["attribute", "stance"],
            },
        ]
    },
    Entity: {"prefixItems": [{"type": "string", **_NAME}, {"type": "string", "default": "thing", **_NAME}]},
}
"""What holds between the fields of one struct."""


def message_schema(type: str) -> Schema:
    """The schema of a whole message: the envelope, with the body of that type; of `envelope`, with any body."""
    envelope = _components(Envelope)["Envelope"]["properties"]
    kind = MESSAGES.get(type)
    return {
        "$schema": DIALECT,
        "title": f"{type}, version {MAJOR}.{MINOR}",
        "description": _PACKED,
        "type": "object",
        "properties": {
            "v": {
                "description": "The version, major and minor.",
                "type": "array",
                "prefixItems": [{"const": MAJOR}, {"type": "integer", "minimum": 0}],
                "minItems": 2,
            },
            "id": {**envelope["id"], "description": "The id of the body, if it has one."},
            "type": {"enum": list(MESSAGES)} if kind is None else {"const": type},
            "body": envelope["body"] if kind is None else {"$ref": f"#/$defs/{kind.__name__}"},
            "trace": {**envelope["trace"], "description": "Trace context, as in the record's headers."},
        },
        "required": ["v", "id", "type", "body"],
        "$defs": {} if kind is None else _components(kind),
    }


def example() -> dict[str, Any]:
    """A message that holds one observation, as the value to be packed."""
    observation = Observation(
        id="policy-2024-05",
        bank="default",
        source=Source("policy.pdf", type="document"),
        observed_at=1_716_195_600_000_000,
        agent="policy-sync",
        text="Free shipping from 200 yuan.",
        entity=Entity("shop policy", "policy"),
        claims=(
            Claim(
                entity=Entity("shop policy", "policy"),
                attribute="free shipping threshold",
                value=200,
                scope=(("channel", "web"), ("region", "CN")),
                kind="instruction",
            ),
        ),
    )
    body = msgspec.json.decode(msgspec.json.encode(observation))
    return {"v": [MAJOR, MINOR], "id": observation.id, "type": "observation", "body": body}


def _components(kind: type[msgspec.Struct]) -> dict[str, Schema]:
    """The schema of a struct and of each one within it, by name, with the limits that a type cannot say."""
    _, schemas = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    limits = {struct.__name__: fields for struct, fields in _LIMITS.items()}
    rules = {struct.__name__: rule for struct, rule in _RULES.items()}
    for name, schema in schemas.items():
        for field, said in schema.get("properties", {}).items():
            if field in _INSTANTS or field.endswith("_at"):
                said.update(_INSTANT)
            _limit(said, limits.get(name, {}).get(field, {}))
        schema.update(rules.get(name, {}))
    return schemas


def _limit(schema: Schema, limits: Schema) -> None:
    """Put limits into a schema, beside what it says already."""
    for keyword, limit in limits.items():
        if isinstance(schema.get(keyword), dict):
            _limit(schema[keyword], limit)
        else:
            schema[keyword] = limit
