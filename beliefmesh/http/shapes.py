"""Schemas of what leaves the house, derived from the structs, and examples that fit them.

There are two outward forms of a struct: as `recall/outward.py` writes it, and as msgspec encodes it. Both are named in
the components of the OpenAPI document, the latter with the ending `Record` where both are in use.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from recall.outward import INSTANTS, MASSES
from schemas.belief import Belief
from schemas.entity import Entity

Schema = dict[str, Any]

REF = "#/components/schemas/"
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
TIME: Schema = {"type": "string", "format": "date-time"}
_PAIRS: Schema = {"type": "object", "additionalProperties": TEXT}
_ENTITY: Schema = {
    "type": "object",
    "properties": {"name": TEXT, "type": TEXT},
    "required": ["name", "type"],
    "additionalProperties": False,
}


def several(item: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": item}


def maybe(schema: Schema) -> Schema:
    """A value, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def record(properties: Mapping[str, Schema], optional: Iterable[str] = ()) -> Schema:
    """An object with these keys and no others, each there but the optional ones."""
    left_out = set(optional)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in left_out],
        "additionalProperties": False,
    }


def named(name: str) -> Schema:
    """What a component describes."""
    return {"$ref": f"{REF}{name}"}


class Components:
    """The named schemas of a document, added to as they are asked for."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {"Entity": _ENTITY}

    def plain(self, kind: type[msgspec.Struct], more: Mapping[str, Schema] | None = None) -> Schema:
        """A struct as `recall/outward.py` writes it: every key is there, times are text; `more` keys follow."""
        name = kind.__name__
        if name not in self.schemas:
            self.schemas[name] = {}
            node = inspect.type_info(kind)
            assert isinstance(node, inspect.StructType)  # what type_info gives for a struct
            hidden = MASSES if kind is Belief else frozenset()
            fields = {field.name: self._plain(field.name, field.type) for field in node.fields}
            self.schemas[name] = record(
                {**{key: told for key, told in fields.items() if key not in hidden}, **(more or {})}
            )
        return named(name)

    def encoded(self, kind: type[msgspec.Struct]) -> Schema:
        """A struct as msgspec encodes it: what is at its default may be left out, times are numbers."""
        (_,), found = msgspec.json.schema_components([kind], ref_template=REF + "{name}Record")
        for name, schema in found.items():
            self.schemas[f"{name}Record"] = schema
        return named(f"{kind.__name__}Record")

    def _plain(self, name: str, node: inspect.Type) -> Schema:
        match node:
            case inspect.UnionType(types=types):
                return {"anyOf": [self._plain(name, each) for each in types]}
            case inspect.IntType() if name in INSTANTS:
                return TIME
            case inspect.StructType(cls=cls) if cls is Entity:
                return named("Entity")
            case inspect.StructType(cls=cls):
                return self.plain(cls)
            case inspect.VarTupleType() | inspect.TupleType() if name == "scope":
                return _PAIRS
            case inspect.VarTupleType() if name == "exceptions":
                return several(_PAIRS)
            case inspect.VarTupleType(item_type=item):
                return several(self._plain("", item))
            case inspect.DictType(value_type=value):
                return {"type": "object", "additionalProperties": self._plain("", value)}
        simple: Schema = _SIMPLE[type(node)](node)
        return simple


_SIMPLE: dict[type[inspect.Type], Any] = {
    inspect.NoneType: lambda _: {"type": "null"},
    inspect.StrType: lambda _: TEXT,
    inspect.BoolType: lambda _: FLAG,
    inspect.IntType: lambda _: {"type": "integer"},
    inspect.FloatType: lambda _: NUMBER,
    inspect.LiteralType: lambda node: {"enum": list(node.values)},
    inspect.AnyType: lambda _: {},
}
