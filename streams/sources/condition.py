"""When a rule of a mapping applies: equality of what lies at paths with constants, nothing more."""

from collections.abc import Sequence

from schemas.errors import InvalidInput
from schemas.limits import shown
from streams.sources.expression import Names, Path, follow, path_of, spelled

ANY = "*"
Condition = tuple[tuple[Path, tuple[object, ...]], ...]
"""Paths, each with the values that fit; None stands for no value, ANY for any."""

ALWAYS: Condition = ()


def read_condition(told: object, field: str) -> Condition:
    """A condition as a mapping writes it: paths to a constant, a list of constants, "*" (any value) or null (none)."""
    if not isinstance(told, dict) or not told:
        raise InvalidInput(field, "must name paths with the values that fit, as in {item.field: [status, assignee]}")
    return tuple((path_of(path, field), tuple(_constants(wanted, f"{field}.{path}"))) for path, wanted in told.items())


def holds(condition: Condition, names: Names) -> bool:
    """Whether every path has a value that fits."""
    return all(_fits(follow(path, names), wanted) for path, wanted in condition)


def _constants(wanted: object, field: str) -> Sequence[object]:
    values = wanted if isinstance(wanted, list) else [wanted]
    for value in values:
        if value is not None and not isinstance(value, str | int | float):
            raise InvalidInput(field, f"is {shown(value)}; compare with a text, a number, true, false or null")
    return [value if value is None else spelled(value) for value in values]


def _fits(value: object, wanted: Sequence[object]) -> bool:
    if value is None:
        return None in wanted
    return ANY in wanted or (isinstance(value, str | int | float) and spelled(value) in wanted)
