"""Rules for English statements about people: likings, preferences, allergies, names, birthplaces."""

import re

import msgspec

from beliefs.english_words import SETTINGS, about
from beliefs.reading import NOTHING, Reading, Readings, Sentence, preference
from beliefs.typed import find_typed

WHO = r"(?P<who>I|(?:[Uu]ser\s|[Cc]ustomer\s|[Aa]gent\s)?[A-Z][\w.-]*(?:\s[A-Z][\w.-]*){0,2}|[Tt]he\s(?:user|customer))"
"""The speaker, or someone by name."""

_LIKES = re.compile(
    WHO + r"\s(?:(?:really|also|still|now|always|absolutely|just|do|does)\s)*"
    r"(?P<verb>likes?|loves?|enjoys?|adores?|hates?|dislikes?|detests?|prefers?)\s(?P<what>[\w'&/+#.-]+(?:\s[\w'&/+#.-]+){0,9})"
)
_FAVOURITE = re.compile(
    r"(?P<who>[Mm]y|(?:[Uu]ser\s)?[A-Z]\w*'s)\s(?i:favou?rite)\s(?P<topic>\w+(?:\s\w+)?)\sis\s(?P<value>.+)"
)
_OVER = re.compile(r"(?i)(?P<value>.+?)\s(?:over|to|more\sthan)\s.+")
_TOPIC = re.compile(r"(?i)(?P<value>.+?)\sfor\s(?:the\s|my\s|all\s)?(?P<topic>.+)")
_OBJECT_TOPIC = re.compile(
    rf"(?i)(?:a\s|an\s|the\s)?(?P<value>\S+(?:\s\S+)?)\s(?P<topic>{SETTINGS}|mode|seat|room|table|bed|size|view|floor|airline|hotel|diet|channel)s?"
)
_CONTACT = re.compile(
    r"(?i)(?:to\s)?(?:be\s(?:contacted|reached|called)|contact)\s(?:by|via|over|through)\s(?P<value>\S+(?:\s\S+)?)"
)
_VAGUE = re.compile(
    r"(?i)(?:to\s)?(?:it|this|that|these|those|him|her|them|you|me|us|how|what|one|where|who|your|his|their|its|too|so)\b"
)
_ALLERGIC = re.compile(WHO + r"\s(?:is|am|'m)\s(?:severely\s|highly\s|very\s)?allergic\sto\s(?P<what>.+)")
_HAS_ALLERGY = re.compile(
    WHO + r"\s(?:has|have)\s(?:an?\s)?(?:severe\s|strong\s)?(?P<what>\w+(?:\s\w+)?)\sallergy"
    r"|" + WHO.replace("who", "who2") + r"\s(?:has|have)\san?\s(?:severe\s)?allergy\sto\s(?P<what2>.+)"
)
_HABIT = re.compile(
    WHO + r"\s(?:(?:never|always|do|does|now|still)\s)*"
    r"(?P<verb>eat|drink|smoke|speak(?=s?\s[A-Z]))s?\s(?P<what>[\w-]+(?:\s[\w-]+)?)"
)
_MEALS = re.compile(
    r"(?i)\b(?:breakfast|lunch|dinner|there|here|out|home|together|well|a|an|the|my|his|her|some|to|with)\b"
)
_AND = re.compile(r"\s?(?:,\sand|,|\sand)\s")
_ANOTHER = re.compile(r"^(?:both\s)?(?:also\s)?(?:to\s)?")
_NAMES = re.compile(
    r"(?:(?P<i>[Mm]y\s(?:full\s)?name\sis|I\sam\scalled)\s|(?P<nick>(?:(?:[Pp]lease|[Yy]ou\scan|[Jj]ust)\s)*[Cc]all\sme|I\sgo\sby|[Mm]y\snickname\sis)\s"
    r"|(?P<who>.+?)\s(?:is\s(?:called|named)|goes\sby\sthe\sname(?:\sof)?)\s)"
    r"(?P<name>['\w][\w.'-]*(?:\s[A-Z][\w.'-]*){0,3})"
)
_BORN_ON = re.compile(WHO + r"\s(?:was|were)\sborn\son\s(?P<day>.+)")
_BORN = re.compile(WHO + r"\s(?:was|were)\sborn\sin\s(?P<where>(?:the\s)?[A-Z][\w.'-]*(?:,?\s[A-Z][\w.'-]*){0,3})")


