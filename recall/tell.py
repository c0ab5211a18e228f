"""Small phrases of plain English about beliefs and evidence: how old, how sure, said by which source and when."""

import re
from collections.abc import Iterable

from beliefs.statement import compose, spell, spell_scope
from schemas.answer import Contribution
from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR, MINUTE, Instant, format_day

_UNITS = ((365 * DAY, "year"), (30 * DAY, "month"), (7 * DAY, "week"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"))
_REASONS = {
    "superseded": "replaced by a newer one",
    "outweighed": "outweighed by other evidence",
    "refuted": "refuted",
    "retracted": "taken back",
    "expired": "expired",
    "decayed": "not confirmed for long",
    "overruled": "overruled by an instruction",
    "unfounded": "what it was concluded from does not hold",
}
_QUOTED = 160
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Oo]urs?|[Uu]s)\b|我")


def age(at: Instant | None, moment: Instant) -> str:
    """How long before a moment, as in "30 days ago"; days up to two months, since they are what people count in."""
    if at is None:
        return "at an unknown time"
    past = moment - at
    if past < 0:
        return f"from {format_day(at)} on"
    if DAY <= past < 60 * DAY:
        return f"{counted(past // DAY, 'day')} ago"
    for size, unit in _UNITS:
        if past >= size:
            return f"{counted(past // size, unit)} ago"
    return "just now"


def standing(belief: Belief) -> str:
    """The status of a belief with its reason, as in "revoked: replaced by a newer one"."""
    return f"{belief.status}: {_REASONS[belief.reason]}" if belief.reason else belief.status


def source(evidence: Evidence) -> str:
    """Who says so and when, as in "document policy-2024-05 of 2024-05-20"."""
    named = f"{evidence.source.type} {evidence.source.id}" if evidence.source.type != "other" else evidence.source.id
    return f"{named} of {format_day(evidence.effective_at)}"


def said(evidence: Evidence) -> str:
    """The source with its words."""
    return f'{source(evidence)} says "{shortened(evidence.statement)}"' if evidence.statement else source(evidence)


def value_of(belief: Belief) -> str:
    """What a belief says in short: its value with its scope, or a free claim's statement."""
    if belief.attribute is None:
        return f'"{shortened(belief.statement)}"'
    return f"{spell(belief.value)} ({spell_scope(belief.scope)})" if belief.scope else spell(belief.value)


def term(contribution: Contribution) -> str:
    """One term of the log-odds with its factors, or why it does not count."""
    sums = (
        f"{contribution.factor:g} × weight {contribution.weight:g} × reliability {contribution.reliability:.2f}"
        f"{_learned_from(contribution.outcomes)} × decay {contribution.decay:.3f}"
    )
    note = f" ({contribution.note})" if contribution.note else ""
    told = _in_digest(contribution) if contribution.voices else said(contribution.evidence)
    if not contribution.counted:
        return f"{told}: does not count{note}"
    if contribution.step:
        return f"{contribution.step:+.3f} {contribution.note}: {told}"
    return f"{contribution.log_odds:+.3f} = {sums}: {told}{note}"


def _in_digest(contribution: Contribution) -> str:
    """The source with what it says beside others, whose own words are not at hand."""
    piece = contribution.evidence
    told = shortened(compose(piece.entity, piece.attribute, piece.value, piece.scope, piece.stance))
    return f'{source(piece)} says "{told}" (in a digest of {contribution.voices}; its own words are in the archive)'


def _learned_from(outcomes: int) -> str:
    return f" (from {counted(outcomes, 'outcome')})" if outcomes else ""


def one_line(text: str) -> str:
    """A text without line breaks, so that what was told cannot pass for further lines of ours."""
    return " ".join(text.split())


def told_of(belief: Belief, words: Iterable[Evidence]) -> str:
    """A belief's words as a sentence without its end; who speaks stands before what is told in the first person."""
    told = shortened(belief.statement).rstrip(" .。")
    if not _FIRST_PERSON.search(told):
        return told
    said_so = next((piece for piece in words if piece.statement == belief.statement), None)
    speaker = (said_so.source.origin or said_so.agent) if said_so else ""
    return f"{speaker or belief.entity.name}: {told}"


def ended(text: str) -> str:
    """A sentence with its full stop, where it has no end yet."""
    return text if text.endswith(("!", "?", "！", "？", '"')) else f"{text}."


def shortened(text: str) -> str:
    """A text on one line, cut where it gets long."""
    line = one_line(text)
    return line if len(line) <= _QUOTED else line[: _QUOTED - 1].rstrip() + "…"


def counted(number: int, one: str, several: str = "") -> str:
    """A number with what there is of it, such as "slot" or "slot is"; `several` is `one` and s unless given."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"
