"""What a mapping may write for a value: a constant, a template over paths, a list of choices, or a table of values."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from schemas.errors import InvalidInput
from schemas.fields import Reader, one_of
from schemas.limits import INT64, check_text, shown
from streams.sources.yaml_file import read_keys

Names = Mapping[str, object]
"""What a path may start from: the names that `each` bound, and under "" the document."""

Expression = Callable[[Names], object]
"""The value of an expression where these names are bound; None where there is none."""

Path = tuple[str | int, ...]

_STEP = re.compile(r"([^.\[\]{}]+)((?:\[-?\d+\])*)")
_INDEX = re.compile(r"-?\d+")
_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_DEEPEST = 50


def path_of(told: object, field: str) -> Path:
    """The steps of a path such as `fields.status.name` or `items[0].to`. Raises InvalidInput."""
    if not isinstance(told, str) or not told.strip():
        raise InvalidInput(field, f"is {shown(told)}; write a path such as fields.status.name")
    steps: list[str | int] = []
    for part in told.strip().split("."):
        found = _STEP.fullmatch(part.strip())
        if found is None:
            raise InvalidInput(field, f"{shown(told)} is not a path; write names with dots, as in fields.status.name")
        steps.append(found[1])
        steps += [int(index) for index in _INDEX.findall(found[2])]
    return tuple(steps)


def follow(path: Path, names: Names) -> object:
    """What lies at a path; None where nothing does, and where it is an empty text."""
    first = path[0]
    at: object = names[str(first)] if first in names else names[""]
    for step in path[1:] if first in names else path:
        if isinstance(at, Mapping):
            at = at.get(step) if isinstance(step, str) else None
        elif isinstance(at, list) and isinstance(step, int) and -len(at) <= step < len(at):
            at = at[step]
        else:
            return None
    return None if at == "" else at


def read_expression(told: object, field: str) -> Expression:
    """An expression as a mapping writes it. Raises InvalidInput that names the field."""
    match told:
        case str():
            return _template(told, field)
        case bool() | int() | float():
            return partial(_constant, told)
        case list():
            choices = [read_expression(each, f"{field}[{n}]") for n, each in enumerate(told)]
            return partial(_first, choices)
        case dict():
            return _table(told, field)
    raise InvalidInput(field, f"is {shown(told)}; write a text, a number, a list of choices or a table with 'from'")


def constant_of(told: object) -> str | None:
    """The constant that an expression is, if it is a plain text."""
    return told if isinstance(told, str) and not _PLACE.search(told) else None


def spelled(value: object) -> str:
    """A value within a text: as JSON writes truth values, whole floats without a point."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
    return json.dumps(value, ensure_ascii=False)


def _constant(value: object, _: Names) -> object:
    return value


def _first(choices: Sequence[Expression], names: Names) -> object:
    return next((value for choice in choices if (value := choice(names)) is not None), None)


def _template(told: str, field: str) -> Expression:
    parts: list[str | Path] = []
    end = 0
    for found in _PLACE.finditer(told):
        parts.append(told[end : found.start()])
        end = found.end()
        match found[0]:
            case "{{" | "}}":
                parts.append(found[0][0])
            case "{" | "}":
                raise InvalidInput(field, f"{shown(told)} has a single {found[0]!r}; write {found[0] * 2} for the sign")
            case _:
                parts.append(path_of(found[1], field))
    parts = [part for part in (*parts, told[end:]) if part]
    if len(parts) == 1 and isinstance(parts[0], tuple):
        return partial(follow, parts[0])
    if all(isinstance(part, str) for part in parts):
        return partial(_constant, "".join(cast(list[str], parts)))
    return partial(_filled, parts)


def _filled(parts: Sequence[str | Path], names: Names) -> object:
    """A text with its places filled; None as soon as one of them has no value."""
    words = []
    for part in parts:
        value = part if isinstance(part, str) else follow(part, names)
        if value is None:
            return None
        words.append(spelled(value))
    return "".join(words)


def _table(told: Mapping[str, object], field: str) -> Expression:
    given = read_keys(told, field, _TABLE, ("from",))
    changes = [partial(_cut, given[name], name) for name in ("after", "before") if name in given]
    changes += [given["as"]] if "as" in given else []
    changes += [partial(_looked_up, given["map"])] if "map" in given else []
    return partial(_changed, given["from"], changes, given.get("default", partial(_constant, None)))


def _changed(
    origin: Expression, changes: Sequence[Callable[[Any], object]], default: Expression, names: Names
) -> object:
    value = origin(names)
    for change in changes:
        if value is not None:
            value = change(value)
    return default(names) if value is None else value


def _cut(mark: str, side: str, value: object) -> object:
    """The part of a text after (or before) a mark; None where the mark is not in it."""
    before, found, after = spelled(value).partition(mark)
    return ((after if side == "after" else before) or None) if found else None


def _looked_up(table: Mapping[str, object], value: object) -> object:
    return table.get(spelled(value))


def _read_map(told: object, field: str) -> dict[str, object]:
    if not isinstance(told, dict) or not told:
        raise InvalidInput(field, "must be a table of values, as in {done: closed}")
    for value in told.values():
        if not isinstance(value, str | int | float):
            raise InvalidInput(field, f"holds {shown(value)}; each value must be a text, a number or a truth value")
    return {spelled(key): value for key, value in told.items()}


def _read_change(told: object, field: str) -> Callable[[Any], object]:
    return _CHANGES[one_of(_CHANGES)(told, field)]


def _number(value: object) -> object:
    """The number that a text is, if a value can be that number; anything else is left for intake to judge."""
    if not isinstance(value, str):
        return value
    for read in (int, float):
        try:
            number = read(value)
        except ValueError:
            continue
        fits = math.isfinite(number) if isinstance(number, float) else -INT64 <= number < INT64
        return number if fits else value
    return value


def _milliseconds(value: object) -> object:
    number = _number(value)
    return number / 1_000 if isinstance(number, int | float) and not isinstance(number, bool) else value


def _joined(value: object) -> object:
    return ", ".join(spelled(each) for each in value) or None if isinstance(value, list) else value


def _plain(value: object) -> object:
    """The words of an Atlassian document (or of any tree with `text` at its leaves), each block on its own line."""
    if not isinstance(value, dict | list):
        return value
    return "\n".join(line for line in "".join(_leaves(value, 0)).splitlines() if line.strip()) or None


def _leaves(node: object, depth: int) -> list[str]:
    if isinstance(node, list):
        return [word for each in node for word in _leaves(each, depth + 1)]
    if not isinstance(node, dict) or depth > _DEEPEST:
        return []
    if node.get("type") == "hardBreak":
        return ["\n"]
    attributes = node.get("attrs")
    mention = attributes.get("text") if isinstance(attributes, dict) else None
    told = node.get("text", mention)
    own = [told] if isinstance(told, str) else []
    inner = _leaves(node.get("content", []), depth + 1)
    return [*own, *inner, *(["\n"] if node.get("type") in _BLOCKS else [])]


_BLOCKS = ("paragraph", "heading", "codeBlock", "listItem", "tableRow", "rule", "blockquote")
_CHANGES: dict[str, Callable[[Any], object]] = {
    "text": spelled,
    "number": _number,
    "milliseconds": _milliseconds,
    "seconds": _number,
    "lower": lambda value: spelled(value).lower(),
    "joined": _joined,
    "plain": _plain,
}
_TABLE: Mapping[str, Reader] = {
    "from": read_expression,
    "after": check_text,
    "before": check_text,
    "as": _read_change,
    "map": _read_map,
    "default": read_expression,
}
