"""What the product makes of a case: the slots that extraction fills, and which texts compete by `beliefs.resolve`."""

from collections.abc import Iterable

import msgspec

from beliefmesh.evaluate.rules.cases import Case, CaseText, Expected, Pair
from beliefs.attest import attest
from beliefs.resolve import resolve
from beliefs.values import normal_value
from schemas.claim import Value, ValueType
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, Instant, parse_instant
from schemas.observation import Observation, Source
from schemas.policy import DEFAULT_POLICY

_FIRST_DAY = parse_instant("2024-05-06T12:00:00Z", "day")
_SPEAKER = "dana"
_SOON_AFTER = DAY // 24


class Matches(msgspec.Struct):
    """How much was found of what is true, and how much else."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, other: "Matches") -> None:
        """Count another's as well."""
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed

    def scores(self) -> dict[str, float | int]:
        """Precision and recall with their counts; each is 1 where there was nothing to get wrong."""
        found, true = self.right + self.wrong, self.right + self.missed
        return {
            "precision": round(self.right / found, 4) if found else 1.0,
            "recall": round(self.right / true, 4) if true else 1.0,
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
        }


class Judgement(msgspec.Struct, frozen=True):
    """What was read of one case, in numbers, and in words what was missed or wrong."""

    slots: Matches
    conflicts: Matches
    misses: tuple[str, ...]


def judge_case(case: Case) -> Judgement:
    """Read every text of a case by itself, then see for each pair whether its texts compete."""
    evidence = [attest(_observation(case, place), _time(case, place)) for place in range(len(case.told))]
    slots = Matches()
    misses: list[str] = []
    for told, pieces in zip(case.told, evidence, strict=True):
        tally, told_of = _compare(told, [piece for piece in pieces if piece.attribute is not None])
        slots.add(tally)
        misses += told_of
    conflicts = Matches()
    for pair in case.pairs():
        found = compete(evidence[pair[0] - 1], evidence[pair[1] - 1])
        conflicts.add(_pair_tally(found, pair in case.conflicts))
        if found != (pair in case.conflicts):
            misses.append(_pair_told(case, pair, found))
    return Judgement(slots, conflicts, tuple(misses))


def compete(one: Iterable[Evidence], other: Iterable[Evidence]) -> bool:
    """Whether a belief of either, active by itself, falls, is contested or gets an exception beside the other."""
    firsts, seconds = _by_slot(one), _by_slot(other)
    return any(_compete_in_slot(firsts[slot], seconds[slot]) for slot in firsts.keys() & seconds.keys())


def _compete_in_slot(one: list[Evidence], other: list[Evidence]) -> bool:
    now = max(piece.effective_at for piece in (*one, *other)) + _SOON_AFTER
    together = {belief.id: belief for belief in resolve([*one, *other], DEFAULT_POLICY, now).beliefs}
    for alone in (one, other):
        for belief in resolve(alone, DEFAULT_POLICY, now).beliefs:
            beside = together[belief.id]
            if belief.status == "active" and (beside.status != "active" or beside.exceptions):
                return True
    return False


def _by_slot(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    slots: dict[str, list[Evidence]] = {}
    for piece in evidence:
        if piece.attribute is not None:
            slots.setdefault(piece.slot, []).append(piece)
    return slots


def _observation(case: Case, place: int) -> Observation:
    told = case.told[place]
    return Observation(
        id=f"{case.id}-{place}",
        bank="rules",
        source=Source(f"{case.id}-{place}"),
        observed_at=_time(case, place),
        agent=told.agent or _SPEAKER,
        text=told.text,
        entity=None if told.entity is None else Entity(told.entity.name, told.entity.type),
    )


def _time(case: Case, place: int) -> Instant:
    at = case.told[place].at
    return parse_instant(at, "at") if at else _FIRST_DAY + place * DAY


def _compare(told: CaseText, read: list[Evidence]) -> tuple[Matches, list[str]]:
    """Match what was read with what is expected, each once; what merely says the same in other words is not counted."""
    left = list(read)
    matched: list[Evidence] = []
    tally = Matches()
    misses: list[str] = []
    for expected in told.slots:
        found = next((piece for piece in left if _fits(expected, piece)), None)
        if found is not None:
            left.remove(found)
            matched.append(found)
            tally.right += not expected.optional
        elif not expected.optional:
            tally.missed += 1
            misses.append(f"missed: {told.text} -> {_spell_expected(expected)}")
    for piece in left:
        if any(piece.entity == other.entity and piece.value == other.value for other in matched):
            continue
        tally.wrong += 1
        misses.append(f"wrong: {told.text} -> {_spell(piece)}")
    return tally, misses


def _fits(expected: Expected, piece: Evidence) -> bool:
    scope = " ".join(value for _, value in piece.scope)
    place = f"{piece.entity.name} {piece.attribute} {scope}".casefold()
    return (
        expected.stance == piece.stance
        and expected.scope.casefold() in scope.casefold()
        and all(_named(word, place, piece.entity) for word in expected.about.split())
        and any(_same_value(option, piece) for option in expected.value.split("|"))
    )


def _named(word: str, place: str, entity: Entity) -> bool:
    return entity.type == "agent" if word == "me" else any(part.casefold() in place for part in word.split("|"))


def _same_value(wanted: str, piece: Evidence) -> bool:
    return piece.value is not None and _key(wanted, piece.value_type) == _key(piece.value, piece.value_type)


def _key(value: Value, type: ValueType | None) -> str:
    return normal_value(value, type, None)[1]


def _pair_tally(found: bool, true: bool) -> Matches:
    return Matches(right=int(found and true), wrong=int(found and not true), missed=int(true and not found))


def _pair_told(case: Case, pair: Pair, found: bool) -> str:
    first, second = (case.told[place - 1].text for place in pair)
    return f"{'no conflict' if found else 'conflict missed'}: {first} | {second}"


def _spell(piece: Evidence) -> str:
    return f"{piece.entity.name}, {piece.attribute}, {piece.value!r}, {dict(piece.scope)}, {piece.stance}"


def _spell_expected(slot: Expected) -> str:
    return f"{slot.about}, {slot.value!r}" + (f", {slot.scope}" if slot.scope else "") + f", {slot.stance}"
