"""Files of lines, plain or packed with gzip or zstd, as their names say."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from schemas.errors import InvalidInput
from schemas.extras import is_installed, load_with

_ZSTD, _GZIP = ".zst", ".gz"


def unpacked(raw: IO[bytes], name: str) -> Iterator[bytes]:
    """The lines of an open file. Raises InvalidInput for one that is cut off or not packed as its name says."""
    if name.endswith(_ZSTD):
        yield from _zstd_lines(raw, name)
    elif not name.endswith(_GZIP):
        yield from raw
    else:
        try:
            with gzip.open(raw) as lines:
                yield from lines
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidInput("file", f"{name} is not whole gzip ({error})") from error


@contextmanager
def packing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its name only once all of it is there. Raises MissingExtra for zstd."""
    coming = path.with_name(f".{path.name}.new")
    try:
        with coming.open("wb") as raw, _packer(raw, path.name) as file:
            yield file
        coming.replace(path)
    finally:
        coming.unlink(missing_ok=True)


def _packer(raw: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(_ZSTD):
        writer: IO[bytes] = _zstandard().ZstdCompressor().stream_writer(raw, closefd=False)
        return writer
    if name.endswith(_GZIP):
        return cast(IO[bytes], gzip.open(raw, "wb"))
    return io.BufferedWriter(_Open(raw))


class _Open(io.RawIOBase):
    """Writes through to a file and leaves it open, as the packers do."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)


def _zstd_lines(raw: IO[bytes], name: str) -> Iterator[bytes]:
    if not is_installed("zstandard"):
        raise InvalidInput("file", f"{name} is packed with zstd; install beliefmesh[zstd], or unpack it with zstd -d")
    zstandard = _zstandard()
    try:
        with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False) as stream:
            yield from io.BufferedReader(stream)
    except zstandard.ZstdError as error:
        raise InvalidInput("file", f"{name} is not whole zstd ({error})") from error


def _zstandard() -> Any:
    return load_with("zstandard", "zstandard", "zstandard", "zstd")
