"""English words that the rules turn on: subjects, attributes, states, verbs, and what makes a sentence unsure."""

import re

import msgspec

from beliefs.reading import NOTHING, Reading, Readings, thing
from beliefs.sentences import words
from schemas.claim import EVERYWHERE, Scope
from schemas.entity import Entity

PRONOUNS = words(
    "i it this that these those he she they we you there here what which who whom whose everyone everybody someone "
    "somebody nobody one something anything nothing his her their your its some any no none neither either both "
    "each other another such all many most few several people not how why where let"
)
SETTINGS = (
    "template|theme|format|font|language|layout|encoding|currency|timezone|time zone|color|colour|style|tone|model|"
    "editor|branch|region|protocol|database|framework|compiler|shell|voice|skin|dialect|locale|unit"
)
ATTRIBUTES = (
    "status|state|priority|severity|owner|assignee|price|stock|version|timeout|address|email|phone|age|birthday|"
    "quota|balance|budget|deadline|port|threshold|capacity|size|role|plan|rating|title|leader|manager"
)
ROLES = (
    "CEO|CTO|CFO|COO|chief \\w+ officer|director|managing director|president|vice president|chair|chairman|chairwoman|"
    "chairperson|head|leader|lead|captain|secretary|treasurer|manager|product manager|project manager|owner|"
    "product owner|maintainer|editor|mayor|principal|coach|emergency contact|contact|reviewer|approver|coordinator|"
    "spokesperson|author|founder"
)
FREE_FORM = (
    "address|email|e-mail|phone|phone number|mobile|url|website|link|timezone|time zone|hostname|endpoint|iban|"
    "location|postcode|zip code|username"
)
"""Attributes whose value may be any short text, digits included."""

STATES = words(
    "up down online offline running stopped healthy unhealthy degraded open closed resolved pending blocked paused "
    "reopened merged unavailable failing crashed suspended"
) | {"in progress", "in review", "out of order", "out of service", "out of stock", "in stock", "on hold"}
QUALITIES = words(
    "free available mandatory optional required valid safe public private ready compatible visible possible "
    "vegetarian vegan diabetic pregnant lactose-intolerant waterproof "
    "refundable taxable transferable editable read-only case-sensitive backward-compatible anonymous"
)
NOT_PARTICIPLES = words(
    "excited tired bored interested worried married scared surprised pleased thrilled amazed stunned blessed touched "
    "relaxed confused disappointed stressed exhausted overwhelmed inspired impressed delighted loved missed honored "
    "determined annoyed ashamed embarrassed supposed used red hundred indeed need speed weed feed seed bed shed"
)
ORDERS = (
    "use|encrypt|send|reply|answer|write|include|add|check|verify|run|deploy|ask|confirm|save|store|keep|delete|remove|"
    "share|commit|push|merge|log|notify|escalate|review|test|validate|format|call|assign|close|open|restart|start|"
    "back up|mask|redact|cite|translate|respond|round|sort|show|display|hide|set|put|route|approve|reject|require|"
    "disable|enable|avoid|ensure|make|combine|publish|expose|print|record|sign|rotate|retry|disclose|mention"
)
JUDGEMENTS = words(
    "nice good great bad awesome fine cool ok okay beautiful ugly amazing new old broken wrong missing ready important "
    "terrible lovely perfect right here there useful incredible unbelievable adorable enjoyable unforgettable "
    "remarkable horrible miserable comfortable capable responsible able useless boring interesting "
    "easy hard difficult different same clear"
)
NAME = r"[A-Za-z0-9_À-ÿ][\w.'/&+#-]*"
PHRASE = rf"{NAME}(?:\s{NAME}){{0,5}}"

