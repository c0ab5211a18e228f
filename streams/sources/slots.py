"""What a log line says as slots: what it is about, the states and versions that it tells, and what it measures."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from beliefs.sentences import words
from beliefs.units import UNITS
from schemas.claim import Value, ValueType
from schemas.entity import Entity
from schemas.limits import INT64
from streams.sources.masks import masked_path
from streams.sources.pattern_file import IdRule, StateRule, filled
from streams.sources.record import Record

SERVICE = "service"
HOST = "host"

_LASTING = frozenset((SERVICE, HOST, "server", "node", "device", "interface", "cluster"))
_PLANS = 20_000
_READ = 4_096
_LONGEST_NAME = 120
_MEASURE = re.compile(
    r"(?<![\w./-])(?:(?P<name>[A-Za-z][\w.-]*+)\s?=|(?P<key>[A-Za-z][\w%-]*+(?: [A-Za-z][\w-]*+){0,2}+)\s?:)\s?"
    r"(?P<number>[-+]?\d{1,15}(?:\.\d+)?)(?:\s(?![A-Za-z][\w.%-]*\s?[:=]))?(?P<unit>%|[A-Za-zµ]{1,12})?(?![\w:/-]|\.\d)"
)
_TOOK = re.compile(
    r"\b(?:took|after|in|elapsed|duration|timeout(?: of)?)[\s:=-]{1,3}(?P<number>\d{1,12}(?:\.\d+)?)\s?"
    r"(?P<unit>ms|s|us|µs|ns|sec|secs|seconds?|milliseconds?|minutes?|hours?)\b(?: to (?P<what>[a-z][\w ]{2,60}))?",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?P<name>(?<![\w.-])[A-Za-z][\w.-]{0,60})?(?:\s|_)?(?i:\bversion|\bver|(?<=_)version)\b[\s:=]{1,3}[\"']?v?(?P<version>\d+(?:\.\d+)+(?:[-+._]+\w+)*)"
)
_REQUEST = re.compile(r'"?\b(?P<method>GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (?P<path>/\S*)')
_NOT_MEASURED = re.compile(
    r"(?:^|[ _.-])(?:\w{0,8}id|port|cport|line|lineno|tty|seq|year|hash|code|version|pri|priority|revision|facility)$",
    re.IGNORECASE,
)
_STATE_KEY = re.compile(r"(?:\w+[_.])*(?:state|status|phase|health|condition)")
_FORMER = re.compile(r"^(?:old|prev|previous|from|last|former)[_.]")
_FRESH = re.compile(r"^(?:new|current|to)[_.]")
_RESOURCES = words("instance container pod node device vm job task volume disk interface sensor")
_BARE = words("used free total limit available count size value current max min")
"""Of what: of the thing that was measured before it, as in `Total memory: 64 GB, used: 2 GB`."""

_PRONOUNS = words(
    "it this that which there what who he she they everything nothing server service process client and or not "
    "file value option user system one of the to from new with for on a an in is using running current at by"
)


class Fact(msgspec.Struct, frozen=True, gc=False):
    """A slot with the value that a line tells; `state` says that every change of it is told by itself."""

    entity: Entity
    attribute: str
    value: Value
    type: ValueType
    tier: str = "low"
    state: bool = False
    scope: tuple[tuple[str, str], ...] = ()


class Facts(msgspec.Struct, frozen=True, gc=False):
    """All that a line tells: whom it is about, what else it names, and its slots."""

    subject: Entity
    links: tuple[Entity, ...]
    states: tuple[Fact, ...]
    measures: tuple[Fact, ...]


class _Plan(msgspec.Struct, frozen=True):
    """Which rules have anything to say about the lines of a template."""

    ids: tuple[IdRule, ...]
    states: tuple[StateRule, ...]
    version: bool
    measures: bool
    took: bool
    request: bool


class SlotReader:
    """Reads slots by rules. Which rules fit is found out once a template, since ids and numbers decide nothing."""

    def __init__(self, ids: Sequence[IdRule], states: Sequence[StateRule]) -> None:
        self._ids = tuple(rule for rule in ids if not rule.whole)
        self._whole = tuple(rule for rule in ids if rule.whole)
        self._states = tuple(states)
        self._plans: dict[tuple[str, str], _Plan] = {}

    def read(self, record: Record, template: str) -> Facts:
        """What a line tells. Only the beginning of a long message is looked at."""
        if len(record.message) > _READ:
            record = msgspec.structs.replace(record, message=record.message[:_READ], raw=record.raw[:_READ])
        plan = self._plan(record, template)
        voice, where, hosts = _speaker(record.service, record.host)
        named = [(entity, rule.link) for rule in plan.ids if (entity := _entity(rule, record)) is not None]
        things = [entity for entity, link in named if not link]
        subject = record.subject or (things[0] if things else voice)
        owner = subject if subject.type in _RESOURCES or record.subject is None else voice
        if plan.request or record.scope:
            owner = voice
        states = [*self._told_states(plan, record, [subject, *things], voice, where)] if plan.states else []
        if plan.version:
            states += _versions(record.message, voice, where)
        if record.fields:
            states += _keyed_states(record, subject, voice, where)
        measures = _measures(plan, record, owner, where if owner == voice else ())
        links = hosts
        if named or subject is not voice:
            others = [entity for entity in (*(entity for entity, _ in named), voice) if entity != subject]
            links = tuple(dict.fromkeys([*others, *hosts]))[:8]
        return Facts(subject, links, tuple(states), tuple(measures))

    def _plan(self, record: Record, template: str) -> _Plan:
        key = (template, record.service)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._made(record)
        return plan

    def _made(self, record: Record) -> _Plan:
        return _Plan(
            (*self._whole, *(rule for rule in self._ids if rule.regex.search(record.message))),
            tuple(
                rule
                for rule in self._states
                if rule.service in ("", record.service) and rule.regex.search(record.message)
            ),
            "ver" in record.message.lower() and _VERSION.search(record.message) is not None,  # the search alone is slow
            _MEASURE.search(record.message) is not None,
            _TOOK.search(record.message) is not None,
            _REQUEST.search(record.message) is not None,
        )

    def _told_states(
        self, plan: _Plan, record: Record, things: list[Entity], voice: Entity, where: tuple[tuple[str, str], ...]
    ) -> Iterator[Fact]:
        """The first rule that fits speaks for its thing and attribute."""
        told = set()
        for rule in plan.states:
            found = rule.regex.search(record.message)
            meant = next((thing for thing in things if rule.about in ("", thing.type)), None)
            if found is None or meant is None:
                continue
            entity = _named(rule, found) or meant
            value = rule.value or (found["value"] if "value" in rule.regex.groupindex else "") or ""
            value = rule.map.get(value, rule.map.get(value.lower(), value)).strip().lower()
            if not value or entity.name.lower() in _PRONOUNS or (entity, rule.attribute) in told:
                continue
            told.add((entity, rule.attribute))
            scope = where if entity == voice or entity.type in (SERVICE, "interface") else ()
            yield Fact(entity, rule.attribute, value, "enum", rule.tier or tier_of(entity), True, scope)


def tier_of(entity: Entity) -> str:
    """States of what lasts are facts; those of one of many instances, jobs or sessions are not worth embedding."""
    return "medium" if entity.type in _LASTING else "low"


class _Speaker(NamedTuple):
    """Whose line it is: the service, else the host; as a scope and as links, the host of a service."""

    voice: Entity
    where: tuple[tuple[str, str], ...]
    hosts: tuple[Entity, ...]


@lru_cache(maxsize=4_096)
def _speaker(service: str, host: str) -> _Speaker:
    if not service:
        return _Speaker(Entity(host or "unknown", HOST), (), ())
    return _Speaker(Entity(service, SERVICE), (("host", host),) if host else (), (Entity(host, HOST),) if host else ())


def _entity(rule: IdRule, record: Record) -> Entity | None:
    found = rule.regex.search(record.raw if rule.whole else record.message)
    if found is None:
        return None
    groups = {name: value for name, value in found.groupdict().items() if value}
    name = (filled(rule.name, groups) if rule.name else groups.get("id") or found[0]).strip()[:_LONGEST_NAME]
    return Entity(name, (rule.type or groups.get("type", "")).lower() or "thing") if name else None


def _named(rule: StateRule, found: re.Match[str]) -> Entity | None:
    if "subject" not in rule.regex.groupindex or not found["subject"]:
        return None
    return Entity(found["subject"].strip(" '\"")[:_LONGEST_NAME] or found["subject"], rule.type)


def _versions(message: str, voice: Entity, where: tuple[tuple[str, str], ...]) -> list[Fact]:
    found = _VERSION.search(message)
    if found is None:
        return []
    name = (found["name"] or "").lower().strip("._-")
    attribute = f"{name} version" if name and name not in _PRONOUNS else "version"
    return [Fact(voice, attribute, found["version"], "version", "medium", True, where)]


def _keyed_states(record: Record, subject: Entity, voice: Entity, where: tuple[tuple[str, str], ...]) -> Iterator[Fact]:
    """States and versions among the named values of a line; a former state is not one."""
    entity, scope = (subject, ()) if subject != voice else (voice, where)
    for name, value in record.fields.items():
        if not isinstance(value, str) or max(len(value), len(name)) > _LONGEST_NAME:
            continue
        attribute, type = _keyed_attribute(name)
        if not attribute or not value.strip():
            continue
        if type == "enum":
            yield Fact(entity, attribute, value.strip().lower(), "enum", tier_of(entity), True, scope)
        else:
            yield Fact(voice, attribute, value, "version", "medium", True, where)


@lru_cache(maxsize=4_096)
def _keyed_attribute(name: str) -> tuple[str, ValueType]:
    """Which attribute a named value states, and whether that is a state or a version; none for other names."""
    key = _FRESH.sub("", name)
    if _STATE_KEY.fullmatch(key) and not _FORMER.match(name):
        return key.replace("_", " "), "enum"
    if name == "version" or name.endswith((".version", "_version")):
        return name.replace("_", " "), "version"
    return "", "text"


def _measures(plan: _Plan, record: Record, owner: Entity, where: tuple[tuple[str, str], ...]) -> list[Fact]:
    found: dict[str, Value] = {}
    if plan.measures:
        noun = ""
        for match in _MEASURE.finditer(record.message):
            name, key, number, unit = match.group("name", "key", "number", "unit")
            measured, noun = _measured(name or key, noun)
            _keep(found, measured, number, unit)
    if plan.took and (took := _TOOK.search(record.message)):
        what = (took["what"] or "").strip().lower()
        _keep(found, _measure_key(f"time to {what}" if what else "duration"), took["number"], took["unit"])
    for name, value in record.fields.items():
        if _is_measured(name, value):
            found[name.replace("_", " ")] = value
    if not found:
        return []
    place = _place(plan, record, where)
    return [Fact(owner, name, value, "number", scope=place) for name, value in found.items()]


def _place(plan: _Plan, record: Record, where: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The scope of what a line measures: where it was, and of a request its method and path."""
    request = _REQUEST.search(record.message) if plan.request else None
    place = _request_place(where, *request.group("method", "path")) if request else where
    return tuple(sorted({**dict(place), **record.scope}.items())) if record.scope else place


