"""Spaces: named pairs of graph and index filled from one log; where they lie, which one is current, the switch."""

import os
import shutil
from pathlib import Path

from beliefmesh.folder import Folder
from beliefmesh.settings import Settings
from schemas.errors import InvalidInput, InvalidSetting
from schemas.limits import check_bank, shown
from stores.durable import keep_names

FIRST = ""
"""The space that a new folder begins with; it has no name."""

_POINTER = "space"
_SPACES = "spaces"
_UNFINISHED = "unfinished"
_PLACES = ("graph.db", "index", "jobs.db", "archive")


def check_space(name: object, field: str) -> str:
    """Accept a space's name, which is shaped like a bank's. Raises InvalidInput."""
    try:
        return check_bank(name)
    except InvalidInput as error:
        allowed = error.problem.partition("; ")[2]
        raise InvalidInput(field, f"{shown(name)} is not the name of a space; {allowed}") from error


def current_space(settings: Settings, folder: Folder) -> str:
    """The space that the settings name, else the one that the folder was switched to, else the first.

    Raises InvalidSetting for a name that cannot be one, and where the folder names a space that is not there.
    """
    if settings.streams.space:
        return _checked(settings.streams.space, "streams.space")
    pointer = folder.path / _POINTER
    try:
        told = pointer.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return FIRST
    except OSError as error:
        raise InvalidSetting(f"{pointer}: cannot be read: {error.strerror}") from error
    name = _checked(told, str(pointer)) if told else FIRST
    if not place_of(folder, name).is_dir():
        raise InvalidSetting(f"{pointer}: names the space {name}, which is gone; write the name of one in {_SPACES}/")
    return name


def place_of(folder: Folder, space: str) -> Path:
    """The folder in which a space's embedded stores lie."""
    return folder.path / _SPACES / space if space else folder.path


def url_in(folder: Folder, space: str, scheme: str, name: str) -> str:
    """The URL of a store of a space that lies in the folder."""
    return folder.url(scheme, f"{_SPACES}/{space}/{name}" if space else name)


def begin(folder: Folder, space: str) -> None:
    """Make an empty place for a space; what an interrupted rebuild left there is removed first.

    It is not filled further: what was forgotten since would stay in it. Raises InvalidInput for one that is complete.
    """
    place = place_of(folder, space)
    if place.is_dir() and any(place.iterdir()) and not (place / _UNFINISHED).exists():
        raise InvalidInput("into", f"the space {space} is complete; take another name, or delete {place} first")
    if place.is_dir():
        # The mark goes last, so that a removal that is interrupted can be gone on with.
        for left in [left for left in place.iterdir() if left.name != _UNFINISHED]:
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    place.mkdir(parents=True, exist_ok=True)
    (place / _UNFINISHED).touch()


def switch(folder: Folder, space: str) -> None:
    """Make a filled space the current one: durable on return, and at every moment either the old or the new one is."""
    pointer = folder.path / _POINTER
    coming = pointer.with_name(f"{_POINTER}.new")
    for place in (place_of(folder, space), folder.path / _SPACES):
        keep_names(place)
    with coming.open("w", encoding="utf-8") as file:
        file.write(f"{space}\n")
        file.flush()
        os.fsync(file.fileno())
    coming.replace(pointer)
    keep_names(folder.path)
    complete(folder, space)


def complete(folder: Folder, space: str) -> None:
    """Note that a space is filled, so that no later rebuild clears it."""
    (place_of(folder, space) / _UNFINISHED).unlink(missing_ok=True)


def removable(folder: Folder, space: str) -> list[str]:
    """What may be deleted once nobody wants to go back to a space: its folder, or the first one's files."""
    if space:
        return [str(place_of(folder, space))]
    return [str(folder.path / name) for name in _PLACES if (folder.path / name).exists()]


def _checked(name: str, where: str) -> str:
    try:
        return check_space(name, where)
    except InvalidInput as error:
        raise InvalidSetting(str(error)) from error
