"""JSON documents of a file: one a line, one over many lines, or a list; what is cut off costs no other document."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from schemas.errors import InvalidInput, TooLarge
from streams.sources.lines import Line, text_of
from streams.sources.told import Refused, refused

LIMIT = 268_435_456
"""A document on one line may have this many bytes."""

_OPENS = (b"{", b"[")
_CLOSES = (b"}", b"]")
_SEPARATOR = re.compile(r"[\s,\]]*")
_BRACKETS = "[], \t\r\n"
_DECODER = json.JSONDecoder()


class Document(NamedTuple):
    """One JSON value and the line on which it begins."""

    number: int
    value: object


def documents_of(lines: Iterable[Line], wrappers: Sequence[str]) -> Iterator[Document | Refused]:
    """Every document in order; a list gives its items. `wrappers` name the lists that are saved from a cut wrapper.

    What cannot be read is refused with its line, and reading goes on where the next document begins.
    """
    rest = iter(lines)
    following = next(rest, None)
    while following is not None:
        line, following = following, next(rest, None)
        if line.size > LIMIT:
            yield refused(line.data, TooLarge("line", f"has {line.size} bytes; at most {LIMIT} are read"), _at(line))
            continue
        whole, value = _decoded(line.data)
        if whole:
            yield from _items(line.number, value)
        elif line.data[:1] not in _OPENS:
            yield from _saved([line], ())
        elif following is not None and following.data[:1] in _OPENS and _decoded(following.data)[0]:
            yield from _saved([line], wrappers)
        else:
            yield from _spread([line, *([following] if following else ()), *rest], wrappers)
            return


def _spread(lines: list[Line], wrappers: Sequence[str]) -> Iterator[Document | Refused]:
    """Documents over several lines: the whole of it if it is one, else from each line that may begin one."""
    whole, value = _decoded(b"\n".join(line.data for line in lines))
    if whole:
        yield from _items(lines[0].number, value)
        return
    held: list[Line] = []
    for line in lines:
        if held and line.data[:1] in _OPENS:
            yield from _saved(held, wrappers)
            held = []
        held.append(line)
        if len(held) == 1 or line.data[:1] in _CLOSES:
            whole, value = _decoded(b"\n".join(each.data for each in held))
            if whole:
                yield from _items(held[0].number, value)
                held = []
    if held:
        yield from _saved(held, wrappers)


def _saved(held: Sequence[Line], wrappers: Sequence[str]) -> Iterator[Document | Refused]:
    """The documents that stand complete in one that was cut off, then the refusal of the rest."""
    data = b"\n".join(line.data for line in held)
    text = text_of(data)
    found, place = _run(text, 0)
    if not found:
        inner = _inside(text, wrappers)
        found, place = _run(text, inner) if inner is not None else ([], 0)
    yield from (Document(held[0].number, value) for value in found)
    if text[place:].strip(_BRACKETS):
        yield refused(_from(data, place), _not_json(data), _at(held[0]))


def _from(data: bytes, place: int) -> bytes:
    """The bytes themselves from a character of their text on."""
    try:
        return data.decode()[place:].encode()
    except UnicodeDecodeError:
        return data[place:]  # Latin-1, a byte a character


def _run(text: str, place: int) -> tuple[list[object], int]:
    """The whole documents that stand one after the other from a place on, and where they end."""
    found: list[object] = []
    while True:
        separator = _SEPARATOR.match(text, place)
        start = separator.end() if separator else place
        try:
            value, place = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return found, start
        found.append(value)


def _inside(text: str, wrappers: Sequence[str]) -> int | None:
    """Where the first document of a list begins, if the text holds a list of documents."""
    if text.startswith("["):
        return 1
    found = [re.search(rf'"{re.escape(name)}"\s*:\s*\[', text) for name in wrappers]
    return min((match.end() for match in found if match), default=None)


def _items(number: int, value: object) -> Iterator[Document]:
    for each in value if isinstance(value, list) else (value,):
        yield Document(number, each)


def _decoded(data: bytes) -> tuple[bool, object]:
    try:
        return True, msgspec.json.decode(data)
    except UnicodeError:
        pass
    except (msgspec.DecodeError, RecursionError):
        if data.isascii():
            return False, None
    try:
        return True, msgspec.json.decode(text_of(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False, None


def _not_json(data: bytes) -> InvalidInput:
    try:
        msgspec.json.decode(text_of(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return InvalidInput("document", f"is not whole JSON ({error}); export it again")
    return InvalidInput("document", "is cut off; export it again")


def _at(line: Line) -> str:
    return f"line {line.number}"
