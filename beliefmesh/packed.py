"""Lines plain or packed with gzip or zstd: in files, as their names say, and as they travel."""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast

from schemas.errors import InvalidInput
from stores.zstd import zstandard, zstd_is_installed

Packing = Literal["", "gzip", "zstd"]

_ENDINGS: dict[str, Packing] = {".zst": "zstd", ".gz": "gzip"}
_GZIP_BITS = 31
"""For zlib: the largest window, within a gzip header and trailer."""


def packings() -> tuple[Packing, ...]:
    """What this installation can pack and unpack, the best first."""
    return ("zstd", "gzip") if zstd_is_installed() else ("gzip",)


def unpacked(raw: IO[bytes], name: str) -> Iterator[bytes]:
    """The lines of an open file. Raises InvalidInput for one that is cut off or not packed as its name says."""
    with unpacking(raw, _packing_of(name), name) as stream:
        yield from stream


@contextmanager
def unpacking(raw: IO[bytes], packing: Packing, name: str, field: str = "file") -> Iterator[IO[bytes]]:
    """What packed bytes hold, to be read. Raises InvalidInput where they are not whole, or not packed like that."""
    if not packing:
        yield raw
    elif packing == "gzip":
        try:
            with gzip.open(raw) as stream:
                yield cast(IO[bytes], stream)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidInput(field, f"{name} is not whole gzip ({error})") from error
    else:
        with _zstd_read(raw, name, field) as stream:
            yield stream


def packed(chunks: Iterable[bytes], packing: Packing) -> Iterator[bytes]:
    """Bytes, packed as they come. Raises MissingExtra for zstd."""
    if not packing:
        yield from chunks
        return
    packer = zstandard().ZstdCompressor().compressobj() if packing == "zstd" else zlib.compressobj(wbits=_GZIP_BITS)
    for chunk in chunks:
        if ready := packer.compress(chunk):
            yield ready
    yield packer.flush()


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


def _packing_of(name: str) -> Packing:
    return next((packing for ending, packing in _ENDINGS.items() if name.endswith(ending)), "")


def _packer(raw: IO[bytes], name: str) -> IO[bytes]:
    chosen = _packing_of(name)
    if chosen == "zstd":
        writer: IO[bytes] = zstandard().ZstdCompressor().stream_writer(raw, closefd=False)
        return writer
    if chosen == "gzip":
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


@contextmanager
def _zstd_read(raw: IO[bytes], name: str, field: str) -> Iterator[IO[bytes]]:
    if not zstd_is_installed():
        raise InvalidInput(field, f"{name} is packed with zstd; install beliefmesh[zstd], or unpack it with zstd -d")
    package = zstandard()
    try:
        with package.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False) as stream:
            yield cast(IO[bytes], io.BufferedReader(stream))
    except package.ZstdError as error:
        raise InvalidInput(field, f"{name} is not whole zstd ({error})") from error
