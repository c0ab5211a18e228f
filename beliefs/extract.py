"""How an observation becomes claims: its own as they are, else by rules, else free statements; nothing is dropped."""

import re
import unicodedata
from collections.abc import Callable

import msgspec

from beliefs.chinese import read_chinese
from beliefs.english import read_english
from beliefs.mentions import mentions_in
from beliefs.reading import Reading
from beliefs.sentences import LONGEST, Span, chunk_spans, sentence_spans
from beliefs.statement import compose
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.identity import normal_name
from schemas.observation import Observation
from schemas.reserved import is_alias

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_ASKING = ("?", "？", '?"', "？”", "？」")
Read = Callable[[str, Observation], tuple[Reading, ...]]
"""What one sentence of an observation states."""

_SHARED = frozenset({"likes", "dislikes", "allergy", "name", "nickname"})
"""Attributes that keep their name when the observation's entity stands in for the person named in the sentence."""


def extract(observation: Observation) -> tuple[Claim, ...]:
    """What an observation says. Depends on the observation alone.

    Order: claims that it states itself are taken as they are; else each sentence is tried against the rules, and
    unless the rules covered all of it, the whole text is kept as one free claim (several, where it is very long).
    What is said twice in the same words is one claim.
    """
    return _stated(observation) if observation.claims else claims_by(read_by_rules, observation)


def claims_by(read_sentence: Read, observation: Observation) -> tuple[Claim, ...]:
    """The claims of a text, whoever reads its sentences; what was not read in full is kept as free claims, too."""
    spans = sentence_spans(observation.text)
    claims: list[Claim] = []
    covered = bool(spans)
    mark: Reading | None = None
    for start, end in spans:
        statement = observation.text[start:end]
        readings = read_sentence(statement, observation)
        claims += (_claim(reading, statement, observation) for reading in readings if reading.attribute is not None)
        mark = next((reading for reading in readings if reading.attribute is None), mark)
        if len(spans) == 1 and readings and mark is None and readings[0].kind == "instruction":
            mark = Reading(attribute=None, value=None, kind="instruction", tier="high", rule="free")
        covered = covered and _is_covered(readings)
    read = tuple(dict.fromkeys(claims))
    return read if covered else (*read, *_free(observation, spans, mark))


def _is_covered(readings: tuple[Reading, ...]) -> bool:
    """Whether a sentence is said in full by what was read of it."""
    told = [reading for reading in readings if reading.attribute is not None]
    return len(told) == len(readings) and any(reading.stance == "supports" for reading in told)


def _stated(observation: Observation) -> tuple[Claim, ...]:
    """The observation's own claims; one without a statement gets the text, or a rendering."""
    text = observation.text.strip()
    fits = 0 < len(text) <= LONGEST
    claims = tuple(
        claim
        if claim.statement.strip()
        else msgspec.structs.replace(
            claim,
            statement=text if fits else compose(claim.entity, claim.attribute, claim.value, claim.scope, claim.stance),
        )
        for claim in observation.claims
    )
    lost = len(text) > LONGEST and any(not claim.statement.strip() for claim in observation.claims)
    return (*claims, *_free(observation, sentence_spans(observation.text), None)) if lost else claims


def read_by_rules(statement: str, observation: Observation) -> tuple[Reading, ...]:
    """What the rules understand of one sentence."""
    plain = " ".join(unicodedata.normalize("NFKC", statement).replace("’", "'").split())
    if _CJK.search(plain):
        return read_chinese(plain, observation.observed_at)
    return read_english(plain, observation.observed_at)


def _claim(reading: Reading, statement: str, observation: Observation) -> Claim:
    entity, attribute = _place(reading, observation)
    return Claim(
        entity=entity,
        attribute=attribute,
        value=reading.value,
        value_type=reading.value_type,
        scope=reading.scope,
        stance=reading.stance,
        statement=statement,
        kind=reading.kind,
        network=reading.network,
        tier=reading.tier,
        effective_at=reading.effective_at,
        valid_until=reading.valid_until,
        mentions=mentions_in(statement, entity),
        extractor=reading.rule,
    )


def _place(reading: Reading, observation: Observation) -> tuple[Entity, str | None]:
    """Whose attribute it is; where the observation's entity is not the subject, the attribute names the subject."""
    given, subject, attribute = observation.entity, reading.subject, reading.attribute
    if given is None or (subject is not None and is_alias(attribute)):
        return subject or _speaker(observation), attribute
    if subject is None or attribute is None or attribute in _SHARED:
        return given, attribute
    own, other = normal_name(given.name), normal_name(subject.name)
    if own in other or other in own or other in normal_name(attribute):
        return given, attribute
    return given, f"{other} {attribute}"


def _speaker(observation: Observation) -> Entity:
    voice = observation.agent or observation.owner
    if voice:
        return Entity(voice, "agent")
    return Entity(observation.source.origin or observation.source.id, "source")


def _free(observation: Observation, spans: list[Span], mark: Reading | None) -> tuple[Claim, ...]:
    """The text as it is, in as few pieces as the bound on length allows; what only asks is chatter (tier low)."""
    entity = observation.entity or (mark.subject if mark else None) or _speaker(observation)
    pieces = [observation.text[start:end] for start, end in chunk_spans(spans)]
    tier = mark.tier if mark else None
    if spans and all(observation.text[start:end].rstrip().endswith(_ASKING) for start, end in spans):
        tier = "low"
    return tuple(
        Claim(
            entity=entity,
            statement=piece,
            kind=mark.kind if mark else None,
            tier=tier,
            mentions=mentions_in(piece, entity),
            extractor=mark.rule if mark else "free",
        )
        for piece in pieces
    )
