"""Dead letters as plain data for JSON: the original as text where it is text, else in base64."""

import base64
from typing import Any

import msgspec

from schemas.dead_letter import DeadLetter
from schemas.instant import format_instant


class Letters(msgspec.Struct, frozen=True):
    """A list of dead letters, as it travels."""

    letters: tuple[DeadLetter, ...]


def letter_to_builtins(letter: DeadLetter) -> dict[str, Any]:
    """One dead letter; `original` is null where the bytes are no text, and `original_base64` has them all."""
    plain = {name: getattr(letter, name) for name in letter.__struct_fields__}
    return plain | {
        "at": format_instant(letter.at),
        "original": original_text(letter),
        "original_base64": base64.b64encode(letter.original).decode("ascii"),
    }


def original_text(letter: DeadLetter) -> str | None:
    """The original as text, if it is text."""
    try:
        return letter.original.decode("utf-8")
    except UnicodeDecodeError:
        return None
