"""The files of the archive at any URL that fsspec knows, such as `s3://bucket/path`; credentials are fsspec's own."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import fsspec.core

from schemas.errors import InvalidSetting, MissingExtra, StoreUnavailable
from stores.shelf import Shelf

_LOGIN = re.compile(r"//[^/]*@")


class RemoteShelf(Shelf):
    """A file system of fsspec; files are written at once, and looked at again before they count as written."""

    def __init__(self, url: str) -> None:
        self._shown = _LOGIN.sub("//***@", url)
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except ImportError as error:
            raise MissingExtra(f"the archive {self._shown} needs another package beside fsspec: {error}") from error
        except ValueError as error:
            raise InvalidSetting(f"jobs.archive: {self._shown} is no URL that fsspec knows ({error})") from error

    def write(self, bank: str, name: str, data: bytes) -> None:
        """See `Shelf.write`."""
        path = self._path(bank, name)
        with self._errors(bank, name, "written"):
            self._files.makedirs(self._files._parent(path), exist_ok=True)
            self._files.pipe_file(path, data)
            self._files.invalidate_cache()
            size = self._files.size(path)
        if size != len(data):
            raise StoreUnavailable(f"of the archive {self.place(bank, name)} only {size} of {len(data)} bytes arrived")

    def read(self, bank: str, name: str) -> bytes:
        """See `Shelf.read`."""
        with self._errors(bank, name, "read"):
            data: bytes = self._files.cat_file(self._path(bank, name))
        return data

    def remove(self, bank: str, name: str) -> None:
        """See `Shelf.remove`."""
        path = self._path(bank, name)
        with self._errors(bank, name, "removed"):
            self._files.invalidate_cache()
            if self._files.exists(path):
                self._files.rm_file(path)

    def place(self, bank: str, name: str) -> str:
        """See `Shelf.place`; without a password."""
        return f"{self._shown}/{bank}/{name}"

    def _path(self, bank: str, name: str) -> str:
        return f"{self._root.rstrip('/')}/{bank}/{name}"

    @contextmanager
    def _errors(self, bank: str, name: str, done: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # each file system has errors of its own
            raise StoreUnavailable(f"the archive {self.place(bank, name)} cannot be {done} ({error})") from error
