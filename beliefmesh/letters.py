"""Dead letters at the front door: of lines that cannot be read, and as plain data for JSON."""

import base64
from typing import Any

import msgspec

from schemas.dead_letter import DeadLetter
from schemas.errors import InvalidInput
from schemas.identity import digest
from schemas.instant import Instant, format_instant


class Letters(msgspec.Struct, frozen=True):
    """A list of dead letters, as it travels; `next` is the place to go on from, if there may be more."""

    letters: tuple[DeadLetter, ...]
    next: str = ""


def unreadable(line: bytes, bank: str, error: InvalidInput, now: Instant) -> DeadLetter:
    """A line of an import that is no observation, set aside."""
    id = "d" + digest("intake", bank, line.hex())
    return DeadLetter(
        id=id, stage="intake", error=error.code, reason=str(error), at=now, original=line, headers={"bank": bank}
    )


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