@lru_cache(maxsize=4_096)
def _request_place(where: tuple[tuple[str, str], ...], method: str, path: str) -> tuple[tuple[str, str], ...]:
    masked = masked_path(path.rstrip('"'))
    return tuple(sorted({**dict(where), "request": f"{method} {masked}"}.items()))


@lru_cache(maxsize=4_096)
def _measured(name: str, noun: str) -> tuple[str, str]:
    """What a name that stands after a noun measures (nothing: ""), and the noun for the names after it."""
    told = name.lower()
    following = next((word for word in told.split() if word not in _BARE), noun)
    return _measure_key(f"{noun} {told}" if noun and told in _BARE else told), following


def _is_measured(name: str, value: Value) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -INT64 <= value < INT64:
        return False
    return len(name) <= _LONGEST_NAME and _names_a_measure(name)


@lru_cache(maxsize=4_096)
def _names_a_measure(name: str) -> bool:
    return bool(name.strip()) and not _NOT_MEASURED.search(name[-40:])


def _keep(into: dict[str, Value], key: str, number: str, unit: str | None) -> None:
    if not key:
        return
    if unit and unit.lower() in UNITS:
        into[key] = f"{number} {unit}"
    else:
        into[key] = float(number) if "." in number else int(number)


@lru_cache(maxsize=4_096)
def _measure_key(name: str) -> str:
    return "" if _NOT_MEASURED.search(name) else " ".join(name.lower().split())
