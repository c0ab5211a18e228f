"""How surely a belief is held: masses that decay, log-odds, and the logistic function (design 3.3).

    confidence(b, now) = sigmoid( base + S(b, now) - R(b, now) )

S and R are sums of masses. A mass stands for all evidence of one half-life class: since decay is exponential,
their sum at any time follows from their sum at one time, so confidence never needs the evidence again.
"""

import math
from collections.abc import Iterable, Sequence

from schemas.belief import Belief, Mass
from schemas.instant import Instant

_BELOW_ONE = math.nextafter(1.0, 0.0)
_ABOVE_ZERO = math.nextafter(0.0, 1.0)
_REACH = 900
_FAINT = 2.0**-_REACH
"""After so many half-lives floats begin to run out of exponents."""


def decay(age: Instant, half_life: int | None) -> float:
    """The share that is left at an age: 2 ** (-age / half_life), never above 1; 1 without a half-life."""
    if half_life is None or age <= 0:
        return 1.0
    exponent = age / half_life
    return 2.0**-exponent if exponent < 1100.0 else 0.0


def amount(mass: Mass, now: Instant) -> float:
    """What a mass weighs now."""
    if mass.until is not None and mass.until <= now:
        return 0.0
    if mass.half_life is None:
        return mass.amount
    return mass.amount * decay(now - mass.as_of, mass.half_life)


def total(masses: Sequence[Mass], now: Instant) -> float:
    """The exact sum of masses now; it does not depend on their order."""
    if len(masses) < 2:
        return amount(masses[0], now) if masses else 0.0
    return math.fsum([amount(mass, now) for mass in masses])


def balance(support: Sequence[Mass], refutation: Sequence[Mass], now: Instant) -> float:
    """S - R. What has decayed too far for a float is compared as it last stood within reach, so that the sign stays."""
    if not support:
        return -total(refutation, now)
    weight = total(support, now)
    if weight < _FAINT:
        moment = min(now, max(_last_within_reach(mass, now) for mass in support))
        return total(support, moment) - total(refutation, moment)
    return weight - total(refutation, now)


def log_odds(belief: Belief, now: Instant, base: float = 0.0) -> float:
    """base + S - R of a belief now."""
    return base + total(belief.support, now) - total(belief.refutation, now)


def confidence(belief: Belief, now: Instant, base: float = 0.0) -> float:
    """How surely the belief is held now, strictly between 0 and 1."""
    return sigmoid(log_odds(belief, now, base))


def sigmoid(odds: float) -> float:
    """The logistic function 1 / (1 + e^-x), kept strictly between 0 and 1 where floats would saturate."""
    if odds >= 0:
        return min(1.0 / (1.0 + math.exp(-odds)), _BELOW_ONE)
    if odds < -700.0:
        return _ABOVE_ZERO
    grown = math.exp(odds)
    return grown / (1.0 + grown)


def logit(probability: float) -> float:
    """The inverse of the logistic function, for 0 < probability < 1."""
    return math.log(probability / (1.0 - probability))


def gather(weights: Iterable[tuple[float, Instant, int | None, Instant | None]], now: Instant) -> tuple[Mass, ...]:
    """Sum (weight, time, half-life, until) to one mass a class, as of the newest time in it.

    A time after `now` (a clock ahead of ours) makes a class of its own, since its decay stands still until then.
    What weighs nothing leaves no mass.
    """
    classes: dict[tuple[int | None, Instant | None, Instant], list[tuple[float, Instant]]] = {}
    for weight, at, half_life, until in weights:
        if weight == 0.0:
            continue
        ahead = at if half_life is not None and at > now else 0
        classes.setdefault((half_life, until, ahead), []).append((weight, at))
    masses = []
    for (half_life, until, _), members in classes.items():
        if len(members) == 1:
            masses.append(Mass(members[0][0], members[0][1], half_life, until))
            continue
        newest = max(at for _, at in members)
        summed = math.fsum([weight * decay(newest - at, half_life) for weight, at in members])
        masses.append(Mass(summed, newest, half_life, until))
    if len(masses) > 1:
        masses.sort(key=_class_order)
    return tuple(masses)


def _last_within_reach(mass: Mass, now: Instant) -> Instant:
    return now if mass.half_life is None else mass.as_of + _REACH * mass.half_life


def _class_order(mass: Mass) -> tuple[int, bool, int, Instant]:
    return (mass.half_life or 0, mass.until is None, mass.until or 0, mass.as_of)
