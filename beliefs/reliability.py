"""How far a source is to be trusted: weights learned from answers that were verified (design 3.8).

Of an origin that was right r times in n on an attribute, R times in N on all attributes:

    share(origin)            = (R + 2) / (N + 3)                           the prior is 2 right to 1 wrong
    share(origin, attribute) = (r + 3 * share(origin)) / (n + 3)
    weight                   = temperature(attribute) * log(share / (1 - share)) ** 3

An origin without any outcome has the share of the prior. Attributes on which nothing was verified keep the scale of
1.0 for what is unknown: there an origin weighs log(share / (1 - share)) / log(2), and at most the bound.

The log-odds of a source being right are its weight if sources err independently of each other (Nitzan and Paroush,
1982). They do not: many copy, and then agreement is cheap. So the log-odds are sharpened, by a power that was chosen
by cross-validation, and a temperature for each attribute brings the sums back to how often they are right (Platt,
1999; the sums are of sources that were weighed without the answer at hand).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from beliefs.confidence import sigmoid
from schemas.identity import normal_name
from schemas.policy import Reliability, Trust

PRIOR = (2.0, 1.0)
"""Right and wrong answers that every source is taken to have given already."""

ANY = "*"
LEAST, MOST = 0.02, 20.0
"""Bounds of a weight: even a source that mostly errs is heard where nobody else speaks."""

NOTHING_KNOWN = Reliability(ANY, ANY, 1.0)

_SHARPNESS = 3
_FAINT = 0.02
_FOLDS = 5
_NEUTRAL = 0.1
_PULL, _STEADY = 0.2, 0.6
_TEMPERATURES = tuple([math.pow(2.0, step / 4) for step in range(-32, 17)])

Strength = Callable[[str, str], float]
"""The weight of an origin on an attribute, before the temperature."""


class Saying(msgspec.Struct, frozen=True):
    """What one origin said to a question: its value's key, whether it is right (None: unknown), and its mass."""

    origin: str
    key: str
    right: bool | None
    mass: float = 1.0


class Verified(msgspec.Struct, frozen=True):
    """A question whose answer was verified; `id` names it, and `attribute` is normalised."""

    id: str
    attribute: str
    sayings: tuple[Saying, ...]


class Tally:
    """How often each origin was right, on each attribute and on all."""

    def __init__(self, verified: Iterable[Verified], prior: tuple[float, float] = PRIOR) -> None:
        self.right: Counter[tuple[str, str]] = Counter()
        self.total: Counter[tuple[str, str]] = Counter()
        self._prior_right, self._prior_total = prior[0], prior[0] + prior[1]
        for question in verified:
            for one in question.sayings:
                if one.right is not None:
                    for place in _places(one.origin, question.attribute):
                        self.right[place] += one.right
                        self.total[place] += 1

    def share(self, origin: str, attribute: str) -> float:
        """How often the origin is right on the attribute, as far as the prior lets the counts say so."""
        wide = (origin, ANY)
        share = (self.right[wide] + self._prior_right) / (self.total[wide] + self._prior_total)
        if attribute == ANY:
            return share
        narrow = (origin, attribute)
        return (self.right[narrow] + self._prior_total * share) / (self.total[narrow] + self._prior_total)

    def strength(self, origin: str, attribute: str) -> float:
        """The sharpened log-odds of the origin being right; it never falls when the origin is right once more."""
        share = self.share(origin, attribute)
        return math.pow(max(math.log(share / (1.0 - share)), _FAINT), _SHARPNESS)


def learn(verified: Sequence[Verified], version: int = 1, prior: tuple[float, float] = PRIOR) -> Trust:
    """What verified answers teach; a function of their set, whatever their order."""
    tally = Tally(verified, prior)
    temperatures = fit_temperatures(verified, prior)
    unknown = Tally((), prior).strength(ANY, ANY)
    weights = [
        Reliability(ANY, attribute, _bounded(temperature * unknown))
        for attribute, temperature in sorted(temperatures.items())
    ]
    for origin, attribute in sorted(tally.total):
        strength = tally.strength(origin, attribute)
        if attribute == ANY:
            weight = math.pow(strength / unknown, 1 / _SHARPNESS)
        else:
            weight = temperatures[attribute] * strength
        weights.append(Reliability(origin, attribute, _bounded(weight), tally.total[origin, attribute]))
    return Trust(version=version, outcomes=len(verified), weights=tuple(weights))


