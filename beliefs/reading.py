"""What a rule reads and what it answers: a prepared sentence in, readings of it out."""

import re
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from beliefs.typed import Typed
from schemas.claim import EVERYWHERE, Kind, Network, Scope, Stance, Tier, Value, ValueType, scope_of
from schemas.entity import DEFAULT_TYPE, Entity
from schemas.instant import Instant

Negation = Literal["", "not", "ended", "forbidden"]


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence as rules see it: NFKC, without its end mark, dates of validity, exceptions and negation.

    `urged` says that it began as a rule or request ("always", "please", 必须), `standing` that it is one for all
    times ("always", "never"); `dated` that a date of validity was cut.
    `words` are those of an English sentence, in small letters.
    """

    text: str
    moment: Instant
    negation: Negation = ""
    urged: bool = False
    standing: bool = False
    dated: bool = False
    words: frozenset[str] = frozenset()


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule understood: a value of an attribute of a subject.

    `subject` None means that nobody is named; `speaker` that the sentence is about who says it. Without an
    attribute the sentence is only marked (by `rule`) and stays a free claim, beside what else was read of it.
    """

    attribute: str | None
    value: Value | None
    value_type: ValueType | None = None
    subject: Entity | None = None
    speaker: bool = False
    scope: Scope = EVERYWHERE
    stance: Stance = "supports"
    kind: Kind | None = None
    tier: Tier | None = None
    network: Network | None = None
    effective_at: Instant | None = None
    valid_until: Instant | None = None
    rule: str = ""


Readings = tuple[Reading, ...]
ReadValue = tuple[Value, ValueType, str]
"""A value, its type, and the words after it that belong to the attribute."""

Rule = Callable[[Sentence], Readings]
NOTHING: Readings = ()

_OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}


def first_fit(rules: Iterable[tuple[str, Rule]], language: str, sentence: Sentence) -> Readings:
    """The readings of the first rule that fits, each bearing the rule's name."""
    for name, rule in rules:
        readings = rule(sentence)
        if readings:
            return tuple(msgspec.structs.replace(r, rule=r.rule or f"rule:{language}.{name}") for r in readings)
    return NOTHING


def needing(signs: str, rule: Rule) -> Rule:
    """The rule, tried only where the sentence has one of these words: a cheap look before its patterns."""
    needed = frozenset(signs.split())

    def gated(sentence: Sentence) -> Readings:
        return NOTHING if needed.isdisjoint(sentence.words) else rule(sentence)

    return gated


def negated(readings: Readings, negation: Negation) -> Readings:
    """What the sentence says when it denies (not, forbidden) or ends (no longer) what the readings say."""
    if not negation:
        return readings
    return tuple(turned for reading in readings for turned in _negate(reading, negation))


def preference(subject: Reading, liked: bool, value: str) -> Readings:
    """A liking and the end of its opposite: who comes to like a thing dislikes it no more."""
    attribute = "likes" if liked else "dislikes"
    told = msgspec.structs.replace(subject, attribute=attribute, value=value, value_type="text")
    return told, msgspec.structs.replace(told, attribute=_OPPOSITE[attribute], stance="retracts")


def template(before: str, value: Typed, after: str, drop: re.Pattern[str]) -> str:
    """The attribute that sentences share which differ only in this value."""
    left = drop.sub(" ", f"{before} {value.mark} {after}").casefold()
    return " ".join(left.replace(",", " ").replace("，", " ").split())


def thing(name: str, type: str = DEFAULT_TYPE) -> Entity:
    """An entity found in a sentence."""
    return Entity(" ".join(name.split())[:200], type)


def _negate(reading: Reading, negation: Negation) -> Readings:
    replace = msgspec.structs.replace
    if reading.stance != "supports":
        return NOTHING
    if isinstance(reading.value, bool):
        denied = replace(reading, value=not reading.value)
        attribute = reading.attribute or ""
        if negation == "forbidden" and attribute.startswith("must "):
            return denied, replace(denied, attribute="can " + attribute.removeprefix("must "))
        return (denied,)
    if reading.attribute == "likes" and negation == "not":
        return preference(reading, False, str(reading.value))
    if negation == "not" and reading.kind != "instruction":
        return (replace(reading, stance="refutes"),)
    return (replace(reading, stance="retracts"),)


def with_aliases(aliases: Readings, others: Readings, rest: str) -> Readings:
    """Further names, and what the rest of the sentence says; where nothing of that is read, it is kept, too."""
    if others or not rest:
        return (*aliases, *others)
    kept = Reading(attribute=None, value=None, subject=aliases[0].subject, rule="free")
    return (*aliases, kept)


def order(attribute: str, value: str | bool, whole: tuple[Entity | None, Scope]) -> Reading:
    """An instruction about a subject in a scope."""
    return Reading(
        attribute=attribute,
        value=value,
        value_type="boolean" if isinstance(value, bool) else "enum",
        subject=whole[0],
        scope=whole[1],
        kind="instruction",
        tier="high",
    )


def cut_lead(lead: re.Pattern[str], text: str) -> tuple[str, bool]:
    """Take opening words off ("please", "note that"), at most three, and say whether any group `urged`."""
    urged = False
    for _ in range(3):
        found = lead.match(text)
        if found is None:
            break
        urged = urged or found["urged"] is not None
        text = text[found.end() :]
    return text, urged


def within(readings: Readings, scope: Scope, effective_at: Instant | None, valid_until: Instant | None) -> Readings:
    """The readings, narrowed to a scope and to the dates between which the sentence says it holds."""
    if not scope and effective_at is None and valid_until is None:
        return readings
    return tuple(
        msgspec.structs.replace(
            reading,
            scope=scope_of({**dict(scope), **dict(reading.scope)}),
            effective_at=effective_at,
            valid_until=valid_until,
        )
        for reading in readings
    )
