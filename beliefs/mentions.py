"""Which other things a text mentions: capitalised names, quoted names, identifiers; bounded, and only as links."""

import re

from beliefs.sentences import words
from schemas.entity import Entity
from schemas.identity import normal_name

MOST = 8

_READ = 4_000
_COMMON = words(
    "i the a an this that these those he she it we you they my your his her our their its what who when where why "
    "how which and but or so if then because while although though as at by for from in of on to with without "
    "about after before during since until over under between into through is are was were be been am do does did "
    "has have had can could will would shall should may might must not no yes yeah yep nope ok okay oh wow hey hi "
    "hello thanks thank please sorry sure well great good nice cool awesome amazing sounds absolutely definitely "
    "really just also now today yesterday tomorrow tonight here there all every each any some many most few "
    "several both either neither one two three first last next new old free use set save make add remove delete "
    "note update always never only once again still everything everyone everybody someone something nothing "
    "anything let's lets it's i'm i've i'll i'd that's there's monday tuesday wednesday thursday friday saturday "
    "sunday january february march april june july august september october november december us me him them "
    "being congrats congratulations hope glad love keep take check send however maybe perhaps currently recently "
    "finally actually back go going come see look looks don't can't"
)
_QUOTED = re.compile(r"[\"“「『《](?P<name>[^\"”」』》\n]{1,60})[\"”」』》]")
_CODE = re.compile(
    r"(?<![\w@.-])(?P<name>[A-Za-z]{2,10}-\d{1,8}|[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+"
    r"|[\w-]+\.(?:py|js|ts|md|pdf|docx|xlsx|csv|json|yaml|yml|toml|txt|log|com|org|net|io))(?![\w-])"
)
_NAME = re.compile(r"(?<![\w.-])(?P<name>[A-ZÀ-Þ][\w'’&-]*(?:\s(?:of\s|de\s|van\s|the\s)?[A-ZÀ-Þ][\w&-]*){0,3})")
_CHINESE = re.compile(r"(?:用户|客户|工单)(?P<name>[\w-]{1,12}?)(?=[的说在对喜不是已把将，。]|$)")
_KINDS = (
    (re.compile(r"[\"“「『《]"), _QUOTED),
    (re.compile(r"-\d|[a-z]_[a-z0-9]|[a-z][A-Z]|\w\.[a-z]"), _CODE),
    (re.compile(r"[A-ZÀ-Þ]"), _NAME),
    (re.compile(r"用户|客户|工单"), _CHINESE),
)
"""A cheap sign that a kind of mention may be there, and how it is found."""


def mentions_in(text: str, subject: Entity) -> tuple[Entity, ...]:
    """Up to MOST things named in the text other than its subject, in order of appearance."""
    text = text[:_READ]
    matches = [match for sign, pattern in _KINDS if sign.search(text) for match in pattern.finditer(text)]
    found: dict[str, Entity] = {}
    known = normal_name(subject.name)
    for match in sorted(matches, key=lambda match: match.start()):
        name = _without_common(match["name"]) if match.re is _NAME else match["name"].strip()
        key = normal_name(name)
        if len(key) > 1 and key != known and key not in found:
            found[key] = Entity(name)
            if len(found) == MOST:
                break
    return tuple(found.values())


def _without_common(name: str) -> str:
    """A capitalised run without the common words that a sentence began with."""
    parts = name.removesuffix("'s").removesuffix("’s").split()
    while parts and parts[0].replace("’", "'").lower() in _COMMON:
        parts.pop(0)
    return " ".join(parts)
