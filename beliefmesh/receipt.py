"""What a memory is told, and what it gives back for it."""

import reprlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

import msgspec

from schemas.errors import InvalidInput

Tellable = str | Mapping[str, object]
Importable = TypeVar("Importable", bound=bytes | Mapping[str, object])
"""Of an import: a line of JSON, or fields."""


def several(told: object) -> list[object]:
    """What a caller told, as a list; what is neither a text nor an object is refused later, by name."""
    if isinstance(told, str | bytes | Mapping) or not isinstance(told, Iterable):
        return [told]
    return list(told)


def line_of(line: object) -> bytes:
    """One line of an import, without its end; a file that was opened as text gives texts. Raises InvalidInput."""
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogatepass")
    if not isinstance(line, bytes | bytearray | memoryview):
        raise InvalidInput("lines", f"hold {type(line).__name__}; give bytes, as a file opened with 'rb' does")
    return bytes(line).rstrip(b"\r\n")


def fields_of(row: object) -> Mapping[str, object]:
    """One row of an import, which must be a mapping. Raises InvalidInput."""
    if not isinstance(row, Mapping):
        raise InvalidInput("rows", f"hold {type(row).__name__}; give mappings, as in [{{'text': 'The yard is shut.'}}]")
    return row


def written(fields: Mapping[str, object]) -> bytes:
    """Fields as a line of JSON, or, where JSON has no form for them, as Python shows them, which is no JSON."""
    try:
        return msgspec.json.encode(fields)
    except (TypeError, ValueError, RecursionError):
        return reprlib.repr(fields).encode("utf-8", "backslashreplace")


def chunks_of(told: Iterable[Importable], size: int) -> Iterator[list[Importable]]:
    """What is imported, so many at once."""
    rest = iter(told)
    while chunk := list(islice(rest, size)):
        yield chunk


class Receipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `retain` accepted: the observations' ids, and the token to wait for them with.

    `clarification` lists what "back to the previous setting" may mean, where that is not one thing; nothing changed.
    """

    ids: tuple[str, ...]
    token: str
    clarification: tuple[str, ...] = ()


class Imported(msgspec.Struct, frozen=True):
    """What an import did: observations accepted, lines set aside as dead letters, and the token.

    `unclear` of the accepted ones ask for "the previous setting", which may be one of several; they changed nothing.
    """

    accepted: int
    dead: int
    token: str
    unclear: int = 0
