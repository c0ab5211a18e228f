"""How surely a belief is held: masses that decay, log-odds, and the logistic function (design 3.3).

    confidence(b, now) = sigmoid( base + S(b, now) - R(b, now) )

S and R are sums of masses. A mass stands for all evidence of one half-life class: since decay is exponential,
their sum at any time follows from their sum at one time, so confidence never needs the evidence again.
"""

import math
from collections.abc import Sequence

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
    left: float = 2.0 ** (-age / half_life)
    return left


def amount(mass: Mass, now: Instant) -> float:
    """What a mass weighs now."""
    until = mass.until
    if until is not None and until <= now:
        return 0.0
    return mass.amount * decay(now - mass.as_of, mass.half_life)


def total(masses: Sequence[Mass], now: Instant) -> float:
    """The exact sum of masses now; it does not depend on their order."""
    if not masses:
        return 0.0
    if len(masses) == 1:
        return amount(masses[0], now)
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
    """How surely the belief is held now: an opinion as folded, any other strictly between 0 and 1."""
    if belief.opinion is not None:
        return belief.opinion
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


def gather(weights: Sequence[tuple[float, Instant, int | None, Instant | None]], now: Instant) -> tuple[Mass, ...]:
    """Sum (weight, time, half-life, until) to one mass a class, as of the newest time in it.

    A time after `now` (a clock ahead of ours) makes a class of its own, since its decay stands still until then.
    What weighs nothing leaves no mass.
    """
    if len(weights) < 2:
        return tuple([Mass(*one) for one in weights if one[0] != 0.0])
    amounts, times, half_lives, untils = zip(*weights, strict=True)
    alike = half_lives.count(half_lives[0]) == untils.count(untils[0]) == len(weights)
    if alike and max(times) <= now and 0.0 not in amounts:
        return (_sum(tuple(zip(amounts, times, strict=True)), half_lives[0], untils[0]),)
    classes: dict[tuple[int | None, Instant | None, Instant], list[tuple[float, Instant]]] = {}
    for weight, at, half_life, until in weights:
        if weight == 0.0:
            continue
        ahead = at if half_life is not None and at > now else 0
        kind = (half_life, until, ahead)
        members = classes.get(kind)
        if members is None:
            classes[kind] = [(weight, at)]
        else:
            members.append((weight, at))
    masses = [_sum(members, half_life, until) for (half_life, until, _), members in classes.items()]
    if len(masses) > 1:
        masses.sort(key=_class_order)
    return tuple(masses)


def _sum(members: Sequence[tuple[float, Instant]], half_life: int | None, until: Instant | None) -> Mass:
    """What (weight, time) pairs of one class weigh together, exactly summed, at the newest time among them."""
    newest = max([at for _, at in members])
    if half_life is None:
        return Mass(math.fsum([weight for weight, _ in members]), newest, half_life, until)
    # `decay` written out, since no age here is below 0.
    parts = [weight * 2.0 ** ((at - newest) / half_life) for weight, at in members]
    return Mass(math.fsum(parts), newest, half_life, until)


def _last_within_reach(mass: Mass, now: Instant) -> Instant:
    return now if mass.half_life is None else mass.as_of + _REACH * mass.half_life


def _class_order(mass: Mass) -> tuple[int, bool, int, Instant]:
    return (mass.half_life or 0, mass.until is None, mass.until or 0, mass.as_of)
