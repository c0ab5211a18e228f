"""How well merge proposals find the entities that are one, in a bank made of all hand-written pairs of a half."""

from typing import Any, Literal, get_args

import msgspec

from beliefmesh.evaluate.entities.pairs import lines
from beliefs.likeness import Profile, proposals
from schemas.entity import Entity, entity_id
from schemas.identity import normal_name

Half = Literal["building", "scoring"]
HALVES = get_args(Half)
LANGUAGES = ("en", "zh")
_BANK = "pairs"


class Pair(msgspec.Struct, frozen=True):
    """Two entities, and whether they are one."""

    half: str
    language: str
    same: bool
    one: Profile
    other: Profile


class Scored(msgspec.Struct, frozen=True):
    """Proposals against the truth: how many there are, how many are right, and what is missed or wrong, by name."""

    pairs: int
    proposed: int
    right: int
    same: int
    missed: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def precision(self) -> float:
        """The share of the proposals that are right; 1 where nothing is proposed."""
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        """The share of those that are one which is proposed."""
        return self.right / self.same if self.same else 1.0


def pairs() -> list[Pair]:
    """Every hand-written pair."""
    return [_pair(line) for line in lines()]


def score(some: list[Pair], at_least: float) -> Scored:
    """Propose over one bank of all entities of these pairs; whatever is proposed and not told to be one is wrong."""
    profiles = {profile.id: profile for pair in some for profile in (pair.one, pair.other)}
    same = {_ends(pair.one.entity, pair.other.entity) for pair in some if pair.same}
    found = {_ends(one.entity, one.into) for one in proposals(list(profiles.values()), at_least)}
    return Scored(
        pairs=len(some),
        proposed=len(found),
        right=len(found & same),
        same=len(same),
        missed=tuple(sorted(" / ".join(ends) for ends in same - found)),
        wrong=tuple(sorted(" / ".join(ends) for ends in found - same)),
    )


def evaluate_entities(half: str, language: str | None, at_least: float, show_misses: bool) -> dict[str, Any]:
    """Figures for each language and half; of the scoring half, what was missed is told only as a number."""
    every = pairs()
    rows = []
    for each in HALVES if half == "all" else (half,):
        for tongue in LANGUAGES if language is None else (language,):
            some = [pair for pair in every if pair.half == each and pair.language == tongue]
            result = score(some, at_least)
            row: dict[str, Any] = {
                "half": each,
                "language": tongue,
                "pairs": result.pairs,
                "proposed": result.proposed,
                "precision": round(result.precision, 4),
                "recall": round(result.recall, 4),
            }
            if show_misses and each == "building":
                row |= {"missed": list(result.missed), "wrong": list(result.wrong)}
            rows.append(row)
    return {"at_least": at_least, "rows": rows}


def table_of(result: dict[str, Any]) -> list[str]:
    """The figures as lines of text."""
    told = [f"{'half':8} {'language':8} {'pairs':>5} {'proposed':>8} {'precision':>9} {'recall':>7}"]
    for row in result["rows"]:
        told.append(
            f"{row['half']:8} {row['language']:8} {row['pairs']:5} {row['proposed']:8} "
            f"{row['precision']:9.3f} {row['recall']:7.3f}"
        )
        told += [f"  missed {name}" for name in row.get("missed", ())]
        told += [f"  wrong  {name}" for name in row.get("wrong", ())]
    return told


def _ends(one: Entity, other: Entity) -> tuple[str, str]:
    first, second = sorted(f"{entity.name} ({entity.type})" for entity in (one, other))
    return first, second


def _pair(line: str) -> Pair:
    head, one, other = line.split(" | ")
    half, language, mark = head.split()
    left, right = _profile(one), _profile(other)
    if one.rstrip().endswith("met"):
        left = msgspec.structs.replace(left, met=frozenset({right.id}))
    return Pair(half, language, mark == "+", left, right)


def _profile(text: str) -> Profile:
    name, type, told = (part.strip() for part in text.split(" :", 2))
    type = type.removeprefix(":").strip()
    facts = [fact.strip().partition("=") for fact in told.removeprefix(":").split(",") if "=" in fact]
    entity = Entity(name, type)
    return Profile(
        id=entity_id(_BANK, entity),
        entity=entity,
        aliases=tuple(value for attribute, _, value in facts if attribute == "alias"),
        facts=frozenset(
            (normal_name(attribute), normal_name(value)) for attribute, _, value in facts if attribute != "alias"
        ),
        single=frozenset(normal_name(attribute) for attribute, _, _ in facts if attribute != "alias"),
    )
