"""What the job of merge proposals keeps of a bank."""

import msgspec

from beliefs.likeness import Proposal
from schemas.instant import Instant


class Proposed(msgspec.Struct, frozen=True):
    """Pairs of entities that may be one, the likeliest first, with the least score asked for, and when they were found.

    They are of what the whole bank may see.
    """

    at: Instant
    at_least: float
    proposals: tuple[Proposal, ...]
