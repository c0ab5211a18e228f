"""A tombstone: what was forgotten on request, as digests that tell nothing of what it was."""

import msgspec

from schemas.identity import digest
from schemas.instant import Instant


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """Observations of a bank that were forgotten and stay so, by `grave`."""

    bank: str
    graves: tuple[str, ...]
    at: Instant


def grave(bank: str, observation_id: str) -> str:
    """The digest under which an observation is forgotten."""
    return digest("forgotten", bank, observation_id)
