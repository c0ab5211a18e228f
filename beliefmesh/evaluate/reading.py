"""Reads data files, packed or not; what cannot be read is an error that names the option and the file."""

import gzip
from pathlib import Path
from typing import TypeVar

import msgspec

from schemas.errors import InvalidInput

Kind = TypeVar("Kind")


def read_bytes(path: Path, option: str) -> bytes:
    """All of a file, unpacked if it ends in .gz. Raises InvalidInput naming the option."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, ValueError) as error:
        reason = type(error).__name__
        raise InvalidInput(option, f"cannot read {path.name} ({reason}); name a readable file") from error


def read_lines(path: Path, option: str) -> list[str]:
    """The lines of a text file without their ends; bytes that are not UTF-8 become U+FFFD."""
    return read_bytes(path, option).decode("utf-8", "replace").splitlines()


def read_json(path: Path, option: str, kind: type[Kind]) -> Kind:
    """A JSON file as a type."""
    return decode(read_bytes(path, option), f"{option}: {path.name}", kind)


def read_json_lines(path: Path, option: str, kind: type[Kind]) -> list[Kind]:
    """A file of one JSON value a line; empty lines do not count."""
    lines = enumerate(read_bytes(path, option).splitlines(), 1)
    return [decode(line, f"{option}: {path.name} line {number}", kind) for number, line in lines if line.strip()]


def decode(data: bytes, place: str, kind: type[Kind]) -> Kind:
    """JSON as a type. Raises InvalidInput naming the place."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidInput(place, f"is not what this evaluation reads ({error})") from error


def files_in(folder: Path, pattern: str, option: str) -> list[Path]:
    """The files of a folder that match, sorted by name. Raises InvalidInput if there are none."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise InvalidInput(option, f"holds no file {pattern}; name the folder of the data")
    return found
