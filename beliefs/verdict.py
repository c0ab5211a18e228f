"""Who holds a slot, and what becomes of the others (design 3.4 to 3.6)."""

from collections.abc import Callable, Sequence

import msgspec

from beliefs.confidence import balance, total
from beliefs.conflict import Candidate, rule_of
from beliefs.counting import ECHO, EXPIRED, NOT_HELD, OUTDATED, RETRACTED
from beliefs.rulebook import Rulebook
from beliefs.scope import covers, narrower, overlapping, specificity
from schemas.belief import LIVE, Mass, Reason, Status
from schemas.claim import Scope
from schemas.instant import Instant


class Verdict(msgspec.Struct, gc=False):
    """What became of one candidate: `holds` its scope or not, why, by which candidate (or evidence id)."""

    status: Status
    reason: Reason = ""
    by: Candidate | None = None
    by_evidence: str = ""
    holds: bool = False
    exceptions: tuple[Scope, ...] = ()
    rivals: tuple[Candidate, ...] = ()


def judge(found: Sequence[Candidate], book: Rulebook, now: Instant) -> list[Verdict]:
    """One verdict a candidate, in the same order; a function of the masses and of `now` alone."""
    if not found:
        return []
    rule = rule_of(found, book)
    if rule.cardinality == "many" or len(found) == 1:
        return [_alone(candidate, book, now) for candidate in found]
    return _Contest(found, book, now, rule.specific_survives).verdicts()


def _alone(candidate: Candidate, book: Rulebook, now: Instant) -> Verdict:
    if candidate.instructed is not None:
        return _instructed(candidate, book, now)
    if candidate.odds(now) > 0 and not candidate.doubted:
        return _held(candidate, book, now)
    return _fallen(candidate, None)


def _held(candidate: Candidate, book: Rulebook, now: Instant) -> Verdict:
    """A holder by weight; stale once time has taken it below the bound that it had reached."""
    bound = book.stale_odds
    if candidate.odds(now) < bound and candidate.odds(_peak(candidate)) >= bound:
        return Verdict("stale", "decayed", holds=True)
    return Verdict("active", holds=True)


def _instructed(candidate: Candidate, book: Rulebook, now: Instant) -> Verdict:
    """An instruction holds until another ends it; a later refutation that is still fresh contests it."""
    if candidate.doubted:
        return Verdict("revoked", "refuted", by_evidence=_refuter(candidate))
    later = [
        voice
        for voice, _ in candidate.against
        if voice.stance != "supports" and voice.key > (candidate.instructed or ())
    ]
    commands = [voice for voice in later if voice.instructs and voice.stance == "refutes"]
    if commands:
        return Verdict("revoked", "refuted", by_evidence=commands[-1].evidence.id)
    if later and _fresh(candidate.explicit, book, now):
        return Verdict("contested", holds=True)
    return Verdict("active", holds=True)


def _fallen(candidate: Candidate, holder: Candidate | None) -> Verdict:
    """Why a candidate does not hold: told by its last words, else by who holds its place."""
    if candidate.supporters:
        if holder is not None and _later(holder, candidate):
            return Verdict("revoked", "superseded", by=holder)
        if candidate.explicit:
            return Verdict("revoked", "refuted", by_evidence=_refuter(candidate))
        return Verdict("revoked", "outweighed", by=holder)
    last = candidate.silent[-1] if candidate.silent else None
    if last is not None and last.note == RETRACTED:
        return Verdict("revoked", "retracted", by_evidence=last.by)
    if candidate.explicit or last is None:
        return Verdict("revoked", "refuted", by_evidence=_refuter(candidate))
    if last.note in (NOT_HELD, OUTDATED):
        return Verdict("stale" if last.note == OUTDATED else "revoked", "unfounded", by_evidence=last.by)
    if holder is not None:
        return Verdict("revoked", "superseded", by=holder)
    if last.note == EXPIRED:
        return Verdict("stale", "expired")
    return Verdict("revoked", "outweighed" if last.note == ECHO else "superseded")


