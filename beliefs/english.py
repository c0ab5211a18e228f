"""How an English sentence is read: prepared (urgency, dates, exceptions, negation), then tried against the rules."""

import re

from beliefs.dates import cut_dates
from beliefs.english_aliases import also_known, cut_aliases
from beliefs.english_orders import always, make, must, save_as, set_to, use
from beliefs.english_people import allergic, born, habit, likes, names
from beliefs.english_places import is_in, lives, works
from beliefs.english_prepare import LEAD, is_standing, spelled_out, trimmed
from beliefs.english_roles import looks_after, role_of
from beliefs.english_states import can, does, state
from beliefs.english_thresholds import threshold
from beliefs.english_values import change, cut_scope, is_value
from beliefs.english_words import SETTINGS, bare_words, named, unsure
from beliefs.reading import (
    NOTHING,
    Negation,
    Reading,
    Readings,
    Rule,
    Sentence,
    cut_lead,
    first_fit,
    needing,
    negated,
    thing,
    with_aliases,
    within,
)
from beliefs.sentences import words
from schemas.instant import Instant

RULES: tuple[tuple[str, Rule], ...] = (
    ("alias", needing("known called aka a.k.a a.k.a. referred", also_known)),
    ("name", needing("name call called named go goes nickname", names)),
    ("born", needing("born", born)),
    ("allergy", needing("allergic allergy", allergic)),
    ("preference", likes),
    ("residence", needing("live lives reside resides moved relocated based", lives)),
    ("employer", needing("work works employed joined", works)),
    ("role", needing("of at for", role_of)),
    ("owner", looks_after),
    ("habit", needing("eat eats drink drinks smoke smokes speak speaks", habit)),
    ("use", needing("use uses", use)),
    ("set", set_to),
    ("save", needing("as in by via", save_as)),
    ("make", needing("make", make)),
    ("change", needing("to", change)),
    ("value", is_value),
    ("location", needing("in at to", is_in)),
    ("state", needing("is are was were has have", state)),
    ("must", needing("must shall has have need needs is are should", must)),
    ("threshold", threshold),
    ("can", needing("can may able allowed permitted", can)),
    ("does", does),
    ("always", always),
)
"""Every rule with its name, the most particular first; the first that fits speaks."""

_LONGEST = 240
_EXCEPT = re.compile(r"(?i),?\s(?:except(?:\sfor|\sin)?|excluding|apart\sfrom|other\sthan)\s[^,]+$")
_ANY_MORE = re.compile(r"(?i)\s(?:any\s?more|any\slonger)$")
_FORBIDDEN = re.compile(
    r"(?i)\b(?:must|shall|should|may)\s(?:not|never)\b|\b(?:is|are)\s(?:not\s(?:allowed|permitted)|prohibited|forbidden)\sto\b"
)
_NEVER = re.compile(r"(?i)\bnever\s")
_DO_NOT = re.compile(r"(?i)\b(?:do|does)\snot\s(?=\w)")
_NOT = re.compile(r"(?i)\snot\b")
_DENIAL = re.compile(r"(?i)\b(?:not|never|no|without|none|nobody|nothing|neither|lacks?)\b")
_REVERT = re.compile(
    r"(?i)(?:(?:please|ok|okay|and|now|then|so|actually)[,:]?\s)*"
    r"(?:(?:revert|go\sback|switch\sback|change\sback|return|roll\sback|restore|reset|back|use(?=.*\sagain$))\b(?:\s(?:it|them|this|that|everything))?)"
    rf"(?:\sto)?(?:\s(?:the|my|our|its|their))?\s(?:previous|original|old|former|earlier|last|default)\s(?:(?P<what>{SETTINGS}|version|state)|"
    r"settings?|configuration|one|value)(?:\s(?:again|please|now))*"
)
_LATER = re.compile(r"(?i)\bwill\b")
_HAPPENING = words(
    "changed updated raised lowered increased decreased reduced set upgraded downgraded renamed switched cut moved "
    "was were deprecated withdrawn discontinued cancelled canceled enabled disabled closed opened "
    "resolved rescheduled postponed now"
)


def read_english(text: str, moment: Instant) -> Readings:
    """What an English sentence says by rule; nothing where no rule is sure."""
    text = trimmed(text)
    if not 4 <= len(text) <= _LONGEST:
        return NOTHING
    if found := _REVERT.fullmatch(text):
        return (_revert(found["what"]),)
    if unsure(text):
        return NOTHING
    plain, _ = cut_lead(LEAD, text)
    rest, aliases = cut_aliases(plain)
    if aliases:
        return with_aliases(aliases, read_english(f"{text.removesuffix(plain)}{rest}", moment), rest)
    standing = is_standing(text)
    text, urged = cut_lead(LEAD, text)
    text = spelled_out(text)
    told = bare_words(text)
    dated = cut_dates(text, moment, not _HAPPENING.isdisjoint(told) and "born" not in told)
    text, scope = cut_scope(_EXCEPT.sub("", dated.text))
    denial = _denial(text)
    if denial is None or (dated.effective_at is None and _LATER.search(text)):
        return NOTHING
    plain, negation = denial
    plain, more_urged = cut_lead(LEAD, plain)
    sentence = Sentence(
        text=plain,
        moment=moment,
        negation=negation,
        urged=urged or more_urged,
        standing=standing or negation == "not",
        dated=dated.effective_at is not None,
        words=frozenset(plain.lower().split()),
    )
    readings = negated(first_fit(RULES, "en", sentence), negation)
    return within(readings, scope, dated.effective_at, dated.valid_until)


def _denial(text: str) -> tuple[str, Negation] | None:
    """The sentence without its negation, and which it was; None where there are several or it is another kind."""
    if not _DENIAL.search(text):
        return text, ""
    plain, negation = _remove_denial(text)
    if not negation or _DENIAL.search(plain):
        return None
    return " ".join(plain.split()), negation


def _remove_denial(text: str) -> tuple[str, Negation]:
    if re.search(r"(?i)\bno\slonger\b", text):
        return _DO_NOT.sub("", re.sub(r"(?i)\bno\slonger\s?", "", text, count=1)), "ended"
    if _ANY_MORE.search(text):
        return _NOT.sub(" ", _DO_NOT.sub("", _ANY_MORE.sub("", text), count=1), count=1), "ended"
    if found := _FORBIDDEN.search(text):
        word = "must" if found[0].lower().startswith(("must", "shall", "should")) else "can"
        return text[: found.start()] + word + text[found.end() :], "forbidden"
    if _DO_NOT.search(text):
        return _DO_NOT.sub("", text, count=1), "not"
    if _NEVER.search(text):
        return _NEVER.sub("", text, count=1), "not"
    if _NOT.search(text):
        return _NOT.sub("", text, count=1), "not"
    return text, ""


def _revert(what: str | None) -> Reading:
    """A marked sentence: a later step finds which earlier value it means; it is never guessed here."""
    subject = named(what) if what else None
    return Reading(
        attribute=None,
        value=None,
        subject=subject or (thing(what) if what else None),
        kind="instruction",
        tier="high",
        rule="rule:revert" + (f":{what.casefold()}" if what else ""),
    )