def likes(sentence: Sentence) -> Readings:
    """As in "I like X", "Alice prefers X over Y", "my favourite T is X"."""
    if found := _FAVOURITE.fullmatch(sentence.text):
        if len(found["value"].split()) > 4:
            return NOTHING
        best = Reading(attribute=f"preference.{found['topic'].casefold()}", value=found["value"], value_type="text")
        return about(best, "I" if found["who"].lower() == "my" else found["who"][:-2])
    found = _LIKES.fullmatch(sentence.text)
    if found is None or _VAGUE.match(found["what"]):
        return NOTHING
    verb, what = found["verb"].lower(), found["what"].removeprefix("to ")
    if verb.startswith("prefer"):
        return _prefers(found["who"], what)
    whose = about(Reading(attribute="likes", value=""), found["who"])
    if not whose or len(what.split()) > 6:
        return NOTHING
    return preference(whose[0], not verb.startswith(("hate", "dislike", "detest")), what)


def _prefers(who: str, what: str) -> Readings:
    if found := _OVER.fullmatch(what):
        what = found["value"]
    topic = ""
    if found := _CONTACT.fullmatch(what):
        what, topic = found["value"], "contact"
    elif found := _TOPIC.fullmatch(what) or _OBJECT_TOPIC.fullmatch(what):
        what, topic = found["value"], found["topic"]
    if len(what.split()) > 5 or len(topic.split()) > 3:
        return NOTHING
    if topic:
        return about(Reading(attribute=f"preference.{topic.casefold()}", value=what, value_type="text"), who)
    whose = about(Reading(attribute="likes", value=""), who)
    return preference(whose[0], True, what) if whose else NOTHING


def allergic(sentence: Sentence) -> Readings:
    """As in "X is allergic to A and B", "X has a nut allergy"."""
    found = _ALLERGIC.fullmatch(sentence.text) or _HAS_ALLERGY.fullmatch(sentence.text)
    if found is None:
        return NOTHING
    groups = found.groupdict()
    who, what = groups["who"] or groups["who2"], groups["what"] or groups["what2"]
    if len(what.split()) > 8 or _VAGUE.match(what):
        return NOTHING
    parts = [part for each in _AND.split(what) if (part := _ANOTHER.sub("", each.strip()))]
    allergies = (Reading(attribute="allergy", value=part, value_type="text") for part in parts)
    return tuple(reading for allergy in allergies for reading in about(allergy, who))


def habit(sentence: Sentence) -> Readings:
    """As in "I eat meat", "X speaks French": so or not."""
    found = _HABIT.fullmatch(sentence.text)
    if found is None or _MEALS.search(found["what"]) or _VAGUE.match(found["what"]):
        return NOTHING
    does = Reading(attribute=f"{found['verb']} {found['what'].casefold()}", value=True, value_type="boolean")
    return about(does, found["who"])


def names(sentence: Sentence) -> Readings:
    """As in "My name is X", "call me X", "Y is called X"."""
    found = _NAMES.fullmatch(sentence.text)
    if found is None:
        return NOTHING
    attribute = "nickname" if found["nick"] else "name"
    return about(Reading(attribute=attribute, value=found["name"], value_type="name"), found["who"] or "I")


def born(sentence: Sentence) -> Readings:
    """As in "X was born in P", "X was born on D"."""
    if found := _BORN_ON.fullmatch(sentence.text):
        days = find_typed(found["day"], sentence.moment)
        if len(days) != 1 or days[0].type != "date" or days[0].raw != found["day"]:
            return NOTHING
        return about(Reading(attribute="birth date", value=days[0].value, value_type="date"), found["who"])
    found = _BORN.fullmatch(sentence.text)
    if found is None:
        return NOTHING
    birth = Reading(attribute="birthplace", value=found["where"], value_type="name")
    if found["who"] == "I":
        return (msgspec.structs.replace(birth, speaker=True, network="experience"),)
    return about(birth, found["who"])
