"""What is searchable of a belief: one row an audience, made only from words that this audience may see."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from beliefs.access import public
from beliefs.conflict import Candidate
from beliefs.lone import is_plain
from beliefs.resolve import voiced
from schemas.audience import PUBLIC, audience_of
from schemas.belief import Belief
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.instant import DAY, Instant, datetime_of
from schemas.policy import Policy
from schemas.slot import Slot, StoredSlot
from stores.ports import IndexRow

_TEMPLATE_MARK = "{"
"""In an attribute that is a sentence without its value; such a one says nothing that the statement does not."""

Neighbours = Mapping[str, Sequence[Evidence]]
"""By evidence id: what stands next to it in its session."""


def rows_of(
    stored: StoredSlot, wanted: Iterable[str], neighbours: Neighbours, policy: Policy, now: Instant
) -> list[IndexRow]:
    """The rows of the wanted beliefs of a slot, for every audience that may see a part of their evidence."""
    beliefs = {belief.id: belief for belief in stored.slot.beliefs}
    chosen = [beliefs[id] for id in wanted if id in beliefs]
    if not stored.slot.restricted and not stored.slot.in_session:
        mentioned: dict[str, set[str]] = {}
        for edge in stored.slot.edges:
            if edge.type == "mentions":
                mentioned.setdefault(edge.dst, set()).add(edge.src)
        return [
            _plain_row(belief, _told_at(belief, stored.evidence), mentioned.get(belief.id, ()), stored.slot)
            for belief in chosen
        ]
    return _rows_by_audience(stored, chosen, neighbours, policy, now)


def needs_evidence(slot: Slot, wanted: Collection[str]) -> bool:
    """Whether `rows_of` reads the slot's evidence for the wanted beliefs."""
    untold = any(belief.newest_support is None for belief in slot.beliefs if belief.id in wanted)
    return slot.restricted or slot.in_session or untold


def _rows_by_audience(
    stored: StoredSlot, chosen: Sequence[Belief], neighbours: Neighbours, policy: Policy, now: Instant
) -> list[IndexRow]:
    """As the bank sees it from public evidence alone, and as those see it who may read more."""
    if len(stored.evidence) == 1 and is_plain(stored.evidence[0], now):
        (only,) = stored.evidence
        return [_row(belief, audience_of(only), [only], neighbours, stored.slot) for belief in chosen]
    shared = public(stored.evidence)
    by_bank = voiced(shared, policy, now) if shared else {}
    by_all = voiced(stored.evidence, policy, now) if stored.slot.restricted else by_bank
    rows = []
    for belief in chosen:
        words = _by_audience(by_bank.get(belief.id))
        everything = _by_audience(by_all.get(belief.id))
        words |= {who: said for who, said in everything.items() if who != (PUBLIC,)}
        if not words and (PUBLIC,) in everything:
            # Public words, under an id that they have for those alone who see a close value beside them.
            words = dict.fromkeys(_restricted(stored.evidence), everything[PUBLIC,])
        rows += [_row(belief, who, said, neighbours, stored.slot) for who, said in sorted(words.items())]
    return rows


def _restricted(evidence: Sequence[Evidence]) -> set[tuple[str, ...]]:
    """The audiences of what is not for the whole bank."""
    return {audience_of(piece) for piece in evidence if piece.visibility != "bank"}


def _by_audience(candidate: Candidate | None) -> dict[tuple[str, ...], list[Evidence]]:
    """The words behind a belief by who may see them, oldest first; verdicts on it only if there is nothing else."""
    by_audience: dict[tuple[str, ...], list[Evidence]] = {}
    if candidate is not None:
        voices = candidate.supporters or candidate.silent or candidate.refuters
        told = [voice for voice in voices if voice.evidence.source.type != "feedback"]
        for voice in told or voices:
            by_audience.setdefault(audience_of(voice.evidence), []).append(voice.evidence)
    return by_audience


def _told_at(belief: Belief, evidence: Sequence[Evidence]) -> Instant:
    """When a belief was last told: by counted support, else by whatever names its value, else in its slot at all."""
    if belief.newest_support is not None:
        return belief.newest_support
    named = [piece.effective_at for piece in evidence if piece.scope == belief.scope and piece.value == belief.value]
    return max(named or [piece.effective_at for piece in evidence])


def is_embedded(belief: Belief, slot: Slot) -> bool:
    """Whether a belief is among the vectors; else it is found by words, by time and over the graph."""
    return belief.tier != "low" and not slot.demoted


def _plain_row(belief: Belief, at: Instant, mentioned: Iterable[str], slot: Slot) -> IndexRow:
    """The one row of a belief that everybody may see and that stands in no session."""
    named = _named(belief.entity, belief.attribute, belief.statement)
    return IndexRow(
        bank=belief.bank,
        belief=belief.id,
        audience=PUBLIC,
        readers=(PUBLIC,),
        version=belief.version,
        network=belief.network,
        status=belief.status,
        text=_dated(named, at),
        keywords=named,
        entities=tuple(sorted(mentioned)),
        at=at,
        occurred_start=belief.occurred_start,
        occurred_end=belief.occurred_end,
        embedded=is_embedded(belief, slot),
    )


def _row(
    belief: Belief, readers: tuple[str, ...], words: Sequence[Evidence], neighbours: Neighbours, slot: Slot
) -> IndexRow:
    newest = words[-1]
    statement = belief.statement if readers == (PUBLIC,) else newest.statement or belief.statement
    told = [_told(piece) for piece in neighbours.get(newest.id, ()) if audience_of(piece) == readers]
    mentioned = {entity_id(belief.bank, entity) for piece in words for entity in piece.mentions}
    return IndexRow(
        bank=belief.bank,
        belief=belief.id,
        audience=" ".join(readers),
        readers=readers,
        version=belief.version,
        network=belief.network,
        status=belief.status,
        text=searched_text(newest.entity, newest.attribute, statement, newest.effective_at),
        keywords="\n".join([_told(newest), *told]),
        entities=tuple(sorted({entity_id(belief.bank, belief.entity), *mentioned})),
        at=newest.effective_at,
        occurred_start=newest.occurred_start,
        occurred_end=newest.occurred_end,
        embedded=is_embedded(belief, slot),
        checked=slot.restricted,
    )


def searched_text(entity: Entity, attribute: str | None, statement: str, at: Instant) -> str:
    """One statement with its day, whom it is about or who said it, and what of them: what is embedded."""
    return _dated(_named(entity, attribute, statement), at)


def _dated(named: str, at: Instant) -> str:
    return f"[{_day(at // DAY)}] {named}"


@lru_cache(maxsize=4_096)
def _day(number: int) -> str:
    """A day as it is written out, given its number since 1970."""
    moment = datetime_of(number * DAY)
    return f"{moment.day} {moment:%B} {moment.year}"


def _told(piece: Evidence) -> str:
    return _named(piece.entity, piece.attribute, piece.statement)


@lru_cache(maxsize=2_048)
def _named(entity: Entity, attribute: str | None, statement: str) -> str:
    """The statement, led by the names of its entity and attribute where it does not say them itself.

    It stands in up to four rows: twice in its own, and in those of its neighbours.
    """
    plain = statement.casefold()
    lead = [entity.name] if entity.name.casefold() not in plain else []
    if attribute and attribute.casefold() not in plain and _TEMPLATE_MARK not in attribute:
        lead.append(attribute)
    return f"{', '.join(lead)}: {statement}" if lead else statement