_UNSURE_WORDS = words(
    "if unless whether would could might maybe perhaps probably possibly likely suppose supposed supposes imagine wish "
    "hope hopes hoping think thinks thought believe believes guess seem seems wonder say says said told ask asks asked "
    "heard claimed than planning want wants wanted gonna when while because although though but however "
    "almost nearly rumor rumors rumour rumours apparently allegedly hardly rarely sometimes often usually everytime "
    "ever neither nor without rather instead try tried trying or mentioned i'd you'd he'd she'd we'd they'd it'd"
)
_UNSURE_PHRASES = re.compile(
    r"\b(?:claims\sthat|plans\sto|going\sto|used\sto|about\sto|as\slong\sas|so\sthat|according\sto"
    r"|since(?!\s(?:yesterday|\d|(?-i:[A-Z]))))\b|[?？…\"“”]",
    re.IGNORECASE,
)
_PAST = words(
    "went took had made got ran saw bought came gave found met did left ate spent won lost sold sent built began wrote "
    "read paid kept felt stood drove flew slept spoke taught wore woke became broke chose drew fell grew held hit knew "
    "was were led rode rose sang sat shot swam threw understood just ago last"
)
_PASSIVE = words("is are be been was were being not and must")
_BEFORE_NOUN = words("a an the each every per any all of for with by to no")
_PARTICIPLES = words(
    "paid sent kept held made built given sold written shown found met read hit won led chosen set shut"
)
_ADJECTIVES = words(
    "limited unlimited required allowed combined advanced detailed preferred supported shared estimated need needed "
    "exceed speed feed seed proceed fixed united dedicated managed failed unused registered verified assigned"
)
DROPPED = re.compile(
    r"^A\s|\b(?:[Tt]he|a|[Aa]n|(?i:now|currently|presently|just|already|still|today|only|is|are|was|were|be|been|our|will|exactly|new))\b"
)
"""Words that do not tell one template from another; a capital A is a name (plan A)."""
_SERVICE = re.compile(r"(?i)\b(?:service|micro-?service)$")
_TYPED_NAME = re.compile(r"(?i)(?P<type>user|customer|ticket|issue|order|agent)\s(?P<name>.+)")
_DETERMINER = re.compile(
    r"(?i)^(?:the|a|an|our|all|every|each|any|current|latest|new)\s(?:of\s)?(?:the\s|our\s)?(?:(?:current|latest|new)\s)?"
)
_VERBS = words(
    "and is are was were be been am has have had do does did will can may must should shall that which who where "
    "with to get gets got go goes said me us him them"
)


def bare_words(text: str) -> list[str]:
    """The words of a sentence, case-folded, without the marks around them."""
    return [word.strip(".,;:!()'") for word in text.lower().split()]


def unsure(text: str) -> bool:
    """Whether the sentence is a question, a condition, a guess, a wish or somebody's report."""
    return not _UNSURE_WORDS.isdisjoint(bare_words(text)) or _UNSURE_PHRASES.search(text) is not None


def tells_event(text: str) -> bool:
    """Whether the sentence tells of something that happened, and so of no state."""
    told = bare_words(text)
    return any(_tells_past(before, word) for before, word in zip(["", *told], told, strict=False))


def _tells_past(before: str, word: str) -> bool:
    """A past tense; not a participle after "is" or before its noun ("is paid", "5 failed attempts")."""
    if word in _PAST:
        return not (word in _PARTICIPLES and before in _PASSIVE)
    if not word.endswith("ed") or len(word) <= 4 or word in _ADJECTIVES:
        return False
    return before not in _PASSIVE and before not in _BEFORE_NOUN


def named(phrase: str) -> Entity | None:
    """The thing that a noun phrase names, or None where it is a pronoun, a clause, or too long to be a name."""
    plain = _DETERMINER.sub("", phrase.strip(" ,"))
    words = plain.lower().split()
    if not words or len(words) > 6 or words[0] in PRONOUNS or words[0] == "my" or not _VERBS.isdisjoint(words):
        return None
    if not plain[0].isalnum() or any(mark in plain for mark in ",;:?!()"):
        return None
    if found := _TYPED_NAME.fullmatch(plain):
        kind = found["type"].lower()
        return thing(found["name"], "ticket" if kind == "issue" else kind)
    return thing(plain, "service" if len(words) > 1 and _SERVICE.search(plain) else "thing")


def singular(noun: str) -> str:
    """A plural noun without its ending; good enough to make one name of two."""
    low = noun.lower()
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    if low.endswith(("sses", "xes", "ches", "shes")):
        return low[:-2]
    return low[:-1] if low.endswith("s") and not low.endswith(("ss", "us", "is")) and len(low) > 2 else low


def target(phrase: str) -> tuple[Entity, Scope] | None:
    """What a rule is for: the head noun, and the words before it as scope (financial reports).

    "The billing service" is one thing with a name, and no part of a kind.
    """
    plain = _DETERMINER.sub("", phrase.strip(" ,"))
    words = plain.lower().split()
    if not words or len(words) > 4 or words[0] in PRONOUNS or words[0] == "my" or not _VERBS.isdisjoint(words):
        return None
    head = singular(words[-1])
    if head == words[-1] and phrase.strip().lower().startswith("the "):
        subject = named(plain)
        return (subject, EVERYWHERE) if subject else None
    narrower = " ".join(words[:-1])
    return thing(head), ((head, narrower),) if narrower else EVERYWHERE


def about(reading: Reading, who: str) -> Readings:
    """The reading, about the speaker ("I") or the one named."""
    if who == "I":
        return (msgspec.structs.replace(reading, speaker=True),)
    subject = named(who)
    if subject is None:
        return NOTHING
    return (msgspec.structs.replace(reading, subject=subject),)
