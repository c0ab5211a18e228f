"""Rules for English instructions: what to use, how to set, what must always or never be done."""

import re

import msgspec

from beliefs.english_states import canonical
from beliefs.english_values import read_value, slot, topic_of
from beliefs.english_words import NAME, ORDERS, SETTINGS, named, singular, target
from beliefs.reading import NOTHING, Readings, ReadValue, Sentence, order, thing
from beliefs.sentences import words
from beliefs.typed import find_typed
from schemas.claim import EVERYWHERE, Scope
from schemas.entity import Entity

_PART = r"(?P<part>date|time|number|file|output|page|report|email|currency|invoice|code)\s"
_CHOICE = rf"(?:the\s)?(?:{_PART})?(?P<setting>{SETTINGS})\s(?P<value>{NAME}(?:\s{NAME})?)"
_CHOICE_BEFORE = rf"(?:the\s)?(?P<value2>{NAME})\s(?P<setting2>{SETTINGS})"
_USE = re.compile(rf"(?i)use\s(?:{_CHOICE}|{_CHOICE_BEFORE})(?:\sfor\s(?P<what>.+))?")
_USED_BY = re.compile(
    r"(?i)(?P<what>.+?)\s(?P<must>(?:must|should|shall|have\sto|has\sto|will)\s)?(?:always\s)?uses?\s"
    + f"(?:{_CHOICE}|{_CHOICE_BEFORE})"
)
_USE_PLAIN = re.compile(rf"use\s(?P<value>{NAME}(?:\s[A-Z0-9][\w.+#-]*)?)\sfor\s(?P<what>.+)", re.IGNORECASE)
_USED_BY_ALL = re.compile(
    r"(?i)(?P<what>(?:all|every)\s.+?|everything|[a-z-]+(?:\s[a-z-]+)?s)\s(?:(?:must|should|shall)\s)?(?:always\s)?use(?P<s>s?)\s(?P<value>(?-i:[A-Z0-9])[\w.+#-]*)"
)
_ALL = words("everything everyone everywhere all always")
_SET = re.compile(
    r"(?i)(?:set|change|switch|turn|update|raise|lower|increase|decrease|reduce)\s(?P<np>.+?)\s(?:from\s.+?\s)?to\s(?P<value>.+)"
)
_TURN = re.compile(
    r"(?i)(?:turn|switch)\s(?:(?P<first>on|off)\s(?P<np>.+)|(?P<np2>.+)\s(?P<second>on|off))|(?P<verb>enable|disable)\s(?P<np3>.+)"
)
_AS = re.compile(
    r"(?i)(?P<verb>save|export|store|render|display|show|format|answer|reply|respond|write|speak|deliver|send)"
    r"(?:\s(?P<what>.+?))?\s(?P<how>as|in|by|via)\s(?:an?\s)?"
    rf"(?P<value>{NAME}(?:\s{NAME})?)(?:\s(?:files?|format|documents?))?"
)
_LANGUAGES = words(
    "english chinese french german spanish japanese korean italian portuguese russian arabic dutch mandarin"
)
_CHANNELS = words("email e-mail mail post sms text phone fax slack teams chat courier webhook push")
_MAKE = re.compile(
    r"(?i)make\s(?:the\s|my\s)?(?P<np>[\w-]+(?:\s[\w-]+){0,2}?)\s(?P<value>(?:(?:a\s)?(?:one|two|three|\d+|little|bit|much)\s(?:\w+\s)?)?"
    r"(?P<word>larger|bigger|smaller|darker|lighter|brighter|wider|narrower|faster|slower|louder|quieter|bold))"
)
_DIMENSION = {
    **dict.fromkeys(("larger", "bigger", "smaller"), "size"),
    **dict.fromkeys(("darker", "lighter", "brighter"), "brightness"),
    **dict.fromkeys(("wider", "narrower"), "width"),
    **dict.fromkeys(("faster", "slower"), "speed"),
    **dict.fromkeys(("louder", "quieter"), "volume"),
    "bold": "weight",
}
_MUST = re.compile(
    r"(?i)(?P<np>.+?)\s(?:(?P<must>must|shall|has\sto|have\sto|needs?\sto|(?:is|are)\srequired\sto)|should(?=\s(?:be|not|use|always)\b))"
    r"\s(?:always\s)?(?P<p>.+)"
)
_ORDER = re.compile(rf"(?i)(?P<verb>{ORDERS})\s(?P<object>\w.+)")
_PARTICIPLE = re.compile(r"(?i)be\s\w+(?:ed|en|wn|nt|pt|ld|ut|et|ade|ade)\b")
_ARTICLES = words("a an")
_UNIQUE = words("a an this that these those it them him her me us you your his")


