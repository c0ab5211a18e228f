"""A piece of evidence as an archive keeps it, with what stands for it meanwhile."""

import msgspec

from schemas.evidence import Evidence
from schemas.instant import Instant


class Archived(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Evidence that left its slot and can be brought back.

    `stands` is the piece that says the same: from its effective time on (`until`), as known from when the log accepted
    it (`known_until`), the slot is the same without this one. Empty where all of the slot left. Of a piece that stays
    as a voice of a digest only the words left: the piece that `stands` has its own, and the slot is the same always.
    """

    evidence: Evidence
    stands: str = ""
    until: Instant | None = None
    known_until: Instant | None = None


def archived(piece: Evidence, standing: Evidence | None = None) -> Archived:
    """The piece, to be archived while another one stands for it."""
    if standing is None:
        return Archived(evidence=piece)
    return Archived(evidence=piece, stands=standing.id, until=standing.effective_at, known_until=standing.ingested_at)


def words_of(piece: Evidence, standing: Evidence) -> Archived:
    """The piece with its words, to be archived while it stays as a voice of a digest for which another one speaks."""
    return Archived(evidence=piece, stands=standing.id, until=piece.effective_at, known_until=piece.ingested_at)