class _Contest:
    """The judgement of a single-valued slot with several candidates, worked out from wide scopes to narrow."""

    def __init__(self, found: Sequence[Candidate], book: Rulebook, now: Instant, specific_survives: bool) -> None:
        self._found = found
        self._book = book
        self._now = now
        self._specific_survives = specific_survives
        self._verdicts: dict[int, Verdict] = {}
        self._holding: dict[int, Candidate] = {}

    def verdicts(self) -> list[Verdict]:
        """Instructions first, then observations from wide scopes to narrow, then exceptions."""
        instructed = [candidate for candidate in self._found if candidate.instructed is not None]
        for candidate in instructed:
            self._put(candidate, _instructed(candidate, self._book, self._now))
        in_force = [candidate for candidate in instructed if self._holds(candidate)]
        replaced = [candidate for candidate in in_force if self._supersede(candidate, in_force)]
        for candidate in replaced:
            ruler = self._holder_over(candidate, _instructs)
            if ruler is not None and self._speaks_against(candidate, ruler):
                self._contest(candidate, ruler)
        rest = [candidate for candidate in self._found if candidate.instructed is None]
        by_scope: dict[Scope, list[Candidate]] = {}
        for candidate in rest:
            by_scope.setdefault(candidate.scope, []).append(candidate)
        for scope in sorted(by_scope, key=specificity):
            self._observations(by_scope[scope])
        self._except()
        return [self._verdicts[id(candidate)] for candidate in self._found]

    def _put(self, candidate: Candidate, verdict: Verdict) -> None:
        self._verdicts[id(candidate)] = verdict
        if verdict.holds and verdict.status in LIVE:
            self._holding[id(candidate)] = candidate
        else:
            self._holding.pop(id(candidate), None)

    def _supersede(self, candidate: Candidate, in_force: Sequence[Candidate]) -> bool:
        """Revoke an instruction that a newer one replaces; one that is itself refuted replaces nothing."""
        over = [
            other
            for other in in_force
            if other.value_key != candidate.value_key
            and _replaces(other, candidate)
            and covers(other.scope, candidate.scope)
            and not (self._specific_survives and other.scope != candidate.scope)
        ]
        if over:
            self._put(candidate, Verdict("revoked", "superseded", by=max(over, key=_newest_instruction)))
        return bool(over)

    def _observations(self, group: Sequence[Candidate]) -> None:
        """Judge the candidates of one scope against each other and against what instructions hold there."""
        free = []
        for candidate in group:
            ruler = self._holder_over(candidate, _instructs)
            if ruler is None:
                free.append(candidate)
            else:
                self._overruled(candidate, ruler)
        winners = [candidate for candidate in free if candidate.odds(self._now) > 0 and not candidate.doubted]
        holder = max(winners, key=self._rank, default=None)
        if holder is not None:
            self._put(holder, _held(holder, self._book, self._now))
        leaders = self._leaders(free) if holder is None else []
        winning, leading = set(map(id, winners)), set(map(id, leaders))
        for candidate in free:
            if candidate is holder:
                continue
            if id(candidate) in winning and holder is not None and self._verdicts[id(holder)].status == "stale":
                self._put(candidate, Verdict("stale", "decayed"))
            elif id(candidate) in winning or id(candidate) in leading:
                others = tuple(other for other in (*winners, *leaders) if other is not candidate)
                self._put(candidate, Verdict("contested", rivals=others))
            else:
                self._put(
                    candidate, _fallen(candidate, holder or self._holder_over(candidate, _any) or _first(leaders))
                )
        if holder is not None and len(winners) > 1:
            self._verdicts[id(holder)].rivals = tuple(other for other in winners if other is not holder)

    def _overruled(self, candidate: Candidate, ruler: Candidate) -> None:
        """A sighting does not override an instruction; while it is fresh and later, it contests it."""
        if self._speaks_against(candidate, ruler):
            self._contest(candidate, ruler)
        elif candidate.supporters:
            self._put(candidate, Verdict("revoked", "overruled", by=ruler))
        else:
            self._put(candidate, _fallen(candidate, ruler))

    def _speaks_against(self, candidate: Candidate, ruler: Candidate) -> bool:
        if candidate.sighted is None or ruler.instructed is None or candidate.explicit:
            return False
        return candidate.sighted > ruler.instructed[0] and _fresh(candidate.seen, self._book, self._now)

    def _contest(self, candidate: Candidate, ruler: Candidate) -> None:
        self._put(candidate, Verdict("contested", "overruled", by=ruler, rivals=(ruler,)))
        verdict = self._verdicts[id(ruler)]
        verdict.status = "contested"
        verdict.rivals = (*verdict.rivals, candidate)

    def _leaders(self, free: Sequence[Candidate]) -> list[Candidate]:
        """Where sightings cancel each other out and nobody holds: the best supported stay, contested.

        Without this a contradiction would empty the slot. What is refuted by name does not lead.
        """
        standing = [
            candidate
            for candidate in free
            if not candidate.doubted
            and balance(candidate.support, candidate.explicit, self._now) > 0
            and self._holder_over(candidate, _any) is None
        ]
        best = max((candidate.odds(self._now) for candidate in standing), default=0.0)
        return [candidate for candidate in standing if candidate.odds(self._now) == best]

    def _holder_over(self, candidate: Candidate, admits: Callable[[Candidate], bool]) -> Candidate | None:
        """The most specific holder of another value whose scope covers the candidate's."""
        if not self._holding:
            return None
        over = [
            other
            for other in self._holding.values()
            if other.value_key != candidate.value_key and admits(other) and covers(other.scope, candidate.scope)
        ]
        return max(over, key=lambda other: (specificity(other.scope), _newest_key(other)), default=None)

    def _holds(self, candidate: Candidate) -> bool:
        return id(candidate) in self._holding

    def _rank(self, candidate: Candidate) -> tuple[float, tuple[object, ...]]:
        return (candidate.odds(self._now), _newest_key(candidate))

    def _except(self) -> None:
        """Give each holder the scopes that narrower holders, or newer overlapping ones, take from it."""
        holders = [candidate for candidate in self._found if self._holds(candidate)]
        if len(holders) < 2:
            return
        for candidate in holders:
            taken = {
                other.scope
                for other in holders
                if other.value_key != candidate.value_key
                and (
                    narrower(other.scope, candidate.scope)
                    or (overlapping(other.scope, candidate.scope) and _newest_key(other) > _newest_key(candidate))
                )
            }
            self._verdicts[id(candidate)].exceptions = tuple(sorted(taken))


