"""Rules for English statements of where: where people live and work, where things are and take place."""

import re

import msgspec

from beliefs.english_people import WHO
from beliefs.english_words import about, named
from beliefs.reading import NOTHING, Reading, Readings, Sentence
from beliefs.sentences import words

_PLACE = r"(?:the\s)?[A-Z0-9][\w.&'-]*(?:,?\s(?:(?:of|and|the|upon)\s)?[A-Z0-9][\w.&'-]*){0,4}"
_LIVES = re.compile(
    WHO + r"\s(?:(?:now|currently|still|also|has|have|do|does)\s)*"
    r"(?:lives?\s(?:in|at)|resides?\s(?:in|at)|(?:has\s|have\s)?(?:just\s)?(?:moved|relocated)\sto|(?:is|am)\sbased\sin)"
    rf"\s(?P<where>{_PLACE})(?:\snow)?"
)
_WORKS = re.compile(
    WHO + r"\s(?:(?:now|currently|still|do|does)\s)*"
    r"(?:works?\s(?:at|for)|(?:is|am)\semployed\s(?:at|by)|(?:has\s|have\s)?joined)"
    rf"\s(?P<where>{_PLACE})(?:\snow)?"
)
_IS_IN = re.compile(
    r"(?P<np>(?:[Tt]he|[Oo]ur|[Aa]ll|[Ee]very|[A-Z][\w'-]*)(?:\s[\w'-]+){0,5}?)\s"
    r"(?:(?:is|are)(?:\s(?:now|located|held|based|situated|kept|stored|hosted))?|(?:now\s)?takes?\splace|meets?|(?:was|were|has\sbeen)\smoved)"
    rf"\s(?:in|at|to)\s(?P<where>(?i:room|building|hall|floor|office|gate|warehouse|aisle|shelf|terminal)\s[\w.-]+|{_PLACE})"
)
_STANDS = re.compile(r"\b(?:located|held|based|situated|kept|stored|hosted|place|meets?|moved)\b")
_ARTICLE = re.compile(r"(?:[Tt]he|[Oo]ur|[Aa]ll|[Ee]very)\s")
_ROOM = re.compile(r"(?i)(?:room|building|hall|floor|office|gate|warehouse|aisle|shelf|terminal)\s")
_NO_PLACE = words(
    "january february march april may june july august september october november december english chinese french "
    "german spanish japanese korean italian portuguese russian arabic dutch mandarin spring summer autumn fall winter "
    "monday tuesday wednesday thursday friday saturday sunday christmas easter progress"
)


def lives(sentence: Sentence) -> Readings:
    """As in "X lives in P", "X moved to P"."""
    return _about_person(_LIVES, "residence", sentence)


def works(sentence: Sentence) -> Readings:
    """As in "X works at O", "X works for O"."""
    return _about_person(_WORKS, "employer", sentence)


def is_in(sentence: Sentence) -> Readings:
    """As in "The office is in P", "the review takes place in room R"; where people happen to be is no rule's."""
    found = _IS_IN.fullmatch(sentence.text)
    if found is None or not _is_place(found["where"]):
        return NOTHING
    fixed = _ARTICLE.match(found["np"]) or _STANDS.search(sentence.text) or _ROOM.match(found["where"])
    subject = named(found["np"]) if fixed else None
    if subject is None:
        return NOTHING
    return (Reading(attribute="location", value=found["where"], value_type="name", subject=subject),)


def _about_person(pattern: re.Pattern[str], attribute: str, sentence: Sentence) -> Readings:
    found = pattern.fullmatch(sentence.text)
    if found is None or not _is_place(found["where"]):
        return NOTHING
    where = Reading(attribute=attribute, value=found["where"].removeprefix("the "), value_type="name")
    if found["who"] == "I":
        return (msgspec.structs.replace(where, speaker=True),)
    return about(where, found["who"])


def _is_place(text: str) -> bool:
    return _NO_PLACE.isdisjoint(text.lower().replace(",", " ").split()) and not text[0].isdigit()
