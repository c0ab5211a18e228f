"""Statements filled in: what becomes text and what becomes a parameter, and how many go into one request."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from stores.nebula.rows import Plain

MOST_STATEMENTS = 256
"""The server takes 512 in one request."""
_MOST_TEXT = 1_000_000
_MOST_PARAMETERS = 4_000_000
ROWS_AT_ONCE = 256

_BLANK = re.compile(r"\{(\w+)\}")


class Words(str):
    """Text that stands in a statement as it is: vids, keys, rows, names, numbers where no parameter may stand."""

    __slots__ = ()


Fill = Plain | Words


class Request(NamedTuple):
    """What is sent at once: its text and its parameters by name."""

    text: str
    parameters: dict[str, Plain]


class Line(NamedTuple):
    """One row of an INSERT before it is written out: a template and what fills it."""

    template: str
    values: dict[str, Fill]


def quoted(vid: str) -> Words:
    """A string literal; vids are of a safe alphabet, and are escaped all the same."""
    return Words('"' + vid.replace("\\", "\\\\").replace('"', '\\"') + '"')


def vids(some: Iterable[str]) -> Words:
    """Vids with commas between them."""
    return Words(", ".join(map(quoted, some)))


def name(identifier: str) -> Words:
    """The name of a space, tag, edge type or property."""
    if not identifier or set(identifier) & set("`.\\\n\x00"):
        raise ValueError(f"{identifier!r} is no name")
    return Words(f"`{identifier}`")


def number(value: int) -> Words:
    """A whole number where no parameter may stand. A minus or a first digit other than 0 keeps it decimal."""
    return Words(str(int(value)))


class Script:
    """Statements to be sent in order, as few requests as their size allows.

    A value that occurs again in a request is sent once. All statements of a script may be sent again as a whole.
    """

    def __init__(self) -> None:
        self._requests: list[_Open] = []

    def __bool__(self) -> bool:
        return bool(self._requests)

    def add(self, template: str, **values: Fill) -> None:
        """Add a statement."""
        self._room().add(template, values)

    def add_rows(self, template: str, rows: Sequence[Line], **values: Fill) -> None:
        """Add an INSERT of some rows, as often as their size asks."""
        for start in range(0, len(rows), ROWS_AT_ONCE):
            waiting = list(rows[start : start + ROWS_AT_ONCE])
            while waiting:
                waiting = self._room().add_rows(template, waiting, values)

    def requests(self) -> Iterator[Request]:
        """What is to be sent."""
        for each in self._requests:
            yield each.done()

    def _room(self) -> "_Open":
        if not self._requests or self._requests[-1].is_full():
            self._requests.append(_Open())
        return self._requests[-1]


def one(template: str, **values: Fill) -> Request:
    """A request of a single statement."""
    script = _Open()
    script.add(template, values)
    return script.done()


class _Open:
    """A request in the making."""

    def __init__(self) -> None:
        self._statements: list[str] = []
        self._names: dict[tuple[type, Plain], str] = {}
        self._text = 0
        self._weight = 0

    def add(self, template: str, values: dict[str, Fill]) -> None:
        statement = self._filled(template, values)
        self._statements.append(statement)
        self._text += len(statement)

    def add_rows(self, template: str, rows: list[Line], values: dict[str, Fill]) -> list[Line]:
        """Add as many rows as there is room for, at least one; returns the others."""
        written: list[str] = []
        size = self._text
        for row in rows:
            if written and (size >= _MOST_TEXT or self._weight >= _MOST_PARAMETERS):
                break
            written.append(self._filled(row.template, row.values))
            size += len(written[-1])
        self.add(template, values | {"rows": Words(", ".join(written))})
        return rows[len(written) :]

    def is_full(self) -> bool:
        many = len(self._statements) >= MOST_STATEMENTS
        return many or self._text >= _MOST_TEXT or self._weight >= _MOST_PARAMETERS

    def done(self) -> Request:
        parameters = {name: value for (_, value), name in self._names.items()}
        return Request("; ".join(self._statements), parameters)

    def _filled(self, template: str, values: dict[str, Fill]) -> str:
        return _BLANK.sub(lambda blank: self._word(values[blank[1]]), template)

    def _word(self, value: Fill) -> str:
        if isinstance(value, Words):
            return value
        key = (type(value), value)
        if key not in self._names:
            self._names[key] = f"p{len(self._names)}"
            self._weight += len(value) if isinstance(value, str) else 8
        return "$" + self._names[key]
