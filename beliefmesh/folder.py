"""The folder of a mesh: where its stores lie, and the lock that gives it one owner, or sharers of one set of actors."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType

from schemas.errors import FolderInUse, InvalidSetting
from schemas.limits import check_text


class Folder:
    """A folder that this process owns alone, or with `shared` together with others that share the mesh's actors.

    The lock is the operating system's and ends with the process, however it ends. Raises FolderInUse while an owner
    and a sharer, or two owners, would meet.
    """

    def __init__(self, path: str | Path, *, shared: bool = False) -> None:
        check_text(str(path), "mesh.folder", empty=False)
        self._shared = shared
        try:
            self.path = Path(path).resolve()
            self.path.mkdir(parents=True, exist_ok=True)
            self._file = (self.path / "lock").open("a+", encoding="utf-8", errors="replace")
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
            reason = getattr(error, "strerror", None) or error
            raise InvalidSetting(f"mesh.folder: cannot use {path} as a folder: {reason}") from error
        try:
            fcntl.flock(self._file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            owner = _owner(self._file.read())
            self._file.close()
            raise _in_use(self.path, owner) from error
        self._write("")

    def announce(self, address: str) -> None:
        """Tell others, by the lock file, where the owner serves HTTP; of sharers any may, so none is told."""
        if not self._shared:
            self._write(address)

    def url(self, scheme: str, name: str) -> str:
        """The URL of a store that lies in this folder."""
        return f"{scheme}:///{self.path / name}"

    def close(self) -> None:
        """Give the folder up."""
        self._file.close()

    def _write(self, address: str) -> None:
        self._file.seek(0)
        self._file.truncate()
        shared = {"shared": True} if self._shared else {}
        json.dump({"pid": os.getpid(), "address": address, **shared}, self._file)
        self._file.flush()

    def __enter__(self) -> "Folder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _in_use(path: Path, owner: dict[str, object]) -> FolderInUse:
    process = owner.get("pid", "unknown")
    if owner.get("shared"):
        return FolderInUse(
            f"{path} is shared by processes that use the same actors, the last to come was process {process}; "
            "set mesh.address to theirs, or stop them all"
        )
    address = str(owner.get("address", ""))
    where = f" and serves {address}" if address else ""
    return FolderInUse(f"{path} is in use by process {process}{where}; stop it, or name another one", address)


def _owner(text: str) -> dict[str, object]:
    try:
        owner = json.loads(text)
    except ValueError:
        return {}
    return owner if isinstance(owner, dict) else {}
