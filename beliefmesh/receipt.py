"""What a memory is told, and what it gives back for it."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec

from schemas.errors import InvalidInput

Tellable = str | Mapping[str, object]
Importable = bytes | str | Mapping[str, object]
"""One observation of an import: a line of JSON, or its fields."""


def several(told: object) -> list[object]:
    """What a caller told, as a list; what is neither a text nor an object is refused later, by name."""
    if isinstance(told, str | bytes | Mapping) or not isinstance(told, Iterable):
        return [told]
    return list(told)


def line_of(line: object) -> bytes:
    """One line of an import, without its end; fields are written as JSON, text as UTF-8. Raises InvalidInput."""
    if isinstance(line, Mapping):
        return _encoded(line)
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogatepass")
    if not isinstance(line, bytes | bytearray | memoryview):
        raise InvalidInput("lines", f"hold {type(line).__name__}; give lines of JSON (bytes or text), or mappings")
    return bytes(line).rstrip(b"\r\n")


def chunks_of(lines: Iterable[Importable], size: int) -> Iterator[list[bytes | Mapping[str, object]]]:
    """The lines of an import, so many at once, fields as they are. Raises InvalidInput as `line_of` does."""
    rest = (line if isinstance(line, Mapping) else line_of(line) for line in lines)
    while chunk := list(islice(rest, size)):
        yield chunk


def _encoded(fields: Mapping[str, object]) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except (TypeError, ValueError) as error:
        raise InvalidInput("lines", f"hold fields that cannot be written as JSON ({error})") from error


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
