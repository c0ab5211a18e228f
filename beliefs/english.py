"""How an English sentence is read: prepared (urgency, dates, exceptions, negation), then tried against the rules."""

import re

from beliefs.dates import cut_dates
from beliefs.english_orders import always, make, must, save_as, set_to, use
from beliefs.english_people import allergic, born, likes, names
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
    negated,
    thing,
    within,
)
from beliefs.sentences import words
from schemas.instant import Instant

RULES: tuple[tuple[str, Rule], ...] = (
    ("name", names),
    ("born", born),
    ("allergy", allergic),
    ("preference", likes),
    ("use", use),
    ("set", set_to),
    ("save", save_as),
    ("make", make),
    ("change", change),
    ("value", is_value),
    ("state", state),
    ("must", must),
    ("threshold", threshold),
    ("can", can),
    ("does", does),
    ("always", always),
)
"""Every rule with its name, the most particular first; the first that fits speaks."""

_LONGEST = 240
_END = re.compile(r"[\s.!;,。！；]+$")
_MARK = re.compile(r"^(?:[-*•]\s+|\(?\d{1,2}[.)]\s+)")
_LEAD = re.compile(
    r"(?i)^(?:(?P<urged>please|always|from\snow\son|henceforth|as\sa\srule|rule:|policy:|instruction:|decision:|remember\sto|"
    r"make\ssure\sto|be\ssure\sto)|fyi|note(?:\sthat)?|notice|update|news|reminder|remember(?:\sthat)?|also|and|so|btw|by\sthe\sway|"
    r"ok|okay|well|hi|hello|hey|currently|now|actually|in\sgeneral|generally|today|effective\simmediately)\b[,:]?\s+(?=\w)"
)
_SHORT = {
    re.compile(r"(?i)\bI'm\b"): "I am",
    re.compile(r"(?i)\b(?:cannot|can't|can\snot)\b"): "can not",
    re.compile(r"(?i)\bwon't\b"): "will not",
    re.compile(r"(?i)\b(is|are|was|were|do|does|did|must|has|have|should|need)n't\b"): r"\1 not",
}
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
    r"(?i)(?:revert|go\sback|switch\sback|change\sback|return|roll\sback|restore|reset|use\sagain|back)\b(?:\s.{0,40}?)?\b"
    rf"(?:previous|original|old|former|earlier|last|default)\s(?:(?P<what>{SETTINGS})|settings?|configuration|one|version|value|state)\b"
)
_LATER = re.compile(r"(?i)\bwill\b")
_HAPPENING = words(
    "changed updated raised lowered increased decreased reduced set upgraded downgraded renamed switched cut moved "
    "was were deprecated withdrawn discontinued cancelled canceled enabled disabled closed opened "
    "resolved rescheduled postponed now"
)


def read_english(text: str, moment: Instant) -> Readings:
    """What an English sentence says by rule; nothing where no rule is sure."""
    text = _END.sub("", _MARK.sub("", text))
    if not 4 <= len(text) <= _LONGEST:
        return NOTHING
    if found := _REVERT.match(text):
        return (_revert(found["what"]),)
    if unsure(text):
        return NOTHING
    text, urged = cut_lead(_LEAD, text)
    for pattern, long in _SHORT.items() if "'" in text or "annot" in text or "an not" in text else ():
        text = pattern.sub(long, text)
    dated = cut_dates(text, moment, not _HAPPENING.isdisjoint(bare_words(text)))
    text, scope = cut_scope(_EXCEPT.sub("", dated.text))
    denial = _denial(text)
    if denial is None or (dated.effective_at is None and _LATER.search(text)):
        return NOTHING
    plain, negation = denial
    plain, more_urged = cut_lead(_LEAD, plain)
    sentence = Sentence(
        text=plain, moment=moment, negation=negation, urged=urged or more_urged, dated=dated.effective_at is not None
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
