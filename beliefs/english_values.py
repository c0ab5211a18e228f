"""Rules for English statements that give an attribute a value: "X is V", changes."""

import re
from datetime import date
from typing import NamedTuple

from beliefs.english_words import (
    ATTRIBUTES,
    FREE_FORM,
    JUDGEMENTS,
    PHRASE,
    ROLES,
    SETTINGS,
    STATES,
    about,
    named,
    target,
)
from beliefs.reading import NOTHING, Reading, Readings, ReadValue, Sentence
from beliefs.sentences import words
from beliefs.typed import as_version, boolean_of, find_typed, yearless
from schemas.claim import EVERYWHERE, Scope
from schemas.entity import Entity
from schemas.instant import Instant, datetime_of

_ATTRIBUTE = re.compile(rf"(?i)(?P<rest>.+?)(?:'s)?\s(?P<attribute>{ATTRIBUTES}|{SETTINGS})")
_ENUMERATED = re.compile(rf"(?i)(?:.*\s)?(?:{ATTRIBUTES}|{SETTINGS})")
_HELD_BY_ONE = re.compile(
    rf"(?i)(?:.*\s)?(?:{ROLES}|name|location|venue|capital|supplier|vendor|provider|employer|doctor|dentist|teacher|landlord)"
)
_FREE_FORM = re.compile(rf"(?i)(?:.*\s)?(?:{FREE_FORM})")
_PROPER = re.compile(
    r"(?!(?:The|A|An|My|Not|No|In|On|At)\b)[A-Z][\w.'&-]*(?:\s(?:(?:of|van|de|von|and|the)\s)?[A-Z0-9][\w.'&-]*){0,3}"
)
_EXACT = re.compile(r"[\d@/+]|\w\.\w")
_TEXT = re.compile(r"[\w+@#(][^,;!?]{1,59}")
_POSSESSIVE = re.compile(r"(?P<owner>.+?)(?:'s|s')\s(?P<attribute>\w[\w -]*)")
_OF = re.compile(r"(?i)(?P<attribute>[\w-]+(?:\s[\w-]+)?)\sof\s(?P<owner>.+)")
_FOR = re.compile(r"(?i)(?P<attribute>.+?)\sfor\s(?P<scope>.+)")
_IN = re.compile(r"(?i)(?P<attribute>.+?)\sin\s(?:the\s)?(?:region\s(?P<a>\S+)|(?P<b>\S+)\sregion)")
_LEAD_FOR = re.compile(r"(?i)for\s(?P<scope>[^,]{2,60}),\s(?P<rest>.+)")
_LEAD_IN = re.compile(r"(?i)in\s(?:the\s)?(?:region\s(?P<a>[^\s,]+)|(?P<b>[^\s,]+)\sregion),?\s(?P<rest>.+)")

_DAYS = (
    r"(?P<days>(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends|weekdays|(?:public\s)?holidays|"
    r"working\sdays|work\sdays)"
)
_LEAD_ON = re.compile(rf"(?i)(?:on|at)\s{_DAYS}(?<=s),?\s(?P<rest>.+)")
_TAIL_ON = re.compile(rf"(?i)(?P<rest>.+\d.*?)\s(?:on|at)\s(?:all\s)?{_DAYS}(?<=s)")

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(r"(?:(?P<on>on|by)\s)?(?P<day>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)")

_OWNERLESS = words("the a an our current latest new")
_KEYS_OF_LOGS = words("time date note line page step id number total re subject update warning error info debug level")

