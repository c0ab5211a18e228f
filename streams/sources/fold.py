"""Folds log lines: repeats of one template within an hour become one observation that counts them; changes stay."""

from collections.abc import Iterable, Iterator

import msgspec

from beliefs.statement import compose
from schemas.claim import Value
from schemas.entity import DEFAULT_TYPE, Entity
from schemas.instant import HOUR, SECOND, Instant, format_instant
from streams.sources.masks import shown_template, template_of
from streams.sources.record import GRAVE, LEVELS, WARNING, Record, gravity
from streams.sources.slots import HOST, SERVICE, Fact, SlotReader
from streams.sources.told import Told

WINDOW: Instant = HOUR
"""Lines alike within a window, counted from the full hour, are one observation."""

_MOST_GROUPS = 20_000
_LONGEST_TEMPLATE = 120
_SHORT = 80
_LONGEST_MESSAGE = 4_000
_LONGEST_TEXT = 500_000
_MOST_KNOWN = 200_000


class _Group(msgspec.Struct, gc=False):
    """Lines alike: the first and the last of them by time, how many, and the newest value of each slot.

    `records` are the lines without those that continue another.
    """

    subject: Entity
    links: tuple[Entity, ...]
    template: str
    first: Record
    last: Record
    lines: int = 0
    records: int = 0
    states: dict[tuple[Entity, str, object], tuple[Instant, Fact]] = {}
    measures: dict[tuple[Entity, str, object], tuple[Instant, Fact]] = {}
    request: str = ""


class _Summary(msgspec.Struct, gc=False):
    """How much a service said within a window, and how grave it was."""

    service: str
    host: str
    first: Instant
    last: Instant
    lines: int = 0
    warnings: int = 0
    errors: int = 0
    worst: int = -1


class Fold:
    """Takes records in any order and gives observations; `source` is the id that they bear."""

    def __init__(self, reader: SlotReader, source: str) -> None:
        self._reader = reader
        self._source = source
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._known: dict[tuple[Entity, str, object], Value] = {}

    @property
    def full(self) -> bool:
        """Whether it holds as much as it should; then `flush`."""
        return len(self._groups) >= _MOST_GROUPS

    def add(self, record: Record) -> None:
        """Take one line in."""
        template = template_of(record.message[:_LONGEST_MESSAGE])
        facts = self._reader.read(record, template)
        window = record.at // WINDOW
        key: tuple[object, ...] = (
            facts.subject, record.service, record.host, record.component, record.level, template, window,
        )  # fmt: skip
        if facts.states and self._changes(facts.states):
            key = (*key, record.number)
        group = self._groups.get(key)
        if group is None:
            group = _Group(facts.subject, facts.links, template, record, record, request=record.request)
            group.states, group.measures = {}, {}
            self._groups[key] = group
        group.lines += 1 + record.more
        group.records += 1
        if record.at < group.first.at:
            group.first = record
        if record.at >= group.last.at:
            group.last = record
        if record.request != group.request:
            group.request = ""
        if facts.states:
            _newest(group.states, facts.states, record.at)
        if facts.measures:
            _newest(group.measures, facts.measures, record.at)

    def flush(self) -> Iterator[Told]:
        """The observations of all lines taken in, oldest first; then it is empty, but for the states that it knows."""
        for group in sorted(self._groups.values(), key=lambda group: (group.last.at, group.last.number)):
            yield self._told(group)
        for summary in _summaries(self._groups.values()):
            yield self._summed(summary)
        self._groups = {}
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()

    def _changes(self, states: tuple[Fact, ...]) -> bool:
        changed = False
        for fact in states:
            place = (fact.entity, fact.attribute, fact.scope)
            if self._known.get(place) != fact.value:
                self._known[place] = fact.value
                changed = True
        return changed

    def _told(self, group: _Group) -> Told:
        first, last = group.first, group.last
        both = first is not last and first.raw != last.raw and len(first.raw) + len(last.raw) < _LONGEST_TEXT
        text = f"{first.raw}\n{last.raw}" if both else last.raw
        claims = [_stated(fact, at, last.message) for at, fact in group.states.values()]
        if not claims or len(last.message) > _SHORT:
            claims.append(_free(group))
        claims += [_measured(fact, at) for at, fact in group.measures.values()]
        if group.lines > 1 + last.more:
            claims.append(_counted(group))
        fields: dict[str, object] = {
            "observed_at": last.at / SECOND,
            "source": self._origin(last.service, last.host),
            "entity": _entity(group.subject),
            "text": text,
            "claims": claims,
            "metadata": {
                "lines": group.lines,
                "first": format_instant(first.at),
                "last": format_instant(last.at),
                "line": first.number,
            },
        }
        if group.request:
            fields["session"] = group.request
        return Told(fields, group.lines)

    def _summed(self, summary: _Summary) -> Told:
        type = SERVICE if summary.service else HOST
        entity = Entity(summary.service or summary.host or "unknown", type)
        scope = (("host", summary.host),) if summary.host and summary.service else ()
        facts = [
            Fact(entity, "log lines an hour", summary.lines, "number", scope=scope),
            Fact(entity, "warnings an hour", summary.warnings, "number", scope=scope),
            Fact(entity, "errors an hour", summary.errors, "number", scope=scope),
        ]
        if summary.worst >= 0:
            facts.insert(0, Fact(entity, "level", LEVELS[summary.worst].lower(), "enum", scope=scope))
        period = {"occurred_start": summary.first / SECOND, "occurred_end": summary.last / SECOND}
        return Told(
            {
                "observed_at": summary.last / SECOND,
                "source": self._origin(summary.service, summary.host),
                "entity": _entity(entity),
                "claims": [_measured(fact, summary.last) for fact in facts],
                "metadata": {name: format_instant(round(at * SECOND)) for name, at in period.items()},
            }
        )

    def _origin(self, service: str, host: str) -> dict[str, str]:
        speaker = "@".join(part for part in (service, host) if part)
        return {"id": self._source, "origin": speaker or self._source, "type": "log"}


