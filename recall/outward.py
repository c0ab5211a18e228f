"""Answers, beliefs, explanations and histories as plain data for JSON: the one place that knows their outward shape.

Keys are the field names. Instants become ISO 8601 text, a scope an object, an entity {"name", "type"}; the masses of
a belief, which are how a store computes with it, stay inside. Every key is always there; what is absent is null.
"""

from collections.abc import Collection
from typing import Any

import msgspec

from schemas.answer import Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.instant import format_instant
from schemas.profile import Persona
from schemas.reflection import Reflection, Summary

Plain = dict[str, Any]

INSTANTS = frozenset(
    (
        "at",
        "moment",
        "effective_at",
        "observed_at",
        "ingested_at",
        "valid_until",
        "occurred_start",
        "occurred_end",
        "first_support",
        "newest_support",
    )
)
MASSES = frozenset(("support", "refutation"))


def answer_to_builtins(answer: Answer) -> Plain:
    """An answer, with `degraded` spelled out."""
    return _plain(answer) | {"degraded": answer.degraded}


def belief_to_builtins(belief: Belief) -> Plain:
    """A belief without its masses."""
    return _plain(belief, MASSES)


def explanation_to_builtins(explanation: Explanation) -> Plain:
    """An explanation with every term."""
    return _plain(explanation)


def history_to_builtins(history: History) -> Plain:
    """A history, oldest turn first."""
    return _plain(history)


def persona_to_builtins(persona: Persona) -> Plain:
    """A profile with its background, every trait spelled out."""
    return {**_plain(persona.profile), "background": list(persona.background)}


def reflection_to_builtins(reflection: Reflection) -> Plain:
    """A reflection, with what it cites spelled out."""
    return _plain(reflection) | {"cited": list(reflection.cited)}


def summary_to_builtins(summary: Summary) -> Plain:
    """A summary."""
    return _plain(summary)


def _plain(struct: msgspec.Struct, hidden: Collection[str] = ()) -> Plain:
    return {name: _value(name, getattr(struct, name)) for name in struct.__struct_fields__ if name not in hidden}


def _value(name: str, value: object) -> object:
    match value:
        case None:
            return None
        case int() if name in INSTANTS:
            return format_instant(value)
        case Belief():
            return belief_to_builtins(value)
        case Entity():
            return {"name": value.name, "type": value.type}
        case msgspec.Struct():
            return _plain(value)
        case tuple() if name == "scope":
            return dict(value)
        case tuple() if name == "exceptions":
            return [dict(scope) for scope in value]
        case tuple():
            return [_value("", item) for item in value]
        case dict():
            return dict(value)
    return value
