"""When time alone next changes a status (design 3.3): roots of sums of exponentials, then the exact microsecond."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from beliefs.confidence import balance
from beliefs.conflict import Candidate
from beliefs.rulebook import Rulebook
from beliefs.verdict import Verdict, judge
from schemas.belief import Mass
from schemas.instant import Instant

_FAR: Instant = 400 * 365 * 86_400 * 1_000_000
"""Changes more than four hundred years ahead are not looked for."""

_SLACKS = (2, 16)
"""How many microseconds around a computed crossing are tried: floats are seldom off by more than one."""

_LN2 = math.log(2.0)

Wave = dict[float, float]
"""A function of time x from now, in microseconds: sum of coefficient * exp(-rate * x), by rate."""


def next_decay(
    found: Sequence[Candidate], verdicts: Sequence[Verdict], book: Rulebook, now: Instant, until: Instant | None
) -> Instant | None:
    """The first microsecond after `now` and before `until` at which decay changes a verdict; None if none does.

    Verdicts depend on the signs of a few sums of exponentials. Between two neighbouring roots nothing changes,
    so only the surroundings of each root are tried, and the change is found there by halving.
    """
    masses = [mass for candidate in found for mass in (*candidate.support, *candidate.refutation)]
    half_lives = {mass.half_life for mass in masses}
    if half_lives <= {None}:
        return None
    horizon = _FAR if until is None else until - now
    alike = len(half_lives) == 1 and all(mass.as_of <= now for mass in masses)
    if alike and all(candidate.instructed is None for candidate in found):
        return _next_stale(found, verdicts, book, now, horizon)
    signature = _signature(verdicts)

    def differs(at: Instant) -> bool:
        return _signature(judge(found, book, at)) != signature

    previous = now
    longest = max(half_life or 0 for half_life in half_lives)
    roots = [root for wave in _waves(found, book, now) for root in _roots(wave, float(horizon))]
    for root in (0.0, *sorted(roots)):
        slack = 16 + int((root + longest) * 1e-10)
        low = max(previous, now + math.floor(root) - slack)
        high = now + min(math.ceil(root) + slack, horizon - 1)
        if high <= low:
            continue
        if differs(high):
            return _first_true(differs, low, high)
        previous = high
    return None


def _next_stale(
    found: Sequence[Candidate], verdicts: Sequence[Verdict], book: Rulebook, now: Instant, horizon: Instant
) -> Instant | None:
    """With one half-life throughout, all odds shrink alike: no sign and no order changes, only holders go stale."""
    times = [
        first_stale(candidate.support, candidate.refutation, book.stale_odds, now, horizon)
        for candidate, verdict in zip(found, verdicts, strict=True)
        if verdict.status == "active"
    ]
    return min([at for at in times if at is not None], default=None)


def first_stale(
    support: Sequence[Mass], refutation: Sequence[Mass], bound: float, now: Instant, horizon: Instant = _FAR
) -> Instant | None:
    """The first microsecond after `now` at which S - R, of one half-life, is below the bound; None if it is already."""
    odds = balance(support, refutation, now)
    if bound <= 0 or odds < bound:
        return None
    crossing = now + round((support[0].half_life or 0) * math.log2(odds / bound))
    for slack in _SLACKS:
        low, high = max(now, crossing - slack), min(crossing + slack, now + horizon - 1)
        if high > low and balance(support, refutation, low) >= bound > balance(support, refutation, high):
            return _first_true(lambda moment: balance(support, refutation, moment) < bound, low, high)
    return None


def _signature(verdicts: Sequence[Verdict]) -> list[object]:
    return [(verdict.status, verdict.holds, verdict.exceptions) for verdict in verdicts]


def _first_true(predicate: Callable[[Instant], bool], low: Instant, high: Instant) -> Instant:
    """The first instant in (low, high] at which it is true, given that it is at `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        if predicate(middle):
            high = middle
        else:
            low = middle
    return high


def _waves(found: Sequence[Candidate], book: Rulebook, now: Instant) -> Iterable[Wave]:
    """Every function of time whose sign a verdict asks for."""
    bound = book.stale_odds
    weighed = [candidate for candidate in found if candidate.support or candidate.explicit]
    odds = []
    for candidate in weighed:
        for_it = _wave(candidate.support, now)
        against = _wave(candidate.refutation, now)
        explicit = _wave(candidate.explicit, now)
        difference = _minus(for_it, against)
        odds.append(difference)
        yield difference
        yield _minus(difference, {0.0: bound})
        yield _minus(_wave(candidate.seen, now), {0.0: bound})
        if explicit:
            yield _minus(explicit, {0.0: bound})
            yield _minus(for_it, explicit)
    for place, one in enumerate(odds):
        for other in odds[place + 1 :]:
            yield _minus(one, other)


def _wave(masses: Iterable[Mass], now: Instant) -> Wave:
    """The total of masses as a function of time; a mass ahead of `now` counts as not yet decaying."""
    wave: Wave = {}
    for mass in masses:
        if mass.until is not None and mass.until <= now:
            continue
        if mass.half_life is None or mass.as_of > now:
            rate, share = 0.0, mass.amount
        else:
            rate = _LN2 / mass.half_life
            share = mass.amount * math.exp(-rate * (now - mass.as_of))
        wave[rate] = wave.get(rate, 0.0) + share
    return wave


def _minus(one: Wave, other: Wave) -> Wave:
    difference = dict(one)
    for rate, share in other.items():
        difference[rate] = difference.get(rate, 0.0) - share
    return difference


def _roots(wave: Wave, horizon: float) -> list[float]:
    """All sign changes of a sum of k exponentials in (0, horizon): at most k - 1.

    Divided by its slowest term, its derivative has one term fewer, and between two neighbouring roots of that
    derivative the function is monotone (the argument of Descartes' rule for exponential sums).
    """
    terms = sorted((rate, share) for rate, share in wave.items() if share != 0.0)
    if len(terms) < 2:
        return []
    if len(terms) == 2:
        (slow, first), (fast, second) = terms
        ratio = -second / first
        if ratio <= 0:
            return []
        root = math.log(ratio) / (fast - slow)
        return [root] if 0 < root < horizon else []
    slowest = terms[0][0]
    scaled = {rate - slowest: share for rate, share in terms}
    slope = {rate: -rate * share for rate, share in scaled.items() if rate > 0.0}
    edges = [0.0, *_roots(slope, horizon), horizon]
    found = []
    for left, right in pairwise(edges):
        if _value(scaled, left) * _value(scaled, right) < 0:
            found.append(_bisect(scaled, left, right))
    return found


def _value(wave: Wave, x: float) -> float:
    return math.fsum([share * math.exp(-rate * x) for rate, share in wave.items()])


def _bisect(wave: Wave, left: float, right: float) -> float:
    rising = _value(wave, right) > 0
    while right - left > max(0.5, right * 1e-15):
        middle = (left + right) / 2
        if (_value(wave, middle) > 0) == rising:
            right = middle
        else:
            left = middle
    return right