def _summaries(groups: Iterable[_Group]) -> Iterable[_Summary]:
    """What each service said on each host within each window."""
    found: dict[tuple[str, str, int], _Summary] = {}
    for group in groups:
        first, last = group.first, group.last
        key = (first.service, first.host, first.at // WINDOW)
        summary = found.get(key)
        if summary is None:
            summary = found[key] = _Summary(first.service, first.host, first.at, last.at)
        summary.first, summary.last = min(summary.first, first.at), max(summary.last, last.at)
        summary.lines += group.records
        if first.level:
            grave = gravity(first.level)
            summary.warnings += group.records * (grave == WARNING)
            summary.errors += group.records * (grave >= GRAVE)
            summary.worst = max(summary.worst, grave)
    return found.values()


def _newest(into: dict[tuple[Entity, str, object], tuple[Instant, Fact]], facts: tuple[Fact, ...], at: Instant) -> None:
    for fact in facts:
        place = (fact.entity, fact.attribute, fact.scope)
        known = into.get(place)
        if known is None or at >= known[0]:
            into[place] = (at, fact)


def _stated(fact: Fact, at: Instant, message: str) -> dict[str, object]:
    """A state in the words of its slot, with those of the line if they are few: many would hide what it is about."""
    told = message.replace(f"[{fact.entity.type}: {fact.entity.name}] ", "")
    return _claim(fact, at, f"{_composed(fact)} ({told})" if len(message) <= _SHORT else _composed(fact))


def _measured(fact: Fact, at: Instant) -> dict[str, object]:
    return _claim(fact, at, _composed(fact))


def _composed(fact: Fact) -> str:
    """A sentence for a slot, as in "instance b9000564: state is active"; a name by itself says what services are."""
    entity = fact.entity
    if entity.type not in (SERVICE, HOST, DEFAULT_TYPE) and entity.type not in entity.name.lower():
        entity = Entity(f"{entity.type} {entity.name}", entity.type)
    return compose(entity, fact.attribute, fact.value, fact.scope)


def _claim(fact: Fact, at: Instant, statement: str) -> dict[str, object]:
    claim: dict[str, object] = {
        "entity": _entity(fact.entity),
        "attribute": fact.attribute,
        "value": fact.value,
        "value_type": fact.type,
        "statement": statement,
        "tier": fact.tier,
        "effective_at": at / SECOND,
        "extractor": "log",
    }
    if fact.scope:
        claim["scope"] = dict(fact.scope)
    return claim


def _free(group: _Group) -> dict[str, object]:
    """What the line says, as a statement that happened at a time and so does not fade."""
    last = group.last
    return {
        "entity": _entity(group.subject),
        "statement": last.message[:_LONGEST_MESSAGE],
        "tier": "medium" if gravity(last.level) >= GRAVE else "low",
        "occurred_start": group.first.at / SECOND,
        "occurred_end": last.at / SECOND,
        "mentions": [_entity(entity) for entity in group.links],
        "extractor": "log",
    }


def _counted(group: _Group) -> dict[str, object]:
    shown = shown_template(group.template, _LONGEST_TEMPLATE)
    first, last = format_instant(group.first.at), format_instant(group.last.at)
    fact = Fact(group.subject, f"count of “{shown}”", group.lines, "number")
    return _claim(fact, group.last.at, f"{group.subject.name}: “{shown}” {group.lines} times, {first} to {last}")


def _entity(entity: Entity) -> dict[str, str]:
    return {"name": entity.name, "type": entity.type}
