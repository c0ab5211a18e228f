"""What speaks for and against each value of a slot: candidates with their masses (design 3.3, 3.5)."""

from collections.abc import Iterable, Sequence

import msgspec

from beliefs.confidence import balance, gather
from beliefs.counting import Hearing, Key, Voice
from beliefs.rulebook import Rulebook
from beliefs.scope import covers
from schemas.belief import Mass
from schemas.claim import Scope
from schemas.instant import Instant


class Candidate(msgspec.Struct, gc=False):
    """One belief of a slot before it is judged: a scope and a value with all voices for and against it.

    `supporters` count; `silent` supported once and do not count now. `refuters` name this value; `against` pairs
    every counted voice against it, rivals included, with its factor. `instructed` is the newest counted instruction;
    `seen` and `sighted` are the support and the newest time of what does not instruct.
    """

    scope: Scope
    value_key: str
    supporters: list[Voice]
    silent: list[Voice]
    refuters: list[Voice]
    against: list[tuple[Voice, float]] = []
    support: tuple[Mass, ...] = ()
    refutation: tuple[Mass, ...] = ()
    explicit: tuple[Mass, ...] = ()
    seen: tuple[Mass, ...] = ()
    first: Instant | None = None
    newest: Instant | None = None
    sighted: Instant | None = None
    instructed: Key | None = None

    def speakers(self) -> list[Voice]:
        """Everybody whose words made this belief, in key order."""
        return sorted([*self.supporters, *self.silent, *self.refuters], key=lambda voice: voice.key)

    def odds(self, now: Instant) -> float:
        """S - R."""
        return balance(self.support, self.refutation, now)


def candidates(hearing: Hearing, book: Rulebook, now: Instant) -> list[Candidate]:
    """Every value of the slot in every scope that any voice named, in (scope, value) order, with its masses."""
    found: dict[tuple[Scope, str], Candidate] = {}
    unnamed: list[Voice] = []
    for voice in hearing.voices:
        if voice.stance == "retracts" or (
            voice.stance == "refutes" and not voice.value_key and voice.evidence.attribute
        ):
            unnamed.append(voice)
            continue
        place = (voice.evidence.scope, voice.value_key)
        candidate = found.get(place)
        if candidate is None:
            candidate = found[place] = Candidate(*place, [], [], [])
        if voice.stance == "refutes":
            candidate.refuters.append(voice)
        elif voice.counts:
            candidate.supporters.append(voice)
        else:
            candidate.silent.append(voice)
    ordered = [found[place] for place in sorted(found)]
    _weigh(ordered, unnamed, book, now)
    return ordered


def _weigh(found: Sequence[Candidate], unnamed: Sequence[Voice], book: Rulebook, now: Instant) -> None:
    if not found:
        return
    rule = book.rule(found[0].speakers()[0].evidence.attribute)
    speaking = [voice for candidate in found for voice in candidate.supporters]
    refuting = [voice for candidate in found for voice in candidate.refuters if voice.counts]
    refuting += [voice for voice in unnamed if voice.counts]
    factor = book.policy.refute_factor
    for candidate in found:
        if candidate.supporters:
            candidate.first = candidate.supporters[0].at
            candidate.newest = candidate.supporters[-1].at
            candidate.instructed = max((voice.key for voice in candidate.supporters if voice.instructs), default=None)
            candidate.support = _masses(((voice, 1.0) for voice in candidate.supporters), now)
            _see(candidate, now)
        explicit = [(voice, factor) for voice in refuting if _refutes(voice, candidate)] if refuting else []
        rivals = []
        if rule.cardinality != "many" and len(found) > 1:
            rivals = _rivals(candidate, speaking, book, rule.specific_survives)
        candidate.against = explicit + rivals
        if explicit:
            candidate.explicit = _masses(explicit, now)
        if rivals or explicit:
            candidate.refutation = _masses(candidate.against, now)


def _see(candidate: Candidate, now: Instant) -> None:
    if candidate.instructed is None:
        candidate.seen, candidate.sighted = candidate.support, candidate.newest
        return
    sightings = [voice for voice in candidate.supporters if not voice.instructs]
    if sightings:
        candidate.seen = _masses(((voice, 1.0) for voice in sightings), now)
        candidate.sighted = sightings[-1].at


def _masses(weighed: Iterable[tuple[Voice, float]], now: Instant) -> tuple[Mass, ...]:
    return gather(
        ((factor * voice.weight, voice.at, voice.half_life, voice.evidence.valid_until) for voice, factor in weighed),
        now,
    )


def _refutes(voice: Voice, candidate: Candidate) -> bool:
    """An explicit refutation reaches the value it names (or any), in its scope or narrower.

    A retraction that may not end what it names (an instruction, or for want of authority) still speaks against it,
    as far as it came before.
    """
    if voice.value_key not in ("", candidate.value_key):
        return False
    if voice.evidence.stance == "retracts" and not _still_stands(voice, candidate):
        return False
    return covers(voice.evidence.scope, candidate.scope)


def _still_stands(retraction: Voice, candidate: Candidate) -> bool:
    if candidate.instructed is not None:
        return not retraction.instructs and retraction.at > candidate.instructed[0]
    return retraction.stance == "refutes" and (candidate.newest is None or retraction.at > candidate.newest)


def _rivals(
    candidate: Candidate, speaking: Sequence[Voice], book: Rulebook, specific_survives: bool
) -> list[tuple[Voice, float]]:
    """Supports of other values whose scope covers this one's, with the factor of design 3.3 by when they were seen.

    A wider value told in the same moment as a narrower one's first support does not speak against it: told together,
    they are a rule and its exception.
    """
    later, concurrent = book.policy.later_factor, book.policy.concurrent_factor
    first, newest, scope = candidate.first, candidate.newest, candidate.scope
    against = []
    for voice in speaking:
        if voice.value_key == candidate.value_key:
            continue
        reach = voice.evidence.scope
        if reach != scope and (specific_survives or not covers(reach, scope)):
            continue
        if newest is None or first is None or voice.at > newest:
            against.append((voice, later))
        elif voice.at > first or (voice.at == first and reach == scope):
            against.append((voice, concurrent))
    return against
