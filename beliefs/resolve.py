"""From a slot's evidence to its beliefs: a function of the set of evidence, the policy and `now` (design 3.2)."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from beliefs.conflict import Candidate, by_value, candidates
from beliefs.counting import NONE_FALLEN, Fallen, Hearing, Voice, hear, heard_as
from beliefs.lone import is_plain, resolve_lone
from beliefs.merge_edges import merge_edges
from beliefs.review import next_decay
from beliefs.rulebook import Rulebook, rulebook
from beliefs.statement import compose, with_exceptions
from beliefs.verdict import Verdict, judge
from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import entity_id
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.reserved import is_same_as
from schemas.slot import Slot

_BY_ID = attrgetter("id")
_EDGE_ORDER = attrgetter("src", "type", "dst")
_MAX_STEPS = 8
"""How many changes of the evidence's own (dates, expiries) are looked through for the next change of a status."""


def resolve(evidence: Sequence[Evidence], policy: Policy, now: Instant, fallen: Fallen = NONE_FALLEN) -> Slot:
    """The state of a slot at `now` from all its evidence, in any order; versions are left at 0.

    `evidence` is not empty and of one slot. Evidence ingested or effective after some time is the caller's to leave
    out when a past time is asked. `fallen` are the premises that are not held; what rests on them does not count
    (`beliefs/premises.py` finds them). Identical sets give identical slots, to the last bit.
    """
    if len(evidence) == 1 and is_plain(evidence[0], now):
        return resolve_lone(evidence[0], rulebook(policy), now)
    return resolve_by_hearing(evidence, policy, now, fallen)


def resolve_by_hearing(
    evidence: Sequence[Evidence], policy: Policy, now: Instant, fallen: Fallen = NONE_FALLEN
) -> Slot:
    """The same as `resolve`, without its short way for the simplest slots."""
    book = rulebook(policy)
    hearing, found, verdicts = _judge(evidence, book, now, fallen)
    first = evidence[0] if len(evidence) == 1 else min(evidence, key=_BY_ID)
    beliefs = [_belief(first, candidate, verdict) for candidate, verdict in zip(found, verdicts, strict=True)]
    if len(beliefs) > 1:
        beliefs.sort(key=_BY_ID)
    return Slot(
        id=first.slot,
        bank=first.bank,
        entity=first.entity,
        attribute=first.attribute,
        beliefs=tuple(beliefs),
        resolved_at=now,
        review_at=_review(evidence, book, now, fallen, hearing, found, verdicts),
        restricted={piece.visibility for piece in evidence} != {"bank"},
        in_session={piece.session for piece in evidence} != {""},
        settled_by="" if hearing.changes_at else book.name,
        edges=_edges(first, evidence, found, beliefs),
    )


def judged(
    evidence: Sequence[Evidence], policy: Policy, now: Instant, fallen: Fallen = NONE_FALLEN
) -> tuple[Hearing, dict[str, Candidate]]:
    """The voices behind `resolve`, and its candidates by belief id; for explanations."""
    book = rulebook(policy)
    hearing = hear(evidence, book, now, fallen)
    return hearing, {candidate.id: candidate for candidate in candidates(hearing, book, now)}


def voiced(evidence: Sequence[Evidence], policy: Policy, now: Instant) -> dict[str, Candidate]:
    """By belief id, the candidates behind `resolve` with their voices alone; what they weigh is not asked."""
    named, _ = by_value(hear(evidence, rulebook(policy), now))
    return {candidate.id: candidate for candidate in named}


def _judge(
    evidence: Sequence[Evidence], book: Rulebook, now: Instant, fallen: Fallen
) -> tuple[Hearing, list[Candidate], list[Verdict]]:
    hearing = hear(evidence, book, now, fallen)
    found = candidates(hearing, book, now)
    return hearing, found, judge(found, book, now)


def _review(
    evidence: Sequence[Evidence],
    book: Rulebook,
    now: Instant,
    fallen: Fallen,
    hearing: Hearing,
    found: Sequence[Candidate],
    verdicts: Sequence[Verdict],
) -> Instant | None:
    """The first microsecond after `now` at which a status differs from today's, if nothing new is heard.

    Within the steps looked through this is exact; beyond them it is the last date looked at: reviewing then changes
    nothing, and looks further.
    """
    if not hearing.changes_at:
        return next_decay(found, verdicts, book, now, None)
    today = _statuses(found, verdicts)
    at = now
    for _ in range(_MAX_STEPS):
        step = min(hearing.changes_at, default=None)
        decayed = next_decay(found, verdicts, book, at, step)
        if decayed is not None or step is None:
            return decayed
        at = step
        hearing, found, verdicts = _judge(evidence, book, at, fallen)
        if _statuses(found, verdicts) != today:
            return at
    return at