_IS = re.compile(
    r"(?i)(?P<np>.+?)\s?(?:\s(?:is|are|(?P<was>was|were)|equals?|remains?|stands\sat|amounts\sto|has\sbeen|will\sbe)\s|==?\s?)(?P<value>.+)"
)
_IS_WORDS = words("is are was were equal equals remain remains stands amounts has will am")
_MARKS = re.compile(r"[:=]")
_COLON = re.compile(r"(?P<np>[A-Za-z][\w' -]{0,58}[A-Za-z0-9])\s?:\s(?P<value>.+)")
_MODIFIERS = re.compile(
    r"(?i)^(?:(?:now|currently|presently|only|exactly|set\sto|still|already|again|at|on|version)\s)+"
)
_AFTER = re.compile(r"(?i)(?:\s(?:per|a|an|each|every|in|of|to)\s\w+|\s\w+(?:\s(?:per|a|old|long)(?:\s\w+)?)?)?")
_COUNTED = re.compile(r"^(?:items?|units?|pieces?|pcs)$")
_WORDS = re.compile(rf"{PHRASE}")
_CHANGE = re.compile(
    r"(?i)(?P<np>.+?)\s(?:(?:was|were|has\sbeen|have\sbeen|is|are|has|have|will\sbe|got)\s)?(?:now\s)?"
    r"(?P<verb>changed|updated|raised|lowered|increased|decreased|reduced|set|upgraded|downgraded|renamed|rescheduled|"
    r"postponed|switched|cut|dropped|rose|fell|goes\sup|went\sup|went\sdown|moved)"
    r"(?:\sfrom\s(?P<old>.+?))?\sto\s(?P<value>.+)"
)
_CHANGED_BY = re.compile(
    r"(?i)(?:we|they|i|he|she|[A-Z]\w+)\s(?:have\s|has\s)?(?:changed|updated|raised|lowered|increased|decreased|reduced|"
    r"upgraded|downgraded|renamed|rescheduled|postponed|switched|cut)\s(?P<np>(?:the|our|my)\s.+?)(?:\sfrom\s.+?)?\sto\s(?P<value>.+)"
)
_AGE = re.compile(r"(?i)(?P<np>.+?)\s(?:is|am)\s(?P<value>\d{1,3})(?:\s?years?\sold)")


class Topic(NamedTuple):
    """Whose attribute a noun phrase names, and for which part of the world."""

    subject: Entity | None
    speaker: bool
    attribute: str
    scope: Scope


def topic_of(phrase: str) -> Topic | None:
    """Read "the price of X", "X's price", "my price", "the limit for X"; None where it names no clear thing."""
    phrase = phrase.strip(" ,")
    scope = EVERYWHERE
    if found := _IN.fullmatch(phrase):
        phrase, scope = found["attribute"], (("region", (found["a"] or found["b"]).casefold()),)
    elif found := _FOR.fullmatch(phrase):
        return _topic_for(found["attribute"], found["scope"])
    if phrase[:3].lower() == "my ":
        attribute = named(phrase[3:])
        return Topic(None, True, attribute.name.casefold(), scope) if attribute else None
    if found := _POSSESSIVE.fullmatch(phrase) or _OF.fullmatch(phrase) or _ATTRIBUTE.fullmatch(phrase):
        owner = found.groupdict().get("owner") or found["rest"]
        subject, attribute = named(owner), named(found["attribute"])
        if _OWNERLESS.issuperset(owner.lower().split()):
            subject = attribute
        return Topic(subject, False, attribute.name.casefold(), scope) if subject and attribute else None
    subject = named(phrase)
    return Topic(subject, False, subject.name.casefold(), scope) if subject else None


def _topic_for(attribute: str, phrase: str) -> Topic | None:
    what, part = named(attribute), target(phrase)
    if what is None or part is None:
        return None
    if re.fullmatch(f"(?i){SETTINGS}", what.name):
        return Topic(part[0], False, what.name.casefold(), part[1])
    plain = named(phrase)
    return Topic(what, False, what.name.casefold(), (("for", plain.name.casefold()),)) if plain else None


def cut_scope(text: str) -> tuple[str, Scope]:
    """Take a leading "for X,", "in region X," or "on weekends," off the sentence, or a closing "on Sundays"."""
    if found := _LEAD_IN.fullmatch(text):
        return found["rest"], (("region", (found["a"] or found["b"]).casefold()),)
    if (found := _LEAD_FOR.fullmatch(text)) and (part := named(found["scope"])):
        return found["rest"], (("for", part.name.casefold()),)
    if found := _LEAD_ON.fullmatch(text) or _TAIL_ON.fullmatch(text):
        return found["rest"], (("on", found["days"].casefold()),)
    return text, EVERYWHERE


def read_value(text: str, attribute: str, sentence: Sentence) -> ReadValue | None:
    """The whole text as one value, with its type and the words that follow it ("items", "per month")."""
    text = text.strip(" ,")
    if (day := _WEEKDAY.fullmatch(text)) and (day["on"] or attribute.endswith(("deadline", "date"))):
        return _next(day["day"], sentence.moment), "date", ""
    text = _MODIFIERS.sub("", text)
    if _FREE_FORM.fullmatch(attribute):
        return (text, "text", "") if _is_exact(text) else None
    enumerated = _ENUMERATED.fullmatch(attribute)
    if not enumerated and _HELD_BY_ONE.fullmatch(attribute) and _PROPER.fullmatch(text):
        return text, "name", ""
    found = find_typed(text, sentence.moment)
    if found:
        value = found[0]
        rest = text[value.end :]
        if len(found) != 1 or value.start or not _AFTER.fullmatch(rest):
            return None
        if attribute.endswith("version"):
            value = as_version(value)
        if attribute.endswith(("birthday", "anniversary")):
            value = yearless(value)
        return value.value, value.type, _COUNTED.sub("", rest.strip().casefold())
    switch = boolean_of(text)
    if switch is not None:
        return switch, "boolean", ""
    parts = text.split()
    if len(parts) > 4 or not enumerated or not _WORDS.fullmatch(text):
        return None
    if not JUDGEMENTS.isdisjoint(part.lower() for part in parts):
        return None
    return text, "enum", ""


