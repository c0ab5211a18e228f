"""An answer in sentences: what was recalled, in the profile's voice, with its uncertainty and within a budget.

Without a language model each sentence is a belief's own statement behind a word for how sure it is:

    surely from .9 on, most likely from .75, probably from .6, else perhaps; each trait of skepticism above (below) 3
    asks for .05 more (less).
    literalism 1, 2   the word alone;  3  the word and the confidence;  4, 5  a source quoted, with its name
    empathy 4, 5      thanks whoever asks;  5 also asks to be told what does not fit;  1 to 3  neither
    skepticism 4, 5   says so where one source alone stands behind the leading belief

It cites the leading belief, and up to two more about the same entity or found at least half as well.
"""

import re
from collections.abc import Sequence

from beliefs.statement import spell
from recall.budget import tokens_of
from recall.render import NOTHING, cited, joined
from recall.tell import ended, one_line, shortened, source, told_of, value_of
from schemas.answer import Answer, Found
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.limits import MAX_NAME_BYTES
from schemas.profile import MIDDLE, Profile
from schemas.reflection import EXTRACTIVE, Judgement, Reflection, Sentence

REFLECTED = "beliefmesh:reflect"
"""The source, and the one origin, of every opinion that a reflection forms."""

_MOST = 3
_HALF = 0.5
_WORDS = ((0.9, "Surely"), (0.75, "Most likely"), (0.6, "Probably"))
_SHIFT = 0.05
_HIGH, _HIGHEST, _LOW = 4, 5, 2
_LONGEST = 300
_ASKING = ("?", "？")
_LEAST = 0.55
"""What is held less surely than this makes no opinion."""

_JUDGEMENT = re.compile(
    r"(?i)\b(?:should|ought|best|better|worst|worse|recommend(?:ed|ation)?|advi[sc]e|prefer(?:able)?|opinion|worth|think)\b"
    r"|应该|最好|更好|推荐|建议|觉得|认为|值得|怎么看"
)


def material(answer: Answer) -> tuple[Found, ...]:
    """What a reflection may rest on: all that was found, but its own earlier conclusions, and questions."""
    return tuple(
        found for found in answer.found if not _is_own(found) and not found.belief.statement.rstrip().endswith(_ASKING)
    )


def extractive(found: Sequence[Found], profile: Profile) -> tuple[Sentence, ...]:
    """The leading belief and those that go with it, one sentence each."""
    if not found:
        return ()
    lead = found[0]
    others = [
        one
        for one in found[1:]
        if one.belief.entity == lead.belief.entity or (lead.score > 0 and one.score >= lead.score * _HALF)
    ]
    return joined(_sentence(one, profile) for one in (lead, *others))[:_MOST]


def uncertainty(lead: Found | None, profile: Profile) -> str:
    """How sure the answer is, in a sentence."""
    if lead is None:
        return NOTHING
    sure = f"{lead.confidence:.2f}"
    if lead.belief.status == "contested":
        told = f"This is disputed; I hold it with {sure}."
    elif _word(lead.confidence, profile) == "Perhaps":
        told = f"I am not sure of this ({sure})."
    elif _word(lead.confidence, profile) == "Surely":
        told = f"I am sure of this ({sure})."
    else:
        told = f"I am fairly sure of this ({sure})."
    lone = len({piece.origin for piece in _words(lead)}) == 1
    return f"{told} Only one source says so." if lone and profile.skepticism >= _HIGH else told


def compose(
    answer: Answer,
    sentences: Sequence[Sentence],
    profile: Profile,
    max_tokens: int | None,
    *,
    voice: str = EXTRACTIVE,
    reason: str = "",
    dropped: int = 0,
) -> Reflection:
    """Put a reflection together; with `max_tokens`, its text keeps to them, and what is cut is counted.

    The leading sentence goes first, then how sure it is, then the other sentences, then politeness, which a
    model finds words for itself.
    """
    found = {one.belief.id: one for one in answer.found}
    lead = found[sentences[0].beliefs[0]] if sentences else None
    stated = uncertainty(lead, profile)
    wanted = [(2 + place if place else 0, Sentence(one.text, one.beliefs)) for place, one in enumerate(sentences)]
    wanted.append((1, Sentence(stated)))
    polite = len(sentences) + 2
    opening, closing = _courtesy(profile) if sentences and voice == EXTRACTIVE else (None, None)
    ordered = [*([(polite, opening)] if opening else []), *wanted, *([(polite + 1, closing)] if closing else [])]
    kept = _fitting(ordered, max_tokens)
    text = " ".join(cited(one) for one in kept)
    cut = len(sentences) - sum(bool(one.beliefs) for one in kept)
    shown = [one.text for one in kept]
    return Reflection(
        id="r" + digest(answer.id, voice, str(max_tokens), text),
        bank=answer.bank,
        question=answer.question,
        moment=answer.moment,
        text=text,
        sentences=tuple(kept),
        answer=answer.id,
        uncertainty=stated,
        confidence=None if lead is None else lead.confidence,
        voice=voice,
        reason=reason,
        dropped=dropped,
        left_out={"budget": cut + (stated not in shown)} if cut or stated not in shown else {},
        degraded=tuple(report.name for report in answer.reports if report.state in ("late", "failed")),
        tokens=tokens_of(text),
    )