def _statuses(found: Sequence[Candidate], verdicts: Sequence[Verdict]) -> Mapping[str, object]:
    return {
        candidate.id: (verdict.status, verdict.exceptions) for candidate, verdict in zip(found, verdicts, strict=True)
    }


def _belief(first: Evidence, candidate: Candidate, verdict: Verdict) -> Belief:
    told = spokesman(candidate)
    words = told.evidence
    untils = [voice.evidence.valid_until for voice in candidate.supporters]
    statement = words.statement or compose(words.entity, words.attribute, words.value, candidate.scope)
    return Belief(
        id=candidate.id,
        bank=first.bank,
        slot=first.slot,
        entity=first.entity,
        statement=with_exceptions(statement, verdict.exceptions) if verdict.exceptions else statement,
        status=verdict.status,
        attribute=first.attribute,
        value=words.value,
        value_type=told.value_type,
        scope=candidate.scope,
        kind="instruction" if candidate.instructed is not None else heard_as(words.kind, told.instructs),
        network=words.network,
        tier=words.tier,
        reason=verdict.reason,
        by=verdict.by_evidence if verdict.by is None else verdict.by.id,
        support=candidate.support,
        refutation=candidate.refutation,
        first_support=candidate.first,
        newest_support=candidate.newest,
        valid_until=max([until for until in untils if until is not None], default=None) if None not in untils else None,
        occurred_start=words.occurred_start,
        occurred_end=words.occurred_end,
        exceptions=verdict.exceptions,
        rivals=tuple(sorted([rival.id for rival in verdict.rivals])),
        supports=len(candidate.supporters),
        refutes=len(candidate.against),
        pinned=True in [voice.evidence.pinned for voice in candidate.supporters],
        opinion=None if candidate.opinion is None else candidate.opinion.confidence,
    )


def spokesman(candidate: Candidate) -> Voice:
    """Whose words the belief bears: the newest that are not a mere verdict on it.

    Where close values count as one, the newest of those who name the value that the rest are taken for.
    """
    voices = candidate.supporters or candidate.silent or candidate.refuters
    telling = [voice for voice in voices if voice.evidence.source.type != "feedback"] or voices
    return next((voice for voice in reversed(telling) if voice.own_key in ("", voice.value_key)), telling[-1])


def _edges(
    first: Evidence, evidence: Sequence[Evidence], found: Sequence[Candidate], beliefs: Sequence[Belief]
) -> tuple[Edge, ...]:
    """Mentions of every entity that the supporting words name, which belief replaced which, and what rests on what."""
    about = entity_id(first.bank, first.entity)
    edges = {Edge(about, "mentions", belief.id) for belief in beliefs}
    for candidate in found:
        for voice in candidate.supporters:
            for entity in voice.evidence.mentions:
                edges.add(Edge(entity_id(first.bank, entity), "mentions", candidate.id))
    if len(beliefs) > 1:
        known = {belief.id for belief in beliefs}
        edges.update([Edge(belief.by, "supersedes", belief.id) for belief in beliefs if belief.by in known])
    if is_same_as(first.attribute):
        edges |= merge_edges(first.bank, first.entity, beliefs)
    if [piece for piece in evidence if piece.premises]:
        edges.update(_derivations(evidence, found))
    return tuple(sorted(edges, key=_EDGE_ORDER))


def _derivations(evidence: Sequence[Evidence], found: Sequence[Candidate]) -> Iterator[Edge]:
    """From the belief that a conclusion is for to its premises, held or not; from all of them if it is for none.

    So whoever looks for what rests on a belief finds the slot, also where the conclusion speaks against others.
    """
    supported = {
        voice.evidence.id: candidate.id
        for candidate in found
        for voice in (*candidate.supporters, *candidate.silent)
        if voice.evidence.premises
    }
    for piece in evidence:
        sources = [supported[piece.id]] if piece.id in supported else [candidate.id for candidate in found]
        for premise in piece.premises:
            yield from (Edge(source, "derived_from", premise) for source in sources)
