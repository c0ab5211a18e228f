"""Rules for English statements that are so or not: states, permissions, duties, abilities."""

import re

from beliefs.english_words import JUDGEMENTS, NOT_PARTICIPLES, QUALITIES, STATES, named
from beliefs.reading import NOTHING, Reading, Readings, Sentence
from beliefs.sentences import words
from beliefs.typed import boolean_of, find_typed

_CAN = re.compile(
    r"(?i)(?P<np>.+?)\s(?:can|may|(?:is|are)\sable\sto|(?:is|are)\s(?:allowed|permitted)\sto)\s(?:(?:now|also|again)\s)?(?P<p>.+)"
)
_FILLER = re.compile(r"\b(?:the|a|an|(?i:now|currently|already|still|again))\b")
_STATE = re.compile(
    r"(?i)(?P<np>.+?)\s(?P<verb>is|are|was|were|has\sbeen|have\sbeen)\s(?:(?:now|currently|again|back)\s)*(?P<p>.+)"
)
_FORCE = re.compile(
    r"(?i)(?:(?:in\s(?:force|effect)|valid|effective)|(?P<no>deprecated|withdrawn|discontinued|abolished|retired|"
    r"cancell?ed|revoked|terminated|expired|invalid|obsolete|repealed))"
)
_DONE = re.compile(
    r"deprecated|withdrawn|discontinued|abolished|retired|cancell?ed|revoked|terminated|repealed|(?:switched\s|turned\s)(?:on|off)|"
    r"enabled|disabled|closed|resolved|merged|reopened|suspended|paused"
)
"""What "was" may say of the present: the outcome of a change. "Was down" tells of the past, unless it is dated."""
_SWITCH = re.compile(r"(?i)(?:switched\s|turned\s)?(?P<p>on|off|enabled|disabled)")
_DOES = re.compile(
    r"(?i)(?P<np>.+?)\s(?P<verb>support|include|accept|allow|require|offer|provide|need|contain|cover)(?P<s>s?)"
    r"\s(?P<p>[\w'/-]+(?:\s[\w'/-]+){0,5})"
)
_NO_SUBJECT = re.compile(
    r"(?i)(?:thanks|thank|the|a|an|for|of|to|and|with|our|my|your)\b(?!\s\w)|.*\s(?:the|a|an|of|for|to|and|with|our|my|your)"
)
_NO_OBJECT = re.compile(r"(?i)(?:is|are|was|were|it|this|that|them|him|her|me|us|you|to|and|or|of|for)\b")
_MAY = re.compile(r"(?:allowed|permitted)|(?P<no>forbidden|prohibited|banned)")
_ORDERED = frozenset({"order", "ticket"})
_STEPS = words(
    "shipped delivered refunded paid rejected approved processed dispatched cancelled canceled packed escalated"
)
"""What becomes of an order or ticket in turn, so that each step ends the one before."""
_PRAISE = words(
    "invaluable valuable unforgetable memorable desirable admirable sensible understandable inevitable undeniable "
    "palpable questionable impossible notable likeable lovable huggable relatable formidable irresistible "
    "incomparable inseparable"
)
_ADJECTIVE = re.compile(r"(?:[a-z]+-)?[a-z]{3,}(?:able|ible)|[a-z]+-(?:friendly|free|only|safe|proof|accessible)")


def state(sentence: Sentence) -> Readings:
    """As in "X is down", "X is deprecated", "X is enabled", "X is free": states and facts that are so or not."""
    found = _STATE.fullmatch(sentence.text)
    subject = named(found["np"]) if found else None
    if found is None or subject is None:
        return NOTHING
    predicate = found["p"].casefold()
    past = found["verb"].lower() in ("was", "were")
    if past and not sentence.dated and not _DONE.fullmatch(predicate):
        return NOTHING
    if subject.type in _ORDERED and predicate in _STEPS:
        return (Reading(attribute="status", value=predicate, value_type="enum", subject=subject),)
    if may := _MAY.fullmatch(predicate):
        return (Reading(attribute="allowed", value=may["no"] is None, value_type="boolean", subject=subject),)
    if force := _FORCE.fullmatch(predicate):
        return (Reading(attribute="in force", value=force["no"] is None, value_type="boolean", subject=subject),)
    if switch := _SWITCH.fullmatch(predicate):
        return (Reading(attribute="enabled", value=boolean_of(switch["p"]), value_type="boolean", subject=subject),)
    if predicate in STATES:
        return (Reading(attribute="status", value=predicate, value_type="enum", subject=subject),)
    told = predicate.split()
    participle = not past and told[0].endswith("ed") and told[0] not in NOT_PARTICIPLES
    fixed = told[0] in QUALITIES or participle or (len(told) == 1 and _quality(predicate))
    if len(told) <= 4 and fixed and not find_typed(predicate, sentence.moment):
        return (Reading(attribute=canonical(found["p"]), value=True, value_type="boolean", subject=subject),)
    return NOTHING


def can(sentence: Sentence) -> Readings:
    """As in "X can P", "X may P", "X is allowed to P": so or not."""
    found = _CAN.fullmatch(sentence.text)
    subject = named(found["np"]) if found else None
    if found is None or subject is None or len(found["p"].split()) > 8 or find_typed(found["p"], sentence.moment):
        return NOTHING
    return (Reading(attribute="can " + canonical(found["p"]), value=True, value_type="boolean", subject=subject),)


def does(sentence: Sentence) -> Readings:
    """As in "X supports P", "X includes P": so or not."""
    found = _DOES.fullmatch(sentence.text)
    subject = named(found["np"]) if found else None
    if found is None or subject is None or find_typed(found["p"], sentence.moment):
        return NOTHING
    if (
        _NO_SUBJECT.fullmatch(found["np"])
        or _NO_OBJECT.match(found["p"])
        or not _agrees(found["np"], found["s"], sentence)
    ):
        return NOTHING
    attribute = f"{found['verb'].casefold()} {canonical(found['p'])}"
    return (Reading(attribute=attribute, value=True, value_type="boolean", subject=subject),)


def _agrees(np: str, ending: str, sentence: Sentence) -> bool:
    """Whether subject and verb go together, so that the verb is one: "the plan includes", "plans include"."""
    return bool(ending) != np.lower().endswith("s") or np.endswith("ss") or bool(sentence.negation)


def _quality(word: str) -> bool:
    """Whether an adjective says what a thing is like, and no liking of it ("refundable", "child-friendly")."""
    return word not in JUDGEMENTS and word not in _PRAISE and _ADJECTIVE.fullmatch(word) is not None


def canonical(predicate: str) -> str:
    """The form in which predicates are compared: case-folded, without articles and words of time."""
    return " ".join(_FILLER.sub(" ", predicate).casefold().split())
