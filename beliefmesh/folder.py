"""The folder of an embedded mesh: where its stores lie, and the lock that gives it one owner."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType

from schemas.errors import FolderInUse, InvalidSetting
from schemas.limits import check_text


class Folder:
    """An owned folder; the lock is the operating system's and ends with the process, however it ends."""

    def __init__(self, path: str | Path) -> None:
        check_text(str(path), "mesh.folder", empty=False)
        try:
            self.path = Path(path).resolve()
            self.path.mkdir(parents=True, exist_ok=True)
            self._file = (self.path / "lock").open("a+", encoding="utf-8", errors="replace")
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
            reason = getattr(error, "strerror", None) or error
            raise InvalidSetting(f"mesh.folder: cannot use {path} as a folder: {reason}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            owner = _owner(self._file.read())
            self._file.close()
            address = str(owner.get("address", ""))
            where = f" and serves {address}" if address else ""
            raise FolderInUse(
                f"{self.path} is in use by process {owner.get('pid', 'unknown')}{where}; stop it, or name another one",
                address,
            ) from error
        self.announce("")

    def announce(self, address: str) -> None:
        """Tell others, by the lock file, where the owner serves HTTP."""
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "address": address}, self._file)
        self._file.flush()

    def url(self, scheme: str, name: str) -> str:
        """The URL of a store that lies in this folder."""
        return f"{scheme}:///{self.path / name}"

    def close(self) -> None:
        """Give the folder up."""
        self._file.close()

    def __enter__(self) -> "Folder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _owner(text: str) -> dict[str, object]:
    try:
        owner = json.loads(text)
    except ValueError:
        return {}
    return owner if isinstance(owner, dict) else {}
