"""Filters as mem0 writes them: values, comparisons and AND, OR, NOT over a memory and its metadata."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemas.errors import InvalidInput
from schemas.limits import shown

_ABSENT = object()
_ANY = "*"

Test = Callable[[Any, Any], bool]


def matches(memory: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Whether a memory is what the filters ask for. Raises InvalidInput for an operator that there is none of."""
    return all(_admits(memory, name, asked) for name, asked in filters.items())


def _admits(memory: Mapping[str, Any], name: str, asked: Any) -> bool:
    if not isinstance(name, str):
        raise InvalidInput("filters", f"{shown(name)} is no name of a field")
    joined = _JOINED.get(name[1:].upper() if name.startswith("$") else name)
    if joined is not None:
        return joined([matches(memory, each) for each in _several(name, asked)])
    found = _field(memory, name)
    if isinstance(asked, Mapping):
        return all(_compared(found, operator, value) for operator, value in asked.items())
    if asked == _ANY:
        return found is not _ABSENT
    return _equal(found, asked)


def _several(name: str, asked: Any) -> Sequence[Mapping[str, Any]]:
    several = [asked] if isinstance(asked, Mapping) else asked
    if isinstance(several, Sequence) and all(isinstance(each, Mapping) for each in several):
        return several
    raise InvalidInput(f"filters.{name:.80}", "must be a list of filters")


def _field(memory: Mapping[str, Any], name: str) -> Any:
    """What a memory has under a name: in its metadata, also by a path with dots, else of its own."""
    for within in (memory.get("metadata") or {}, memory):
        if name in within:
            return within[name]
        found: Any = within
        for step in name.split("."):
            found = found.get(step, _ABSENT) if isinstance(found, Mapping) else _ABSENT
        if found is not _ABSENT:
            return found
    return _ABSENT


def _compared(found: Any, operator: str, value: Any) -> bool:
    test = _TESTS.get(operator.removeprefix("$")) if isinstance(operator, str) else None
    if test is None:
        known = ", ".join((*_TESTS, *_JOINED))
        raise InvalidInput(f"filters.{operator!s:.80}", f"is no operator; use one of {known}")
    try:
        return test(found, value)
    except TypeError:  # values of two kinds have no order, and a number contains nothing
        return False


def _equal(found: Any, asked: Any) -> bool:
    """Whether a value is the one asked for; of a list, whether it is among them."""
    if isinstance(found, list) and not isinstance(asked, list):
        return asked in found
    return found is not _ABSENT and bool(found == asked)


def _contains(found: Any, part: Any) -> bool:
    return found is not _ABSENT and part in found


_TESTS: Mapping[str, Test] = {
    "eq": _equal,
    "ne": lambda found, value: not _equal(found, value),
    "gt": lambda found, value: bool(found > value),
    "gte": lambda found, value: bool(found >= value),
    "lt": lambda found, value: bool(found < value),
    "lte": lambda found, value: bool(found <= value),
    "in": lambda found, values: any(_equal(found, value) for value in values),
    "nin": lambda found, values: not any(_equal(found, value) for value in values),
    "contains": _contains,
    "icontains": lambda found, part: _contains(_folded(found), _folded(part)),
}

_JOINED: Mapping[str, Callable[[list[bool]], bool]] = {
    "AND": all,
    "OR": any,
    "NOT": lambda parts: not any(parts),
}


def _folded(value: Any) -> Any:
    if isinstance(value, list):
        return [_folded(each) for each in value]
    return value.casefold() if isinstance(value, str) else value
