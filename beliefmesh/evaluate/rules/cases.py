"""The hand-written cases: what short texts, told one after the other, state, and which of them conflict.

One case a line in `english.jsonl` and `chinese.jsonl`. Its texts are told one a day, by one speaker, each from a
source of its own. A slot says what a text states: `about` are words that its entity, attribute or scope bear ("a|b" is
either, "me" is who speaks), `value` likewise, `scope` is a word of its qualifiers. What is `optional` may be read or
not, and an `unscored` pair may conflict or not; the pairs of `conflicts` do, and all others do not.

A hash of language and id puts a case in the half for building rules or in the half for scoring them, for good.
"""

from itertools import combinations
from pathlib import Path
from typing import Literal, get_args

import msgspec

from beliefmesh.evaluate.reading import decode, read_lines
from schemas.claim import Stance
from schemas.errors import InvalidInput
from schemas.identity import digest

Language = Literal["en", "zh"]
Half = Literal["building", "scoring"]
Pair = tuple[int, int]
"""The places of two texts, from 1, in the order in which they are told."""

LANGUAGES: tuple[Language, ...] = get_args(Language)
HALVES: tuple[Half, ...] = get_args(Half)
_FILES: dict[Language, str] = {"en": "english.jsonl", "zh": "chinese.jsonl"}


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The entity that an observation is given with."""

    name: str
    type: str = "thing"


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A slot that a text fills: what it is about, its value, a word of its scope, and the stance."""

    about: str
    value: str
    scope: str = ""
    stance: Stance = "supports"
    optional: bool = False


class CaseText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text, the slots that it fills, and who says it, when, and about what, where the case says so."""

    text: str
    slots: tuple[Expected, ...] = ()
    at: str = ""
    agent: str = ""
    entity: Subject | None = None


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Texts told in order, and the pairs of them that conflict."""

    id: str
    told: tuple[CaseText, ...]
    conflicts: tuple[Pair, ...] = ()
    unscored: tuple[Pair, ...] = ()

    def pairs(self) -> list[Pair]:
        """Every pair of texts whose conflict is scored."""
        return [pair for pair in combinations(range(1, len(self.told) + 1), 2) if pair not in self.unscored]


def half_of(language: Language, id: str) -> Half:
    """In which half a case stands; depends on its language and id alone."""
    return HALVES[int(digest(language, id)[-1], 16) % 2]


def cases_in(language: Language, half: Half | None = None) -> list[Case]:
    """The bundled cases of a language, those of one half where one is named."""
    cases = read_cases(Path(__file__).with_name(_FILES[language]))
    return [case for case in cases if half is None or half_of(language, case.id) == half]


def read_cases(path: Path) -> list[Case]:
    """The cases of a file. Raises InvalidInput naming the line, and what of it cannot be used."""
    cases: list[Case] = []
    known: set[str] = set()
    for number, line in enumerate(read_lines(path, "cases"), 1):
        if line.strip():
            place = f"cases: {path.name} line {number}"
            case = decode(line.encode(), place, Case)
            _check(case, place, known)
            known.add(case.id)
            cases.append(case)
    return cases


def _check(case: Case, place: str, known: set[str]) -> None:
    if not case.id or case.id in known:
        raise InvalidInput(place, f"has the id {case.id!r}; give every case an id of its own")
    if not case.told or not all(one.text.strip() for one in case.told):
        raise InvalidInput(place, f"{case.id} has no text, or an empty one; tell at least one")
    for pair in (*case.conflicts, *case.unscored):
        if not 1 <= pair[0] < pair[1] <= len(case.told):
            raise InvalidInput(place, f"{case.id} names the pair {list(pair)}; its texts are 1 to {len(case.told)}")
    if set(case.conflicts) & set(case.unscored):
        raise InvalidInput(place, f"{case.id} has a pair both in conflicts and in unscored; keep it in one")
    if any(not slot.about.split() or not slot.value for one in case.told for slot in one.slots):
        raise InvalidInput(place, f"{case.id} has a slot without words or value; name what the text is about")
