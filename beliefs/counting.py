"""Which evidence counts (design 3.1, 3.3, 3.4, 3.10): time, retraction, expiry, authority, one voice an origin."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

import msgspec

from beliefs.rulebook import Rulebook
from beliefs.scope import covers
from beliefs.values import cluster, magnitude
from schemas.claim import Kind, Scope, Stance, ValueType
from schemas.evidence import Evidence
from schemas.instant import Instant

Key = tuple[Instant, int, str]

RETRACTED = "retracted"
EXPIRED = "expired"
ECHO = "our own recall, told again"
NOT_HELD = "a premise is not held"
OUTDATED = "a premise needs a fresh look"
Fallen = Mapping[str, str]
"""The premises that are not held, each with the note for what rests on it: NOT_HELD or OUTDATED (design 3.7)."""

NONE_FALLEN: Fallen = {}
OUTSPOKEN = "the same origin spoke again later"
_UNSAID = (RETRACTED, ECHO, NOT_HELD, OUTDATED)
"""What has one of these notes takes no place of its origin's other words."""


class Voice(msgspec.Struct, gc=False):
    """One piece of evidence as it is weighed: its normal value, its weight, and `note`: why it does not count.

    `at` is its effective time, the first part of its `key`.
    """

    evidence: Evidence
    at: Instant
    key: Key
    value_type: ValueType
    value_key: str
    stance: Stance
    instructs: bool
    weight: float
    half_life: int | None
    note: str = ""
    by: str = ""
    own_key: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is weighed."""
        return not self.note


class Hearing(msgspec.Struct, gc=False):
    """All voices heard at `now`, in key order, and the times still to come at which what is heard changes."""

    voices: list[Voice]
    changes_at: list[Instant]


def hear(evidence: Sequence[Evidence], book: Rulebook, now: Instant, fallen: Fallen = NONE_FALLEN) -> Hearing:
    """Weigh every piece of a slot's evidence that has its effect at `now`; what does not count keeps a note.

    In this order: dates still to come are left out; what rests on a fallen premise falls out; a retraction ends what
    its scope covers from before it; expired instructions and our own recalled text fall out; of what one origin says,
    its newest word counts.
    """
    voices = []
    changes_at = []
    for piece in evidence:
        if piece.effective_at > now:
            changes_at.append(piece.effective_at)
            if piece.scheduled:
                continue
        voice = _voice(piece, book)
        if piece.valid_until is not None:
            if piece.valid_until <= now:
                voice.note = EXPIRED
            else:
                changes_at.append(piece.valid_until)
        if piece.source.type == "recall":
            voice.note = ECHO
        if piece.premises and fallen:
            _found(voice, fallen)
        voices.append(voice)
    if len(voices) > 1:
        voices.sort(key=attrgetter("key"))
        _merge_close_values(voices, book)
    _retract(voices)
    if len(voices) > 1:
        _one_voice_an_origin(voices, book)
    return Hearing(voices, changes_at)


def _found(voice: Voice, fallen: Fallen) -> None:
    """Note the first premise that is not held; one that needs a fresh look only where no other is to blame."""
    missing = [premise for premise in voice.evidence.premises if premise in fallen]
    if missing:
        voice.by = next((premise for premise in missing if fallen[premise] == NOT_HELD), missing[0])
        voice.note = fallen[voice.by]


def heard_as(kind: Kind, instructs: bool) -> Kind:
    """What kind of word it is: an instruction without authority is heard as an observation."""
    if instructs:
        return "instruction"
    return "observation" if kind == "instruction" else kind


def _voice(piece: Evidence, book: Rulebook) -> Voice:
    authority = book.authority(piece)
    if piece.value is None:
        kind: ValueType = "text"
        value_key = ""
    else:
        kind, value_key = book.normal_value(piece.attribute, piece.value, piece.value_type)
    instructs = piece.kind == "instruction" and authority.may_instruct
    stance = piece.stance
    if stance == "retracts" and not authority.may_instruct:
        stance = "refutes"
    return Voice(
        piece,
        piece.effective_at,
        (piece.effective_at, authority.rank, piece.id),
        kind,
        value_key,
        stance,
        instructs,
        piece.weight * book.reliability(piece),
        book.half_life(piece, instructs),
    )


def _merge_close_values(voices: list[Voice], book: Rulebook) -> None:
    rule = book.rule(voices[0].evidence.attribute)
    if rule.tolerance <= 0:
        return
    origins: dict[str, set[str]] = {}
    sizes: dict[str, float | None] = {}
    for voice in voices:
        if voice.value_key:
            supporters = origins.setdefault(voice.value_key, set())
            if voice.stance == "supports" and voice.note != ECHO:
                supporters.add(voice.evidence.origin)
            if voice.value_key not in sizes and voice.evidence.value is not None:
                sizes[voice.value_key] = magnitude(voice.evidence.value, voice.value_type)
    anchors = cluster({key: (sizes[key], len(who)) for key, who in origins.items()}, rule.tolerance)
    for voice in voices:
        voice.own_key = voice.value_key
        voice.value_key = anchors.get(voice.value_key, voice.value_key)


def _retract(voices: list[Voice]) -> None:
    """A sighting ends only sightings; against an instruction it speaks as a refutation."""
    retractions = [voice for voice in voices if voice.stance == "retracts" and voice.counts]
    for voice in voices if retractions else ():
        if voice.stance == "retracts":
            continue
        for retraction in retractions:
            if retraction.at > voice.at and _ends(retraction, voice):
                voice.note = RETRACTED
                voice.by = retraction.evidence.id
                break


def _ends(retraction: Voice, voice: Voice) -> bool:
    if voice.instructs and not retraction.instructs:
        return False
    if retraction.value_key and retraction.value_key != voice.value_key:
        return False
    return covers(retraction.evidence.scope, voice.evidence.scope)


def _one_voice_an_origin(voices: list[Voice], book: Rulebook) -> None:
    """Keep an origin's newest support a scope (a value, where many live side by side) and its newest word on a value.

    An instruction that has expired steps aside for the origin's earlier one; an expired sighting does not, since
    what it had replaced was seen to be past. Sightings and instructions of one origin are different speech.
    """
    many = book.rule(voices[0].evidence.attribute).cardinality == "many"
    supported: set[tuple[Scope, str, bool, str]] = set()
    judged: set[tuple[Scope, str, str, bool]] = set()
    for voice in reversed(voices):
        note, instructs, stance = voice.note, voice.instructs, voice.stance
        if stance == "retracts" or (note and (instructs or note in _UNSAID)):
            continue
        scope, origin = voice.evidence.scope, voice.evidence.origin
        opinion = (scope, origin, voice.value_key, instructs)
        if stance == "supports":
            place = (scope, origin, instructs, voice.value_key if many else "")
            spoken = place in supported or opinion in judged
            supported.add(place)
        else:
            spoken = opinion in judged
        judged.add(opinion)
        if spoken and not note:
            voice.note = OUTSPOKEN
