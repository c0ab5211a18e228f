"""What a memory is told, and what it gives back for it."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec

from schemas.errors import InvalidInput

Tellable = str | Mapping[str, object]


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


def chunks_of(lines: Iterable[bytes | str], size: int) -> Iterator[list[bytes]]:
    """The lines of an import, so many at once. Raises InvalidInput as `line_of` does."""
    rest = map(line_of, lines)
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
