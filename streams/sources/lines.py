"""Lines of a file, however long and in whatever encoding: bounded, counted, and read as UTF-8 or else Latin-1."""

import gzip
import io
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple, cast

from schemas.errors import InvalidInput

_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_GZIP = b"\x1f\x8b"
_NUL = "\x00"
_NUL_SHOWN = "␀"


class Line(NamedTuple):
    """One line without its end. `size` is its whole length; `data` holds less of it where it is over the limit."""

    number: int
    data: bytes
    size: int


def lines_of(stream: IO[bytes], limit: int) -> Iterator[Line]:
    """Every line that is not blank, in order, unpacking gzip. Never holds more than `limit` bytes of one.

    Raises InvalidInput after the last good line where a packed file is not whole, and at once for UTF-16.
    """
    head = stream.read(2)
    whole = cast(IO[bytes], _Rest(head, stream))
    if head == _GZIP:
        try:
            with gzip.GzipFile(fileobj=whole) as unpacked:
                yield from _split(io.BufferedReader(_Unpacked(unpacked)), limit)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidInput("file", f"is not whole gzip ({error}); what came before was read") from error
        return
    if head in _WIDE:
        raise InvalidInput("file", "is UTF-16; convert it to UTF-8, as with iconv")
    yield from _split(whole, limit)


def text_of(data: bytes) -> str:
    """The text of bytes: UTF-8, or Latin-1 where it is not; NUL, which no store keeps, is shown as a sign."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace(_NUL, _NUL_SHOWN) if _NUL in text else text


def _split(stream: IO[bytes], limit: int) -> Iterator[Line]:
    number = 0
    while data := stream.readline(limit + 1):
        number += 1
        size = len(data)
        if size > limit and not data.endswith(b"\n"):
            while rest := stream.readline(limit):
                size += len(rest)
                if rest.endswith(b"\n"):
                    break
        if number == 1:
            data = data.removeprefix(_BOM)
        data = data.rstrip(b"\r\n")
        if data.strip():
            yield Line(number, data[:limit], size)


class _Unpacked(io.RawIOBase):
    """What is unpacked, to be read through a buffer, and by `read1`, so that what stands before a cut is not lost."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Rest:
    """A stream with the bytes put back that were looked at."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._stream.read(size)
        head, self._head = self._head, b""
        return head + self._stream.read(size if size < 0 else max(size - len(head), 0))

    def readline(self, size: int) -> bytes:
        if not self._head:
            return self._stream.readline(size)
        first, end, rest = self._head.partition(b"\n")
        self._head = rest
        return first + end if end else first + self._stream.readline(size - len(first))
