"""The English rule for thresholds and amounts: sentences that differ only in one typed value share a slot."""

from itertools import takewhile

from beliefs.english_words import DROPPED, bare_words, named, tells_event
from beliefs.reading import NOTHING, Reading, Readings, Sentence, template
from beliefs.sentences import words
from beliefs.typed import Typed, find_typed

_LONGEST = 160
_VERBS = words(
    "is are was were be must can may should will has have cost costs take takes require requires need needs last "
    "lasts allow allows support supports open opens close closes start starts end ends leave leaves arrive "
    "arrives earn earns give gives reach reaches exceed exceeds hold holds work works ship ships apply applies "
    "expire expires run runs get gets qualify qualifies receive receives include includes pay pays"
)
_LIMITS = words("from over above under below within least most max min minimum maximum off")
_PREPOSITIONS = _LIMITS | words("at of for on in up per after every by to before until")
_CUES = _PREPOSITIONS - words("for on") | _VERBS - words("must can may should will run runs work works") | {"limit"}
_NAMED_CUES = words("is are to from at")
_SOFTENERS = words("about around only exactly approximately roughly a an the another")


def threshold(sentence: Sentence) -> Readings:
    """A sentence with one typed value where a threshold or amount stands: the rest of it is the attribute."""
    text = sentence.text
    found = find_typed(text, sentence.moment)
    if not 1 <= len(found) <= 3 or len(text) > _LONGEST:
        return NOTHING
    value = _value_named(text, found)
    if value is None or tells_event(text):
        return NOTHING
    before, after = text[: value.start], text[value.end :]
    left, right = bare_words(before), bare_words(after)
    if _VERBS.isdisjoint(left + right) and left[-1:] and left[-1] not in _LIMITS:
        return NOTHING
    subject = named(_subject_before(before) or _object_after(after))
    if subject is None:
        return NOTHING
    attribute = template(before, value, after, DROPPED)
    return (Reading(attribute=attribute, value=value.value, value_type=value.type, subject=subject),)


def _value_named(text: str, found: list[Typed]) -> Typed | None:
    """The one value that the sentence is about; several only where one alone stands after is, to, from, at, =."""
    if len(found) == 1:
        return found[0] if _cue(text, found[0]) in _CUES else None
    marked = [value for value in found if _cue(text, value) in _NAMED_CUES]
    return marked[0] if len(marked) == 1 else None


def _cue(text: str, value: Typed) -> str:
    """The word that a value stands after, softening words passed over; a sign of comparison counts as "is"."""
    left = text[: value.start].lower().split()
    while len(left) > 1 and left[-1] in _SOFTENERS:
        left.pop()
    if not left:
        return ""
    return "is" if left[-1][-1] in "=<>≥≤:" else left[-1]


def _subject_before(before: str) -> str:
    return " ".join(takewhile(lambda word: word.lower() not in _VERBS | _PREPOSITIONS, before.split()))


def _object_after(after: str) -> str:
    """What the sentence is about where nothing stands before the value ("over 200 yuan shipping is free")."""
    return " ".join(takewhile(lambda word: word.lower() not in _VERBS, after.strip(" ,").split()))
