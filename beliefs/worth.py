"""What a memory is worth keeping for, from its features alone (design 10); the worked example is in docs/forgetting.md.

    value = birth * (LASTING + (1 - LASTING) * 2 ** (-age / FADING))
            + RECALLED * log2(1 + recalled) + USEFUL * log2(1 + useful) - WRONG * log2(1 + wrong)
            + LINKED * log2(1 + degree)
    birth = kind + tier + network + AUTHORITY * min(rank, 3) / 3
            + INFORMATION * information + SURPRISE * surprise + GOALS * relevance          (0 to 10)

A pinned memory is worth more than any that is not. The weights are judgements, not fitted to any data set.
"""

import math
from collections.abc import Mapping

import msgspec

from beliefs.confidence import decay
from schemas.claim import Kind, Network, Tier
from schemas.instant import DAY, Instant

KINDS: Mapping[Kind, float] = {"instruction": 1.5, "derivation": 0.5, "observation": 0.5}
TIERS: Mapping[Tier, float] = {"low": 0.0, "medium": 0.5, "high": 1.5}
NETWORKS: Mapping[Network, float] = {"world": 0.5, "experience": 0.5, "observation": 0.25, "opinion": 0.0}
AUTHORITY = 0.5
INFORMATION = 3.0
SURPRISE = 1.5
GOALS = 1.5
LASTING = 0.75
FADING: Instant = 180 * DAY
RECALLED = 0.1
USEFUL = 1.5
WRONG = 1.5
LINKED = 0.1

_HIGHEST_RANK = 3


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """All that the value of a memory depends on; `information`, `surprise` and `relevance` lie in 0 to 1.

    `age` in microseconds since its newest support. `recalled`, `useful` and `wrong` count recalls and verdicts;
    `degree` counts its edges to other memories.
    """

    kind: Kind = "observation"
    tier: Tier = "medium"
    network: Network = "world"
    rank: int = 0
    information: float = 0.5
    surprise: float = 0.0
    relevance: float = 0.0
    age: Instant = 0
    recalled: int = 0
    useful: int = 0
    wrong: int = 0
    degree: int = 0
    pinned: bool = False


def value(features: Features) -> float:
    """What the memory is worth; infinite if pinned."""
    return math.inf if features.pinned else math.fsum(terms(features).values())


def birth(features: Features) -> float:
    """Its importance when it was told, 0 to 10."""
    return math.fsum(_birth_terms(features).values())


def terms(features: Features) -> dict[str, float]:
    """Every summand of the value by name; being pinned, which goes before all, is none."""
    share = LASTING + (1 - LASTING) * decay(features.age, FADING)
    return {
        **{name: term * share for name, term in _birth_terms(features).items()},
        "recalled": RECALLED * math.log2(1 + features.recalled),
        "useful": USEFUL * math.log2(1 + features.useful),
        "wrong": -WRONG * math.log2(1 + features.wrong),
        "links": LINKED * math.log2(1 + features.degree),
    }


def _birth_terms(features: Features) -> dict[str, float]:
    return {
        "kind": KINDS[features.kind],
        "tier": TIERS[features.tier],
        "network": NETWORKS[features.network],
        "authority": AUTHORITY * max(0, min(features.rank, _HIGHEST_RANK)) / _HIGHEST_RANK,
        "information": INFORMATION * features.information,
        "surprise": SURPRISE * features.surprise,
        "goals": GOALS * features.relevance,
    }
