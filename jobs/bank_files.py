"""What jobs keep of each bank: one JSON file a bank in a folder, replaced as a whole."""

import os
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import structlog

from schemas.errors import StoreUnavailable
from schemas.limits import check_bank

Kept = TypeVar("Kept", bound=msgspec.Struct)

log_events = structlog.get_logger("jobs")


class BankFiles(Generic[Kept]):
    """The files of a folder, by bank, each with one struct of a kind."""

    def __init__(self, folder: Path, kind: type[Kept]) -> None:
        self._folder = folder
        self._kind = kind

    def read(self, bank: str) -> Kept | None:
        """What is kept of the bank; None where there is nothing, or nothing that can be read."""
        try:
            return msgspec.json.decode(self._path(bank).read_bytes(), type=self._kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            log_events.warning("file.unreadable", kind=self._kind.__name__, bank=bank, reason=str(error))
            return None

    def write(self, bank: str, kept: Kept) -> None:
        """Keep it in place of the former one."""
        path = self._path(bank)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(path.name + ".new")
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(kept)))
            os.replace(draft, path)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be written: {error}") from error

    def drop(self, bank: str) -> None:
        """Keep nothing of the bank."""
        path = self._path(bank)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be removed: {error}") from error

    def _path(self, bank: str) -> Path:
        return self._folder / f"{check_bank(bank)}.json"
