"""Where the learned value of each bank is kept: one JSON file a bank, replaced as a whole."""

import os
from pathlib import Path

import msgspec
import structlog

from schemas.errors import StoreUnavailable
from schemas.limits import check_bank
from schemas.worth import ValueModel

log_events = structlog.get_logger("jobs")


class ValueFiles:
    """The models of a folder, by bank."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, bank: str) -> ValueModel | None:
        """The bank's model; None, so that the heuristic holds, where there is none or it cannot be read."""
        try:
            return msgspec.json.decode(self._path(bank).read_bytes(), type=ValueModel)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            log_events.warning("value.heuristic", bank=bank, reason=str(error))
            return None

    def write(self, bank: str, model: ValueModel) -> None:
        """Keep a model in place of the former one."""
        path = self._path(bank)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(path.name + ".new")
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(model)))
            os.replace(draft, path)
        except OSError as error:
            raise StoreUnavailable(f"the learned value of bank {bank} cannot be written: {error}") from error

    def _path(self, bank: str) -> Path:
        return self._folder / f"{check_bank(bank)}.json"
