"""How evidence stands on NebulaGraph: whole in its own row, or as a voice whose digest has a row for what all share."""

from collections.abc import Iterable

import msgspec

from schemas.digest import Own, is_voice, own, shared
from schemas.evidence import Evidence
from stores.nebula.rows import Plain, read, written
from stores.nebula.vid import vid


class VoiceBody(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a voice's row holds; an array, where that of a whole piece is an object."""

    digest: str
    own: Own


def body_of(piece: Evidence) -> str:
    """The text of a piece's row. Raises InvalidInput for text that cannot be kept."""
    return written(VoiceBody(piece.digest, own(piece)) if is_voice(piece) else piece)


def digest_bodies(evidence: Iterable[Evidence]) -> dict[str, str]:
    """The text of the row of each digest that these pieces are voices of, by its vid."""
    return {vid(piece.bank, piece.digest): written(shared(piece)) for piece in evidence if is_voice(piece)}


def voice_in(body: Plain) -> VoiceBody | None:
    """The voice that a row holds; None where it holds a whole piece, or is gone."""
    return read(body, VoiceBody) if body is not None and str(body).startswith("[") else None
