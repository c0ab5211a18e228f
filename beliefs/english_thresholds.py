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
    "expire expires run runs get gets qualify qualifies receive receives include includes pay pays "
    "weigh weighs measure measures contain contains hold store stores handle handles serve serves listen listens "
    "use uses charge charges award awards amount amounts equal equals begin begins lock locks renew renews refresh "
    "refreshes rotate rotates keep keeps retain retains back accept accepts offer offers provide provides save saves "
    "meet meets happen happens arrive depart departs launch launches lasts stay stays"
)
_STATING = words(
    "is are starts start ends end opens open closes close begins begin expires expire launches due takes "
    "leaves arrives departs"
)
_MODALS = words("can may must shall should")
_NAMING = words(
    "room floor gate building platform level ticket order step chapter line section issue plan flight door bus train "
    "no number"
)
"""Words after which a number is a name."""
_LIMITS = words("from over above under below within least most max min minimum maximum off")
_PREPOSITIONS = _LIMITS | words("at of for on in up per after every by to before until")
_CUES = (
    _PREPOSITIONS - words("for on")
    | _VERBS - words("must can may should will run runs work works")
    | words("limit worth port")
)
_NAMED_CUES = words("is are to from at")
_ENDING = _VERBS | _PREPOSITIONS
_DETERMINERS = words("the a an our all every each")
_SOFTENERS = words("about around only exactly approximately roughly a an the another")


def threshold(sentence: Sentence) -> Readings:
    """A sentence with one typed value where a threshold or amount stands: the rest of it is the attribute."""
    text = sentence.text
    found = _values_of(text, sentence)
    if not 1 <= len(found) <= 3 or len(text) > _LONGEST:
        return NOTHING
    value = _value_named(text, found)
    if value is None or tells_event(text):
        return NOTHING
    before, after = text[: value.start], text[value.end :]
    left, right = bare_words(before), bare_words(after)
    if len(left) == 1 and left[0] in _VERBS:
        return NOTHING
    if _VERBS.isdisjoint(left + right) and left[-1:] and left[-1] not in _LIMITS:
        return NOTHING
    subject = named(_subject_before(before) or _object_after(after))
    if subject is None:
        return NOTHING
    attribute = template(before, value, after, DROPPED)
    return (Reading(attribute=attribute, value=value.value, value_type=value.type, subject=subject),)


def _values_of(text: str, sentence: Sentence) -> list[Typed]:
    """The typed values; a number that is part of a name (room 5) is none where there are others."""
    found = find_typed(text, sentence.moment)
    if len(found) < 2:
        return found
    return [value for value in found if value.type != "number" or _cue(text, value) not in _NAMING]


def _value_named(text: str, found: list[Typed]) -> Typed | None:
    """The one value that the sentence is about; several only where one alone stands after is, to, from, at, =."""
    if len(found) == 1:
        return found[0] if _stands(text, found[0]) else None
    marked = [value for value in found if _cue(text, value) in _NAMED_CUES]
    return marked[0] if len(marked) == 1 else None


def _stands(text: str, value: Typed) -> bool:
    """Whether a value stands where sentences state one: after a cue, a day after "is on", a version after "runs".

    A number before a name (5 Main Street) is part of it.
    """
    if value.type == "number" and text[value.end + 1 : value.end + 2].isupper():
        return False
    cue, left = _cue(text, value), bare_words(text[: value.start])
    if cue in _CUES:
        return True
    if value.type == "version":
        return cue in ("run", "runs", "version")
    if value.type in ("date", "time") and cue in ("on", "due"):
        return not _STATING.isdisjoint(left)
    return isinstance(value.value, str) and len(left) > 2 and not _MODALS.isdisjoint(left[1:])


def _cue(text: str, value: Typed) -> str:
    """The word that a value stands after, softening words passed over; a sign of comparison counts as "is"."""
    left = text[: value.start].lower().split()
    while len(left) > 1 and left[-1] in _SOFTENERS:
        left.pop()
    if not left:
        return ""
    return "is" if left[-1][-1] in "=<>≥≤:" else left[-1]


def _subject_before(before: str) -> str:
    first, *rest = before.split() or [""]
    orders = first.lower() in _VERBS and (not rest or rest[0].lower() not in _VERBS)
    if orders or first.lower() in _PREPOSITIONS:
        return ""
    kept = 1 if first.lower() in _DETERMINERS else 0
    return " ".join([first, *rest[:kept], *takewhile(lambda word: word.lower() not in _ENDING, rest[kept:])])


def _object_after(after: str) -> str:
    """What the sentence is about where nothing stands before the value ("over 200 yuan shipping is free")."""
    return " ".join(takewhile(lambda word: word.lower() not in _VERBS, after.strip(" ,").split()))
