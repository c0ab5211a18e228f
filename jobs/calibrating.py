"""Learns how far each source is to be trusted from answers that are known, and says what that changes."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from beliefs.reliability import ANY, Tally, Verified, brier, by_place, calibration_error, learn, weight_from
from beliefs.verified import Verification, believed, verdicts_in, verify
from schemas.evidence import Evidence
from schemas.gold import Gold
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import slot_id
from stores.pages import all_slots
from stores.ports import GraphStore

_PAGE = 500


class Known(msgspec.Struct, frozen=True):
    """A slot's evidence with a verdict on one of its values; `id` names both."""

    id: str
    evidence: tuple[Evidence, ...]
    verdict: Verification


class Learned(msgspec.Struct, frozen=True):
    """What is known of one origin on one attribute: verified outcomes, the share right, the weight before and after."""

    origin: str
    attribute: str
    outcomes: int
    right: float
    before: float
    after: float


class Scores(msgspec.Struct, frozen=True):
    """How good the leading beliefs are on answers that are known: the share right, Brier score, calibration error."""

    precision: float
    brier: float
    ece: float


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """What a calibration learned, from how many answers, and what it changes on those same answers.

    `unanswered` are answers of the gold to which no source had said anything.
    """

    version: int
    outcomes: int
    from_gold: int
    from_feedback: int
    unanswered: int
    sources: tuple[Learned, ...]
    before: Scores
    after: Scores
    applied: bool


def calibrated(
    graph: GraphStore, bank: str, gold: Sequence[Gold], *, now: Instant, feedback: bool, apply: bool
) -> tuple[Calibration, Policy] | None:
    """Learn from gold, and from feedback on slots that the gold leaves out; the policy with it is the caller's to set.

    None if nothing teaches. What teaches the same again keeps its version.
    """
    policy = graph.policy(bank)
    answered = list(_from_gold(graph, bank, gold, now))
    heard = (
        list(_from_feedback(graph, bank, policy, {known.evidence[0].slot for known in answered})) if feedback else []
    )
    known = [*answered, *heard]
    verified = {one.id: one for each in known if (one := verify(each.id, each.evidence, each.verdict, policy))}
    if not verified:
        return None
    learned = learn(list(verified.values()), policy.trust.version)
    trust = learned if learned == policy.trust else msgspec.structs.replace(learned, version=learned.version + 1)
    taught = msgspec.structs.replace(policy, trust=trust)
    report = Calibration(
        version=trust.version,
        outcomes=trust.outcomes,
        from_gold=sum(each.id in verified for each in answered),
        from_feedback=sum(each.id in verified for each in heard),
        unanswered=len(gold) - sum(each.id in verified for each in answered),
        sources=_compared(list(verified.values()), policy, taught),
        before=scores(known, policy),
        after=scores(known, taught),
        applied=apply,
    )
    return report, taught


def scores(known: Iterable[Known], policy: Policy) -> Scores:
    """How good the leading beliefs of the time are under a policy."""
    judged = [one for each in known if (one := believed(each.evidence, each.verdict, policy)) is not None]
    right = sum(right for _, right in judged)
    return Scores(
        round(right / len(judged), 6) if judged else 0.0, round(brier(judged), 6), round(calibration_error(judged), 6)
    )


def _from_gold(graph: GraphStore, bank: str, gold: Sequence[Gold], now: Instant) -> Iterator[Known]:
    for at in range(0, len(gold), _PAGE):
        page = [(slot_id(bank, one.entity, one.attribute), one) for one in gold[at : at + _PAGE]]
        stored = graph.load_slots(bank, sorted({id for id, _ in page}))
        for id, one in page:
            if id in stored:
                moment = now if one.as_of is None else one.as_of
                yield Known(f"{id}@{moment}", stored[id].evidence, Verification(one.value, moment))


def _from_feedback(graph: GraphStore, bank: str, policy: Policy, settled: set[str]) -> Iterator[Known]:
    for stored in all_slots(graph, bank):
        if stored.slot.id not in settled:
            for place, verdict in enumerate(verdicts_in(stored.evidence, policy)):
                yield Known(f"{stored.slot.id}#{place}", stored.evidence, verdict)


def _compared(verified: Sequence[Verified], old: Policy, new: Policy) -> tuple[Learned, ...]:
    tally = Tally(verified)
    before, after = by_place(old.trust), by_place(new.trust)
    return tuple(
        Learned(
            origin,
            attribute,
            outcomes,
            round(tally.right[origin, attribute] / outcomes, 4),
            round(weight_from(before, origin, attribute).weight, 4),
            round(weight_from(after, origin, attribute).weight, 4),
        )
        for (origin, attribute), outcomes in sorted(tally.total.items(), key=lambda one: (one[0][1], one[0][0]))
        if ANY not in (origin, attribute)
    )
