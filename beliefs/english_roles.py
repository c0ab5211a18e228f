"""Rules for English statements of who: who owns, leads or looks after what, and who holds an office."""

import re

from beliefs.english_words import ROLES, named
from beliefs.reading import NOTHING, Reading, Readings, Sentence

_PERSON = r"[A-Z][\w'.-]*(?:\s(?:(?:van|de|von|der)\s)?[A-Z][\w'.-]*){0,3}"
_LOOKS_AFTER = re.compile(
    rf"(?P<who>{_PERSON})\s(?:(?:now|currently)\s)?(?P<how>owns?|leads?|manages?|maintains?|chairs?|heads?|"
    r"(?:is|are)\s(?:now\s)?(?:responsible\sfor|in\scharge\sof|the\sowner\sof))\s(?P<what>(?:the\s|our\s)?\w.*)"
)
_ROLE_OF = re.compile(
    rf"(?P<who>{_PERSON})\s(?:is|are|became|has\sbecome)\s(?:now\s)?the\s(?:new\s|current\s)?"
    rf"(?P<role>(?i:{ROLES}))\s(?:of|at|for)\s(?P<what>\w.*)"
)
_ASSIGNED = re.compile(
    rf"(?P<what>.+?)\s(?:is|are|was|were|has\sbeen)\s(?:now\s)?(?:re)?assigned\sto\s(?P<who>{_PERSON})"
)
_RUN_BY = re.compile(
    rf"(?P<what>.+?)\s(?:is|are)\s(?:now\s)?(?P<how>owned|led|managed|maintained|chaired|headed|run|approved|reviewed)\sby\s(?P<who>{_PERSON})"
)
_OFFICES = {
    "lead": "leader", "led": "leader", "head": "head", "headed": "head", "manage": "manager", "managed": "manager",
    "chair": "chair", "chaired": "chair", "maintain": "owner", "maintained": "owner", "run": "manager",
    "approved": "approver", "reviewed": "reviewer",
}  # fmt: skip
"""What someone is who leads, manages, or does so much else; who has no such office here is the owner."""

_SIGN = re.compile(
    r"\b(?:owns?|leads?|manages?|maintains?|chairs?|heads?|responsible|charge|owner|assigned|[a-z]+\sby)\b"
)
"""A cheap look before the patterns."""

_LED = re.compile(
    r"(?i)\b(?:team|department|project|service|group|office|shop|store|program|programme|committee|board|division|unit|branch|"
    r"school|company|club|warehouse|repository|platform|product|campaign|account|squad|initiative|chapter|studio|lab|"
    r"rollout|migration|[a-z]+\steam)$"
)
_DEFINITE = re.compile(r"(?:[Tt]he|[Oo]ur|[Aa]ll)\s|[A-Z]|\w+s$")
_NOBODY = re.compile(r"(?i)(?:it|he|she|they|we|you|this|that|everyone|nobody|i|the|my|our|who|someone)\b")


def looks_after(sentence: Sentence) -> Readings:
    """As in "X owns the S", "X is responsible for S", "the S is led by X", "T is assigned to X"."""
    if not _SIGN.search(sentence.text):
        return NOTHING
    if found := _ASSIGNED.fullmatch(sentence.text):
        return _held_by(found["what"], "assignee", found["who"])
    found = _LOOKS_AFTER.fullmatch(sentence.text) or _RUN_BY.fullmatch(sentence.text)
    if found is None or not _DEFINITE.match(found["what"]):
        return NOTHING
    how = found["how"].lower()
    if how.startswith(("lead", "manage", "chair", "head")) and not _LED.search(found["what"]):
        return NOTHING
    return _held_by(found["what"], _OFFICES.get(how.removesuffix("s"), _OFFICES.get(how, "owner")), found["who"])


def role_of(sentence: Sentence) -> Readings:
    """As in "X is the CEO of O"."""
    found = _ROLE_OF.fullmatch(sentence.text)
    return _held_by(found["what"], found["role"].casefold(), found["who"]) if found else NOTHING


def _held_by(what: str, office: str, who: str) -> Readings:
    subject = named(what)
    if subject is None or _NOBODY.match(who):
        return NOTHING
    return (Reading(attribute=office, value=who, value_type="name", subject=subject),)
