"""Rules for English statements that are so or not: states, permissions, duties, abilities."""

import re

from beliefs.english_words import NOT_PARTICIPLES, QUALITIES, STATES, named
from beliefs.reading import NOTHING, Reading, Readings, Sentence
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
    r"(?i)(?P<np>.+?)\s(?P<verb>support|include|accept|allow|require|offer|provide)s?\s(?P<p>[\w'/-]+(?:\s[\w'/-]+){0,5})"
)


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
    if force := _FORCE.fullmatch(predicate):
        return (Reading(attribute="in force", value=force["no"] is None, value_type="boolean", subject=subject),)
    if switch := _SWITCH.fullmatch(predicate):
        return (Reading(attribute="enabled", value=boolean_of(switch["p"]), value_type="boolean", subject=subject),)
    if predicate in STATES:
        return (Reading(attribute="status", value=predicate, value_type="enum", subject=subject),)
    words = predicate.split()
    participle = not past and words[0].endswith("ed") and words[0] not in NOT_PARTICIPLES
    if len(words) <= 4 and (words[0] in QUALITIES or participle) and not find_typed(predicate, sentence.moment):
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
    attribute = f"{found['verb'].casefold()} {canonical(found['p'])}"
    return (Reading(attribute=attribute, value=True, value_type="boolean", subject=subject),)


def canonical(predicate: str) -> str:
    """The form in which predicates are compared: case-folded, without articles and words of time."""
    return " ".join(_FILLER.sub(" ", predicate).casefold().split())