def judgement(answer: Answer, reflection: Reflection, stated: str = "", whose: str = "") -> Judgement | None:
    """The opinion that a reflection forms: none unless a judgement was asked for, and what leads is held surely enough.

    `stated` is a model's wording of it, which makes no judgement of a question for a fact: a memory that talks a model
    into one would speak for the bank. Without one it is what the leading belief says. `whose` is who alone is
    to hold it, empty for the bank.
    """
    found = {one.belief.id: one for one in answer.found}
    if not reflection.cited or reflection.confidence is None or reflection.confidence < _LEAST:
        return None
    if not asks_for_judgement(answer.question):
        return None
    lead = found[reflection.cited[0]].belief
    asked = shortened(answer.question)
    attribute = f"judgement: {asked}".encode()[: MAX_NAME_BYTES - 1].decode("utf-8", "ignore")
    former = (one.belief.entity for one in answer.found if one.belief.attribute == attribute and _is_of(one, whose))
    value = shortened(stated) if stated else spell(lead.value) if lead.attribute else shortened(lead.statement)
    return Judgement(
        entity=lead.entity,
        attribute=attribute,
        value=value,
        statement=f"{asked} {one_line(stated or lead.statement)}"[:_LONGEST],
        confidence=reflection.confidence,
        premises=reflection.cited,
        former=tuple(entity for entity in dict.fromkeys(former) if entity != lead.entity),
    )


def asks_for_judgement(question: str) -> bool:
    """Whether a question asks what to think or do rather than what is."""
    return _JUDGEMENT.search(question) is not None


def _sentence(found: Found, profile: Profile) -> Sentence:
    belief = found.belief
    word = _word(found.confidence, profile)
    words = _words(found)
    told = told_of(belief, words)
    worded = next((piece for piece in words if piece.statement), None)
    if profile.literalism >= _HIGH and worded is not None:
        quoted = shortened(worded.statement)
        text = f'{word} (confidence {found.confidence:.2f}), in the words of {source(worded)}: "{quoted}"'
    elif profile.literalism <= _LOW:
        text = f"{word}: {told}"
    else:
        text = f"{word} (confidence {found.confidence:.2f}): {told}"
    rivals = [value_of(rival) for rival in found.rivals if rival.id in belief.rivals]
    return Sentence(ended(f"{text}; disputed by {', '.join(rivals)}" if rivals else text), (belief.id,))


def _word(confidence: float, profile: Profile) -> str:
    shift = _SHIFT * (profile.skepticism - MIDDLE)
    return next((word for bound, word in _WORDS if confidence >= bound + shift), "Perhaps")


def _words(found: Found) -> list[Evidence]:
    """What is counted for a belief, the heaviest first."""
    return [term.evidence for term in found.evidence if term.counted and term.stance == "supports"]


def _courtesy(profile: Profile) -> tuple[Sentence | None, Sentence | None]:
    opening = Sentence("Thank you for asking.") if profile.empathy >= _HIGH else None
    closing = Sentence("Tell me if this does not fit what you see.") if profile.empathy >= _HIGHEST else None
    return opening, closing


def _fitting(ordered: Sequence[tuple[int, Sentence]], max_tokens: int | None) -> list[Sentence]:
    """The sentences that the budget pays for, by rank, in their places; none if the leading one does not fit."""
    kept: set[int] = set()
    for place in sorted(range(len(ordered)), key=lambda place: ordered[place][0]):
        tried = sorted(kept | {place})
        if max_tokens is None or tokens_of(" ".join(cited(ordered[one][1]) for one in tried)) <= max_tokens:
            kept.add(place)
        elif ordered[place][0] == 0:
            break
    return [ordered[place][1] for place in sorted(kept)]


def _is_own(found: Found) -> bool:
    words = [term.evidence for term in found.evidence if term.stance == "supports"]
    return bool(words) and all(piece.source.id == REFLECTED for piece in words)


def _is_of(found: Found, whose: str) -> bool:
    """Whether a reflection for this asker (empty: for the bank) formed it."""
    if not _is_own(found):
        return False
    return any(
        (term.evidence.owner if term.evidence.visibility == "private" else "") == whose for term in found.evidence
    )
