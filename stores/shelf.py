"""Where the files of the archive lie: a folder here, or whatever a URL of fsspec names; and how they are packed."""

import gzip
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Literal

from schemas.errors import StoreUnavailable
from schemas.extras import load_with
from stores.durable import keep_names
from stores.zstd import zstandard, zstd_is_installed

Packing = Literal["auto", "gzip", "zstd"]

GZIP, ZSTD = ".jsonl.gz", ".jsonl.zst"
_GZIP_LEVEL, _ZSTD_LEVEL = 6, 10
_FILE = "file://"


class Shelf(ABC):
    """Files by bank and name, each there whole or not at all. Raises StoreUnavailable."""

    @abstractmethod
    def write(self, bank: str, name: str, data: bytes) -> None:
        """Keep a file, durable on return; one of the same name is replaced."""

    @abstractmethod
    def read(self, bank: str, name: str) -> bytes:
        """The bytes of a file."""

    @abstractmethod
    def remove(self, bank: str, name: str) -> None:
        """Remove a file, if it is there."""

    @abstractmethod
    def place(self, bank: str, name: str) -> str:
        """Where a file is, for who looks for it."""


class FolderShelf(Shelf):
    """A folder, with one folder a bank."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, bank: str, name: str, data: bytes) -> None:
        """See `Shelf.write`."""
        folder = self._folder / bank
        try:
            folder.mkdir(parents=True, exist_ok=True)
            coming = folder / f"{name}.new"
            with coming.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            coming.replace(folder / name)
            for place in (folder, self._folder, self._folder.parent):
                keep_names(place)
        except OSError as error:
            raise StoreUnavailable(f"the archive {folder} cannot be written ({error})") from error

    def read(self, bank: str, name: str) -> bytes:
        """See `Shelf.read`."""
        try:
            return (self._folder / bank / name).read_bytes()
        except OSError as error:
            raise StoreUnavailable(
                f"the archive {self.place(bank, name)} cannot be read ({error}); put it back from a copy"
            ) from error

    def remove(self, bank: str, name: str) -> None:
        """See `Shelf.remove`; what a kill left half-written under the name goes too."""
        try:
            for path in (self._folder / bank / name, self._folder / bank / f"{name}.new"):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"the archive {self.place(bank, name)} cannot be removed ({error})") from error

    def place(self, bank: str, name: str) -> str:
        """See `Shelf.place`."""
        return str(self._folder / bank / name)


def open_shelf(place: str, space: str = "") -> Shelf:
    """The shelf at a folder, a `file://` URL, or another URL of fsspec, within the space.

    Raises MissingExtra where fsspec, or what it needs for the URL, is not installed, InvalidSetting for an unknown URL.
    """
    if "://" not in place or place.startswith(_FILE):
        return FolderShelf(Path(place.removeprefix(_FILE)) / space)
    url = "/".join(filter(None, (place.rstrip("/"), space)))
    shelf: Shelf = load_with("fsspec", "fsspec", "stores.remote_shelf", "fsspec").RemoteShelf(url)
    return shelf


def suffix_of(packing: Packing) -> str:
    """How names of new files end: zstd where it is installed, unless one is named. Raises MissingExtra."""
    if packing == "zstd":
        zstandard()
    zstd = packing == "zstd" or (packing == "auto" and zstd_is_installed())
    return ZSTD if zstd else GZIP


def packed(data: bytes, name: str) -> bytes:
    """Data as a file of that name holds it; equal data gives equal bytes."""
    if name.endswith(ZSTD):
        whole: bytes = zstandard().ZstdCompressor(level=_ZSTD_LEVEL).compress(data)
        return whole
    return gzip.compress(data, _GZIP_LEVEL, mtime=0)


def unpacked(data: bytes, name: str) -> bytes:
    """What `packed` was given. Raises ValueError for what is damaged, MissingExtra for zstd that is not installed."""
    try:
        if not name.endswith(ZSTD):
            return gzip.decompress(data)
        package = zstandard()
        try:
            whole: bytes = package.ZstdDecompressor().decompress(data)
        except package.ZstdError as error:
            raise ValueError(str(error)) from error
        return whole
    except (OSError, EOFError) as error:
        raise ValueError(str(error)) from error
