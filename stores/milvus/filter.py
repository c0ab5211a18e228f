"""Conditions on rows as Milvus expressions: which rows a filter lets through, with every value beside the text.

Every text that a condition compares is a hash or one of our own words, so none can end a literal or widen a pattern,
whatever an id holds. A server gets the values as template parameters. Milvus Lite has no templates: there a value is
written into the expression, after a check that it is a number, a truth value or made of those characters alone.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from schemas.errors import InvalidInput
from schemas.identity import digest
from schemas.instant import Instant
from stores.ports import IndexFilter

Value = bool | int | str | list[str]

JOINER = "|"
"""Between the tokens of a text column that stands for a list, in Milvus Lite."""

_HOLE = re.compile(r"\{(\w+)\}")
_SAFE = re.compile(r"[0-9a-z%]*")


class Condition(NamedTuple):
    """An expression with `{name}` in place of each value, and the values."""

    expression: str
    values: dict[str, Value]

    def __and__(self, other: "Condition") -> "Condition":
        """Both; names of values must differ."""
        return Condition(f"{self.expression} and {other.expression}", self.values | other.values)


def bank_key(bank: str) -> str:
    """What stands for a bank in a column."""
    return digest("bank", bank)


def belief_key(bank: str, belief: str) -> str:
    """What stands for a belief of a bank in a column."""
    return digest("belief", bank, belief)


def reader_key(bank: str, reader: str) -> str:
    """What stands for a reader's token in a column: another in each bank."""
    return digest("reader", bank, reader)


def entity_key(bank: str, entity: str) -> str:
    """What stands for an entity in a column: another in each bank."""
    return digest("entity", bank, entity)


def in_bank(bank: str) -> Condition:
    """Every row of a bank."""
    return Condition("bank == {bank}", {"bank": bank_key(bank)})


def of_beliefs(bank: str, beliefs: Iterable[str]) -> Condition:
    """Every row of these beliefs of a bank."""
    keys: list[str] = [belief_key(bank, belief) for belief in beliefs]
    return in_bank(bank) & Condition("belief_key in {beliefs}", {"beliefs": keys})


def seen_by(bank: str, readers: Sequence[str], lite: bool) -> Condition:
    """Rows that one of these readers may see."""
    return _any_of("readers", "reader", [reader_key(bank, reader) for reader in readers], lite)


def embedded() -> Condition:
    """Rows that have a vector."""
    return Condition("embedded == {embedded}", {"embedded": True})


def overlapping(start: Instant, end: Instant) -> Condition:
    """Rows whose span overlaps [start, end]."""
    return Condition("since <= {period_end} and until >= {period_start}", {"period_start": start, "period_end": end})


def middle_within(low: Instant, high: Instant) -> Condition:
    """Rows the middle of whose span lies in [low, high]."""
    return Condition("middle >= {low} and middle <= {high}", {"low": low, "high": high})


def passing(filter: IndexFilter, lite: bool) -> Condition:
    """Rows that a filter lets through. It must name a reader: without one nothing passes, and nobody need ask."""
    if not filter.readers:
        raise InvalidInput("readers", "is empty; a search without readers finds nothing")
    condition = in_bank(filter.bank) & seen_by(filter.bank, filter.readers, lite)
    if filter.statuses:
        condition &= Condition(
            "(checked == {checked} or status in {statuses})", {"checked": True, "statuses": list(filter.statuses)}
        )
    if filter.networks:
        condition &= Condition("network in {networks}", {"networks": list(filter.networks)})
    if filter.entities:
        keys = [entity_key(filter.bank, entity) for entity in filter.entities]
        condition &= _any_of("entities", "entity", keys, lite)
    if filter.occurred_from is not None:
        condition &= Condition("until >= {occurred_from}", {"occurred_from": filter.occurred_from})
    if filter.occurred_to is not None:
        condition &= Condition("since <= {occurred_to}", {"occurred_to": filter.occurred_to})
    if filter.periods:
        condition &= _in_a_period(filter.periods)
    return condition


def written_out(condition: Condition) -> str:
    """The condition as one text, for Milvus Lite. Raises ValueError for a value that is not safe to write."""
    return _HOLE.sub(lambda hole: _literal(condition.values[hole[1]]), condition.expression)


def _in_a_period(periods: Sequence[tuple[Instant, Instant]]) -> Condition:
    """Rows whose span overlaps one of these periods."""
    either = " or ".join(f"(until >= {{first{at}}} and since <= {{last{at}}})" for at in range(len(periods)))
    values: dict[str, Value] = {}
    for at, (first, last) in enumerate(periods):
        values |= {f"first{at}": first, f"last{at}": last}
    return Condition(f"({either})", values)


def _any_of(column: str, name: str, keys: list[str], lite: bool) -> Condition:
    """Rows whose list holds one of the keys; Milvus Lite is many times faster on text patterns than on arrays."""
    if not lite:
        return Condition(f"array_contains_any({column}, {{{name}}})", {name: keys})
    patterns = {f"{name}{at}": f"%{key}%" for at, key in enumerate(keys)}
    return Condition(f"({' or '.join(f'{column} like {{{hole}}}' for hole in patterns)})", dict(patterns))


def _literal(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            if not _SAFE.fullmatch(value):
                raise ValueError(f"{value!r:.40} cannot stand in an expression")
            return f'"{value}"'
    return f"[{', '.join(map(_literal, value))}]"
