"""A dead letter of a source, read once more: after the source, or this release, has learned to read it."""

import io
from pathlib import Path

from schemas.dead_letter import DeadLetter
from schemas.errors import InvalidInput, NotFound
from schemas.instant import Instant
from schemas.intake import observation_from
from schemas.observation import Observation
from streams.sources.registry import open_source
from streams.sources.told import KEPT_BYTES, Refused, Told

_OWN_FOLDER = "sources"


def own_sources(folder: str) -> Path:
    """Where an operator's own sources lie in the folder of a mesh, so that they have a name."""
    return Path(folder) / _OWN_FOLDER


def read_again(letter: DeadLetter, own: Path, bank: str, now: Instant, skew: Instant) -> list[Observation]:
    """The observations of a line or document that was set aside; `own` is the folder of an operator's sources.

    Raises InvalidInput, with the reason, for what still cannot be read.
    """
    name = letter.headers.get("source", "")
    if not letter.original or len(letter.original) >= KEPT_BYTES:
        raise InvalidInput("original", "is not kept whole; import the file again")
    try:
        source = open_source(name, own)
    except NotFound as error:
        raise InvalidInput(
            "source", f"{error}; a source that was given as a file is replayed by importing again"
        ) from error
    readings = list(source.read(io.BytesIO(letter.original), letter.headers.get("file", ""), now, now + skew))
    for each in readings:
        if isinstance(each, Refused):
            raise InvalidInput("original", f"still cannot be read: {each.reason}")
    told = [each for each in readings if isinstance(each, Told)]
    if not told:
        raise InvalidInput("original", f"says nothing that {name!r} takes; drop the letter")
    return [observation_from(each.fields, bank=bank, now=now, skew=skew) for each in told]
