"""A mapping applied to one document: which observations it makes of it, or why it makes none."""

from collections.abc import Iterator, Sequence

import msgspec

from schemas.errors import InvalidInput
from schemas.instant import parse_instant
from streams.sources.condition import holds
from streams.sources.expression import Names, Path, follow, spelled
from streams.sources.mapping import ClaimRule, MappingFile, RecordRule
from streams.sources.told import Reading, Refused, Skipped, Told, refused

_MOST_NAMED = 8


def apply(mapping: MappingFile, document: object, where: str) -> Iterator[Reading]:
    """What a document gives. A wrapper gives what the documents in it give; one that fits no rule is refused."""
    inner = [found for path in mapping.documents if isinstance(found := follow(path, {"": document}), list)]
    if inner:
        for place, each in enumerate(each for found in inner for each in found):
            yield from _one(mapping, each, f"{where}, document {place + 1}")
        return
    yield from _one(mapping, document, where)


def _one(mapping: MappingFile, document: object, where: str) -> Iterator[Reading]:
    names: dict[str, object] = {"": document}
    for name, make in mapping.let:
        names[name] = make(names)
    if any(holds(condition, names) for condition in mapping.ignore):
        yield Skipped()
        return
    lines = 1
    for record in mapping.records:
        for bound in _bindings(record, names):
            observed = _observed(record, bound, where, lines)
            if observed is not None:
                yield observed
                lines = 0
    if lines:
        yield refused(_encoded(document), _unmatched(mapping, document), where)


def _bindings(record: RecordRule, names: Names) -> Iterator[Names]:
    """The names of every item that the record's conditions let pass, in the record's order."""
    found = [bound for bound in _each(record.each, names) if _applies(record, bound)]
    if record.sort_by is not None:
        by = record.sort_by
        found.sort(key=lambda bound: spelled(follow(by, bound)))
    seen = set()
    for bound in found:
        if record.first_by is not None:
            kind = spelled(follow(record.first_by, bound))
            if kind in seen:
                continue
            seen.add(kind)
        yield bound


def _each(lists: Sequence[tuple[str, Path]], names: Names) -> Iterator[Names]:
    if not lists:
        yield names
        return
    (name, path), *inner = lists
    items = follow(path, names)
    for item in items if isinstance(items, list) else ():
        yield from _each(inner, {**names, name: item})


def _applies(rule: RecordRule | ClaimRule, names: Names) -> bool:
    return holds(rule.when, names) and not (rule.unless and holds(rule.unless, names))


def _observed(record: RecordRule, names: Names, where: str, lines: int) -> Told | Refused | None:
    """The observation of one item; None where neither a claim nor the text has a value."""
    fields = {name: value for name, make in record.fields.items() if (value := make(names)) is not None}
    claims = [
        claim
        for rule in record.claims
        for bound in _each(rule.each, names)
        if _applies(rule, bound) and (claim := _claimed(rule, bound)) is not None
    ]
    if not claims and not spelled(fields.get("text", "")).strip():
        return None
    if claims:
        fields["claims"] = claims
    if fields.get("visibility") != "group":
        fields.pop("readers", None)
    try:
        _check_dated(record, fields)
    except InvalidInput as error:
        return refused(_encoded(names[""]), error, f"{where}, record {record.name!r}", lines)
    return Told(fields, lines)


def _check_dated(record: RecordRule, fields: dict[str, object]) -> None:
    """What the mapping dates must have a date: the time of import would be a wrong one, silently."""
    for name in ("observed_at", "effective_at"):
        if name in record.fields and name not in fields:
            raise InvalidInput(name, "has no value in this document; correct the path, or give a list of choices")
        if name in fields:
            fields[name] = parse_instant(fields[name], name) / 1_000_000


def _claimed(rule: ClaimRule, names: Names) -> dict[str, object] | None:
    claim = {name: value for name, make in rule.fields.items() if (value := make(names)) is not None}
    if "value" in rule.fields and "value" not in claim and claim.get("stance") != "retracts":
        if rule.absent == "skip":
            return None
        claim["stance"] = "retracts"
        claim.pop("statement", None)
    return claim if "attribute" in claim or "statement" in claim else None


def _unmatched(mapping: MappingFile, document: object) -> InvalidInput:
    keys = list(document)[:_MOST_NAMED] if isinstance(document, dict) else []
    has = f"it has the keys {', '.join(map(str, keys))}" if keys else f"it is {type(document).__name__}"
    advice = f"`beliefmesh sources show {mapping.name}` prints what is expected"
    return InvalidInput("document", f"fits no record of mapping {mapping.name!r}; {has}; {advice}")


def _encoded(document: object) -> bytes:
    return msgspec.json.encode(document)
