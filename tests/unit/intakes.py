"""What producers write to one bank at one time, taken or refused."""

import pytest

from schemas.errors import InvalidInput
from schemas.instant import parse_instant
from schemas.intake import observation_from
from schemas.observation import Observation

NOW = parse_instant("2024-06-10T12:00:00Z", "now")
SHIPPING = {"entity": "shop policy", "attribute": "free shipping threshold", "value": 200}


def taken(data: object, now: int = NOW) -> Observation:
    """The observation that the bank `shop` makes of what a producer wrote."""
    return observation_from(data, bank="shop", now=now)  # type: ignore[arg-type]


def refusal(data: object) -> InvalidInput:
    """The error that a producer gets for it."""
    with pytest.raises(InvalidInput) as caught:
        taken(data)
    return caught.value