def _next(weekday: str, moment: Instant) -> str:
    """The day that a weekday means in a statement of what is to be: the first from the moment on."""
    today = datetime_of(moment).date()
    ahead = (_WEEKDAYS.index(weekday.casefold()) - today.weekday()) % 7
    return date.fromordinal(min(today.toordinal() + ahead, date.max.toordinal())).isoformat()


def _is_timed(text: str, sentence: Sentence) -> bool:
    return _WEEKDAY.fullmatch(text) is not None or bool(find_typed(text, sentence.moment))


def _is_exact(text: str) -> bool:
    """Whether a text looks like an address of some kind: short, with digits, marks or a name."""
    short = _TEXT.fullmatch(text) is not None and len(text.split()) <= 8
    return short and (_EXACT.search(text) is not None or _PROPER.fullmatch(text) is not None)


def slot(topic: Topic, value: ReadValue) -> Reading:
    """The reading that gives a topic a value; a thing itself is on or off by its attribute "enabled"."""
    attribute = f"{topic.attribute} {value[2]}".strip()
    if value[1] == "boolean" and topic.subject is not None and topic.subject.name.casefold() == topic.attribute:
        attribute = "enabled"
    return Reading(
        attribute=attribute,
        value=value[0],
        value_type=value[1],
        subject=topic.subject,
        speaker=topic.speaker,
        scope=topic.scope,
    )


def _read_slot(np: str, text: str, sentence: Sentence) -> Readings:
    topic = topic_of(np)
    value = read_value(text, topic.attribute, sentence) if topic else None
    return (slot(topic, value),) if topic and value else NOTHING


def is_value(sentence: Sentence) -> Readings:
    """As in "X is V", "X = V", "X: V" with a typed value, or with a word where the attribute is one of words.

    What a thing *was*, without a date, tells of the past and speaks against nothing.
    """
    if _IS_WORDS.isdisjoint(sentence.words) and not _MARKS.search(sentence.text):
        return NOTHING
    if "old" in sentence.words and (found := _AGE.fullmatch(sentence.text)):
        age = Reading(attribute="age", value=int(found["value"]), value_type="number")
        return about(age, found["np"])
    found = _COLON.fullmatch(sentence.text)
    if found and found["np"].lower() in _KEYS_OF_LOGS:
        return NOTHING
    found = found or _IS.fullmatch(sentence.text)
    if found and not sentence.dated and found.groupdict().get("was"):
        return NOTHING
    return _read_slot(found["np"], found["value"], sentence) if found else NOTHING


def change(sentence: Sentence) -> Readings:
    """As in "X changed from A to B", "X was raised to B", "we set X to B": supports B."""
    found = _CHANGED_BY.fullmatch(sentence.text)
    if found is None:
        found = _CHANGE.fullmatch(sentence.text)
        if found is None or (found["verb"].lower() == "moved" and not _is_timed(found["value"], sentence)):
            return NOTHING
    topic = topic_of(found["np"])
    if topic is None:
        return NOTHING
    text = found["value"]
    if day := _WEEKDAY.fullmatch(text):
        return (slot(topic, (_next(day["day"], sentence.moment), "date", "")),)
    if "renamed" in sentence.text and _PROPER.fullmatch(text) and topic.subject is not None:
        return (Reading(attribute="name", value=text, value_type="name", subject=topic.subject),)
    if text.casefold() in STATES and not _ENUMERATED.fullmatch(topic.attribute):
        topic = topic._replace(attribute="status")
    value = read_value(text, topic.attribute, sentence)
    if value is None and found.groupdict().get("old") and len(text.split()) <= 3 and _WORDS.fullmatch(text):
        value = None if find_typed(text, sentence.moment) else (text, "enum", "")
    return (slot(topic, value),) if value else NOTHING