def by_place(trust: Trust) -> dict[tuple[str, str], Reliability]:
    """What was learned, by origin and normalised attribute."""
    return {(one.origin, normal_name(one.attribute)): one for one in trust.weights}


def weight_from(learned: Mapping[tuple[str, str], Reliability], origin: str, attribute: str) -> Reliability:
    """The weight of an origin on an attribute; without an outcome there, from what is known of either for itself."""
    exact = learned.get((origin, attribute))
    if exact is not None:
        return exact
    wide, among = learned.get((origin, ANY)), learned.get((ANY, attribute))
    if wide is None or among is None:
        return wide or among or NOTHING_KNOWN
    return Reliability(origin, ANY, _bounded(among.weight * wide.weight**_SHARPNESS), wide.outcomes)


def fit_temperatures(verified: Iterable[Verified], prior: tuple[float, float] = PRIOR) -> dict[str, float]:
    """By attribute, the factor at which the confidence in the leading value is right as often as it says.

    Each question is answered by what the other folds taught. Attributes with few questions stay near all others'.
    """
    ordered = sorted(verified, key=lambda question: question.id)
    margins: dict[str, list[tuple[float, bool]]] = {question.attribute: [] for question in ordered}
    for fold in range(_FOLDS):
        others = Tally((question for place, question in enumerate(ordered) if place % _FOLDS != fold), prior)
        for question in ordered[fold::_FOLDS]:
            found = margin(question, others.strength)
            if found is not None:
                margins[question.attribute].append(found)
    everything = [found for members in margins.values() for found in members]
    common = _fit(everything, _NEUTRAL, _PULL)
    return {attribute: _fit(members, common, _STEADY) for attribute, members in margins.items()}


def margin(question: Verified, strength: Strength) -> tuple[float, bool] | None:
    """How far the leading value is ahead of all others together, and whether it is right; None where unknown."""
    known = [one for one in question.sayings if one.right is not None]
    if not known or len(known) < len(question.sayings):
        return None
    parts: dict[str, list[float]] = defaultdict(list)
    right: dict[str, int] = defaultdict(int)
    for one in known:
        parts[one.key].append(one.mass * strength(one.origin, question.attribute))
        right[one.key] += 1 if one.right else -1
    sums = {key: math.fsum(members) for key, members in parts.items()}
    leader = max(sums, key=lambda key: (sums[key], key))
    return 2 * sums[leader] - math.fsum(sums.values()), right[leader] > 0


def brier(judged: Sequence[tuple[float, bool]]) -> float:
    """The mean square of confidence minus outcome (Brier, 1950); 0 is perfect."""
    return math.fsum((sure - right) ** 2 for sure, right in judged) / max(len(judged), 1)


def calibration_error(judged: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """The expected calibration error: how far confidence is from the share right, in bins of equal width."""
    groups: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for sure, right in judged:
        groups[min(int(sure * bins), bins - 1)].append((sure, right))
    gaps = (abs(math.fsum(sure - right for sure, right in members)) for members in groups.values())
    return math.fsum(gaps) / max(len(judged), 1)


def _places(origin: str, attribute: str) -> tuple[tuple[str, str], ...]:
    return (origin, attribute), (origin, ANY)


def _bounded(weight: float) -> float:
    return min(max(weight, LEAST), MOST)


def _fit(margins: Sequence[tuple[float, bool]], near: float, pull: float) -> float:
    """The temperature of least Brier score; `pull` holds it near another where there is little to learn from.

    The log loss would let a few sure errors decide alone.
    """

    def loss(temperature: float) -> float:
        missed = math.fsum((sigmoid(temperature * ahead) - right) ** 2 for ahead, right in margins)
        return missed + pull * math.pow(math.log(temperature / near), 2)

    return min(_TEMPERATURES, key=loss)
