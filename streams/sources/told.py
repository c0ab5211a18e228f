"""What a source gives for what it reads: observations as intake takes them, and what it cannot use, with the reason."""

import msgspec

from schemas.errors import InvalidInput

KEPT_BYTES = 65_536
"""Of an original that cannot be used, this much is kept."""


class Told(msgspec.Struct, frozen=True):
    """The fields of one observation, and how many lines (or documents) of the source it accounts for."""

    fields: dict[str, object]
    lines: int = 0


class Refused(msgspec.Struct, frozen=True):
    """Lines (or a document) that cannot be used: the original, the code of the error and the reason."""

    original: bytes
    error: str
    reason: str
    lines: int = 1


class Skipped(msgspec.Struct, frozen=True):
    """A document that the mapping says to pass over."""

    lines: int = 1


Reading = Told | Refused | Skipped


def refused(original: bytes, error: InvalidInput, where: str, lines: int = 1) -> Refused:
    """A refusal whose reason says where; a long original is cut, and the reason says so."""
    reason = f"{where}: {error}"
    if len(original) > KEPT_BYTES:
        reason += f" (of {len(original)} bytes the first {KEPT_BYTES} are kept here)"
    return Refused(original[:KEPT_BYTES], error.code, reason, lines)
