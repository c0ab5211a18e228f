"""What speaks for and against each value of a slot: candidates with their masses (design 3.3, 3.5)."""

from collections.abc import Sequence

import msgspec

from beliefs.confidence import balance, gather
from beliefs.counting import Hearing, Key, Voice
from beliefs.doubt import is_doubted
from beliefs.opinion import Opinion, fold, forming, is_opinion, masses_of
from beliefs.rulebook import Rulebook
from beliefs.scope import covers
from schemas.belief import Mass
from schemas.claim import Scope
from schemas.instant import Instant
from schemas.policy import AttributeRule
from schemas.slot import belief_id


class Candidate(msgspec.Struct, gc=False):
    """One belief of a slot before it is judged: a scope and a value with all voices for and against it.

    `supporters` count; `silent` supported once and do not count now. `refuters` name this value; `against` pairs
    every counted voice against it, rivals included, with its factor. `instructed` is the newest counted instruction;
    `seen` and `sighted` are the support and the newest time of what does not instruct. `id` is the belief's.
    An opinion's `support` and `refutation` stand for its folded confidence. What is `doubted` does not hold.
    """

    id: str
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
    opinion: Opinion | None = None
    doubted: bool = False
    _asked_at: Instant | None = None
    _odds: float = 0.0

    def odds(self, now: Instant) -> float:
        """S - R. Asked several times for one time in a row, so the last answer is remembered."""
        if now != self._asked_at:
            self._odds = balance(self.support, self.refutation, now)
            self._asked_at = now
        return self._odds


def candidates(hearing: Hearing, book: Rulebook, now: Instant) -> list[Candidate]:
    """Every value of the slot in every scope that any voice named, in (scope, value) order, with its masses."""
    named, unnamed = by_value(hearing)
    if named:
        _weigh(named, unnamed, book, now)
    return named


def by_value(hearing: Hearing) -> tuple[list[Candidate], list[Voice]]:
    """The candidates with their voices, not weighed yet, and the voices that speak against whatever stands."""
    found: dict[tuple[Scope, str], Candidate] = {}
    unnamed: list[Voice] = []
    for voice in hearing.voices:
        stance, piece = voice.stance, voice.evidence
        if stance == "retracts" or (stance == "refutes" and not voice.value_key and piece.attribute):
            unnamed.append(voice)
            continue
        place = (piece.scope, voice.value_key)
        candidate = found.get(place)
        if candidate is None:
            candidate = found[place] = Candidate(belief_id(piece.slot, *place), *place, [], [], [])
        if stance == "refutes":
            candidate.refuters.append(voice)
        elif voice.note:
            candidate.silent.append(voice)
        else:
            candidate.supporters.append(voice)
    return [found[place] for place in sorted(found)] if len(found) > 1 else list(found.values()), unnamed


def _weigh(found: Sequence[Candidate], unnamed: Sequence[Voice], book: Rulebook, now: Instant) -> None:
    rule = rule_of(found, book)
    competing = rule.cardinality != "many" and len(found) > 1
    refuting = [voice for candidate in found for voice in candidate.refuters if voice.counts]
    refuting += [voice for voice in unnamed if voice.counts]
    factor = book.policy.refute_factor
    reaching: dict[Scope, list[Candidate]] = {}
    for candidate in found:
        if candidate.supporters:
            candidate.first = candidate.supporters[0].at
            candidate.newest = candidate.supporters[-1].at
            candidate.instructed = max([voice.key for voice in candidate.supporters if voice.instructs], default=None)
            candidate.support = _support(candidate.supporters, now)
            _see(candidate, now)
        opinionated = is_opinion(candidate.supporters or candidate.silent or candidate.refuters)
        start = forming(candidate.supporters, candidate.silent) if opinionated else None
        if start is not None:
            candidate.first = start.at
        explicit = [(voice, factor) for voice in refuting if _refutes(voice, candidate)] if refuting else []
        if competing and candidate.scope not in reaching:
            reaching[candidate.scope] = _reaching(candidate.scope, found, rule.specific_survives)
        rivals = _rivals(candidate, reaching[candidate.scope], book) if competing else []
        candidate.against = explicit + rivals
        if explicit:
            candidate.explicit = _masses(explicit, now)
            voices = [voice for voice, _ in explicit]
            candidate.doubted = is_doubted(voices, candidate.newest, candidate.instructed is not None, book)
        if rivals or explicit:
            candidate.refutation = _masses(candidate.against, now)
        if opinionated:
            _fold(candidate, start, book, now)


def _fold(candidate: Candidate, start: Voice | None, book: Rulebook, now: Instant) -> None:
    against = [voice for voice, _ in candidate.against]
    opinion = fold(start, candidate.supporters, against, book.profile, book.policy.base)
    at = now if candidate.newest is None else candidate.newest
    candidate.opinion = opinion
    candidate.support, candidate.refutation = masses_of(opinion, at)


def _see(candidate: Candidate, now: Instant) -> None:
    if candidate.instructed is None:
        candidate.seen, candidate.sighted = candidate.support, candidate.newest
        return
    sightings = [voice for voice in candidate.supporters if not voice.instructs]
    if sightings:
        candidate.seen = _support(sightings, now)
        candidate.sighted = sightings[-1].at


def rule_of(found: Sequence[Candidate], book: Rulebook) -> AttributeRule:
    """The rule by which these candidates, at least one, compete; all bear one attribute, however it is spelled."""
    voices = found[0].supporters or found[0].silent or found[0].refuters
    return book.rule(voices[0].evidence.attribute)


def _support(voices: Sequence[Voice], now: Instant) -> tuple[Mass, ...]:
    return gather([(voice.weight, voice.at, voice.half_life, voice.evidence.valid_until) for voice in voices], now)


def _masses(weighed: Sequence[tuple[Voice, float]], now: Instant) -> tuple[Mass, ...]:
    return gather(
        [(factor * voice.weight, voice.at, voice.half_life, voice.evidence.valid_until) for voice, factor in weighed],
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


def _reaching(scope: Scope, found: Sequence[Candidate], specific_survives: bool) -> list[Candidate]:
    """Those with support whose scope covers this one; many values share few scopes, so it is asked once a scope."""
    return [
        other
        for other in found
        if other.supporters and (other.scope == scope or (not specific_survives and covers(other.scope, scope)))
    ]


def _rivals(candidate: Candidate, reaching: Sequence[Candidate], book: Rulebook) -> list[tuple[Voice, float]]:
    """Supports of other values whose scope covers this one's, with the factor of design 3.3 by when they were seen.

    A wider value told in the same moment as a narrower one's first support does not speak against it: told together,
    they are a rule and its exception.
    """
    later, concurrent = book.policy.later_factor, book.policy.concurrent_factor
    first, newest, scope = candidate.first, candidate.newest, candidate.scope
    against = []
    for other in reaching:
        if other.value_key == candidate.value_key:
            continue
        same_scope = other.scope == scope
        for voice in other.supporters:
            at = voice.at
            if newest is None or first is None or at > newest:
                against.append((voice, later))
            elif at > first or (same_scope and at == first):
                against.append((voice, concurrent))
    return against
