"""What LangGraph asks of items and namespaces: filters with `$` operators, prefixes and suffixes with `*`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemas.errors import InvalidInput

_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda found, asked: bool(found == asked),
    "$ne": lambda found, asked: bool(found != asked),
    "$gt": lambda found, asked: bool(found > asked),
    "$gte": lambda found, asked: bool(found >= asked),
    "$lt": lambda found, asked: bool(found < asked),
    "$lte": lambda found, asked: bool(found <= asked),
}


def fits(value: Any, asked: Any) -> bool:
    """Whether a value is the one asked for: by operators, part by part for objects and lists, else by equality."""
    if isinstance(asked, Mapping):
        if any(isinstance(name, str) and name.startswith("$") for name in asked):
            return all(_compared(value, operator, than) for operator, than in asked.items())
        return isinstance(value, Mapping) and all(fits(value.get(name), part) for name, part in asked.items())
    if isinstance(asked, list | tuple):
        parts = value if isinstance(value, list | tuple) else None
        return parts is not None and len(parts) == len(asked) and all(map(fits, parts, asked))
    return bool(value == asked)


def is_under(namespace: Sequence[str], prefix: Sequence[str]) -> bool:
    """Whether a namespace lies at or under another one."""
    return tuple(namespace[: len(prefix)]) == tuple(prefix)


def lies(namespace: Sequence[str], path: Sequence[str], at: str) -> bool:
    """Whether a namespace begins (`prefix`) or ends (`suffix`) with a path, in which `*` stands for any label."""
    if at not in ("prefix", "suffix"):
        raise InvalidInput("match_type", f"is {at!r:.80}; use prefix or suffix")
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if at == "prefix" else namespace[len(namespace) - len(path) :]
    return all(asked in ("*", label) for label, asked in zip(part, path, strict=True))


def _compared(value: Any, operator: str, than: Any) -> bool:
    test = _TESTS.get(operator)
    if test is None:
        raise InvalidInput("filter", f"{operator!r:.80} is no operator; use one of {', '.join(_TESTS)}")
    try:
        return test(value, than)
    except TypeError:  # what is of two kinds has no order
        return False