def _peak(candidate: Candidate) -> Instant:
    return max(mass.as_of for mass in (*candidate.support, *candidate.refutation))


def _fresh(masses: Sequence[Mass], book: Rulebook, now: Instant) -> bool:
    """Whether these masses alone would still carry a belief that is not stale."""
    return total(masses, now) >= book.stale_odds


def _later(one: Candidate, other: Candidate) -> bool:
    return one.newest is not None and other.newest is not None and one.newest > other.newest


def _newest_key(candidate: Candidate) -> tuple[object, ...]:
    return candidate.supporters[-1].key if candidate.supporters else ()


def _replaces(one: Candidate, other: Candidate) -> bool:
    """Whether an instruction is newer: in the same scope by the whole key, else only by a strictly later time."""
    if one.instructed is None or other.instructed is None:
        return False
    if one.scope == other.scope:
        return one.instructed > other.instructed
    return one.instructed[0] > other.instructed[0]


def _newest_instruction(candidate: Candidate) -> tuple[object, ...]:
    return candidate.instructed or ()


def _refuter(candidate: Candidate) -> str:
    named = [voice for voice, _ in candidate.against if voice.stance != "supports"] or candidate.refuters
    return max(named, key=lambda voice: voice.key).evidence.id if named else ""


def _instructs(candidate: Candidate) -> bool:
    return candidate.instructed is not None


def _any(candidate: Candidate) -> bool:
    return bool(candidate.supporters)


def _first(leaders: Sequence[Candidate]) -> Candidate | None:
    return leaders[0] if leaders else None