def use(sentence: Sentence) -> Readings:
    """As in "Use template A for all reports", "financial reports use template B"."""
    if found := _USE.fullmatch(sentence.text):
        return _choice(found, found["what"] or "", True)
    if found := _USED_BY.fullmatch(sentence.text):
        what = found["what"]
        universal = what.split()[0].lower() in (*_ALL, "every", "each")
        return _choice(found, what, universal or bool(found["must"]) or what.lower().endswith("s"))
    if found := _USE_PLAIN.fullmatch(sentence.text):
        whole = _scoped(found["what"], "use")
        return (order("use", found["value"], whole),) if whole and _is_name(found["value"]) else NOTHING
    if found := _USED_BY_ALL.fullmatch(sentence.text):
        whole = _scoped(found["what"], "use")
        return (order("use", found["value"], whole),) if whole else NOTHING
    return NOTHING


def set_to(sentence: Sentence) -> Readings:
    """As in "Set the theme to dark", "turn notifications off", "enable caching"."""
    if found := _TURN.fullmatch(sentence.text):
        subject = named(found["np"] or found["np2"] or found["np3"])
        on = (found["first"] or found["second"] or found["verb"]).lower() in ("on", "enable")
        return (order("enabled", on, (subject, EVERYWHERE)),) if subject else NOTHING
    found = _SET.fullmatch(sentence.text)
    topic = topic_of(found["np"]) if found else None
    if found is None or topic is None:
        return NOTHING
    value = read_value(found["value"], topic.attribute, sentence) or _word(found["value"], sentence)
    return (msgspec.structs.replace(slot(topic, value), kind="instruction", tier="high"),) if value else NOTHING


def save_as(sentence: Sentence) -> Readings:
    """As in "Save as PDF", "answer in English", "send reports by email"."""
    found = _AS.fullmatch(sentence.text)
    if found is None:
        return NOTHING
    how, value, what = found["how"].lower(), found["value"], found["what"] or ""
    if how == "in" and value.lower() not in _LANGUAGES:
        return NOTHING
    if how in ("by", "via") and value.lower() not in _CHANNELS:
        return NOTHING
    if how == "as" and not _is_name(value) and not sentence.urged:
        return NOTHING
    whole = _scoped(what, "") if what else (None, EVERYWHERE)
    how = "by" if how == "via" else how
    return (order(f"{found['verb'].lower()} {how}", value, whole),) if whole else NOTHING


def make(sentence: Sentence) -> Readings:
    """As in "Make the font one size larger"."""
    found = _MAKE.fullmatch(sentence.text)
    subject = named(found["np"]) if found else None
    if found is None or subject is None:
        return NOTHING
    attribute = f"{subject.name.casefold()} {_DIMENSION[found['word'].lower()]}"
    return (order(attribute, found["value"], (subject, EVERYWHERE)),)


def must(sentence: Sentence) -> Readings:
    """As in "X must P", "X should be P": a duty, which is in force or not."""
    found = _MUST.fullmatch(sentence.text)
    subject = named(found["np"]) if found else None
    if found is None or subject is None or len(found["p"].split()) > 8 or find_typed(found["p"], sentence.moment):
        return NOTHING
    predicate = canonical(found["p"])
    if predicate.startswith("be ") and not _PARTICIPLE.match(predicate):
        return NOTHING
    return (order("must " + predicate, True, (subject, EVERYWHERE)),)


def always(sentence: Sentence) -> Readings:
    """As in "Always encrypt backups", "never share passwords", "do not deploy on Fridays"."""
    if not sentence.urged and sentence.negation != "not":
        return NOTHING
    found = _ORDER.fullmatch(sentence.text)
    words = found["object"].lower().split() if found else []
    if (
        found is None
        or len(words) > 9
        or not (_UNIQUE - _ARTICLES if sentence.standing else _UNIQUE).isdisjoint(words[:1])
        or find_typed(sentence.text, sentence.moment)
    ):
        return NOTHING
    attribute = f"{found['verb'].lower()} {canonical(found['object'])}"
    return (order(attribute, True, (None, EVERYWHERE)),)


def _choice(found: re.Match[str], what: str, ordered: bool) -> Readings:
    setting = (found["setting"] or found["setting2"]).lower()
    value = found["value"] or found["value2"]
    whole = _scoped(what, setting)
    if whole is None or value in ("the", "a", "same", "this", "that", "new", "old", "another", "previous", "original"):
        return NOTHING
    part = found["part"].lower() + " " if found["setting"] and found["part"] else ""
    reading = order(part + setting, value, whole)
    return (reading if ordered else msgspec.structs.replace(reading, kind=None, tier=None),)


def _scoped(what: str, setting: str) -> tuple[Entity, Scope] | None:
    """For whom a choice holds; without a noun it is about the setting itself."""
    if not what or what.lower() in _ALL:
        return thing(setting), EVERYWHERE
    if (
        what[0].isupper()
        and not what.lower().startswith(("all ", "every ", "the ", "each "))
        and singular(what) == what.lower()
    ):
        subject = named(what)
        return (subject, EVERYWHERE) if subject else None
    return target(what)


def _is_name(word: str) -> bool:
    """Whether it looks like the name of a product or format (PDF, PostgreSQL, utf8)."""
    return any(mark.isupper() or mark.isdigit() for mark in word)


def _word(text: str, sentence: Sentence) -> ReadValue | None:
    """A plain word as a value; an order may set what has no list of values."""
    return None if len(text.split()) > 2 or find_typed(text, sentence.moment) else (text, "enum", "")
