"""A mapping as its YAML file tells it: which parts of a vendor's document become which observations and claims."""

from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

import msgspec

from schemas.claim import Kind, Network, Stance, Tier, ValueType
from schemas.errors import InvalidInput
from schemas.fields import Reader, list_of, one_of
from schemas.limits import check_text, shown
from schemas.observation import SourceType, Visibility
from streams.sources.condition import ALWAYS, Condition, read_condition
from streams.sources.expression import Expression, Names, Path, constant_of, path_of, read_expression, spelled
from streams.sources.yaml_file import read_keys


class ClaimRule(msgspec.Struct, frozen=True, kw_only=True):
    """How a claim is made. Where `value` has none, the claim is left out, or with `absent: retracts` retracts."""

    fields: dict[str, Expression]
    when: Condition = ALWAYS
    unless: Condition = ALWAYS
    absent: str = "skip"
    each: tuple[tuple[str, Path], ...] = ()


class RecordRule(msgspec.Struct, frozen=True, kw_only=True):
    """How observations are made: one for each item of the lists that `each` names, outermost first.

    `sort_by` orders the items; with `first_by`, only the first of those that are alike there makes one.
    """

    name: str
    fields: dict[str, Expression]
    claims: tuple[ClaimRule, ...] = ()
    each: tuple[tuple[str, Path], ...] = ()
    sort_by: Path | None = None
    first_by: Path | None = None
    when: Condition = ALWAYS
    unless: Condition = ALWAYS


class MappingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A whole mapping. `documents` are the paths at which a wrapper holds a list of documents.

    `let` names values of a document that all records may use, each with those before it.
    """

    name: str
    about: str
    records: tuple[RecordRule, ...]
    documents: tuple[Path, ...] = ()
    let: tuple[tuple[str, Expression], ...] = ()
    ignore: tuple[Condition, ...] = ()


def read_mapping(told: Mapping[str, object], file: str) -> MappingFile:
    """The mapping of a file's keys. Raises InvalidInput that names the file, the key and what to do."""
    return MappingFile(**{"about": "", **read_keys(told, file, _MAPPING, ("name", "records"))})


def _read_each(told: object, field: str) -> tuple[tuple[str, Path], ...]:
    if not isinstance(told, dict) or not told:
        raise InvalidInput(field, "must name lists by path, outermost first, as in {item: changelog.items}")
    return tuple((str(name), path_of(path, f"{field}.{name}")) for name, path in told.items())


def _read_let(told: object, field: str) -> tuple[tuple[str, Expression], ...]:
    if not isinstance(told, dict) or not told:
        raise InvalidInput(field, "must name expressions, as in {key: ['{issue.key}', '{key}']}")
    return tuple((str(name), read_expression(each, f"{field}.{name}")) for name, each in told.items())


def _read_record(told: object, field: str) -> RecordRule:
    return RecordRule(**_sorted_out(told, field, _RECORD, ("name",)))


def _read_claim(told: object, field: str) -> ClaimRule:
    return ClaimRule(**_sorted_out(told, field, _CLAIM, ()))


def _sorted_out(told: object, field: str, readers: Mapping[str, Reader], required: tuple[str, ...]) -> dict[str, Any]:
    """Keys of the rule itself beside the fields of what it makes."""
    given = read_keys(told, field, readers, required)
    own = {name: given.pop(name) for name in _OF_RULE if name in given}
    return {**own, "fields": given}


def _read_text(told: object, field: str) -> Expression:
    """An expression for what must be text: a number, such as a ticket's, becomes one."""
    return partial(_worded, read_expression(told, field))


def _worded(make: Expression, names: Names) -> object:
    value = make(names)
    return spelled(value) if isinstance(value, int | float) else value


def _among(allowed: tuple[str, ...]) -> Reader:
    """An expression whose constants must be among these; what it yields at run time is intake's to check."""
    check = one_of(allowed)

    def read(told: object, field: str) -> Expression:
        constant = constant_of(told)
        if constant is not None:
            check(constant, field)
        return read_expression(told, field)

    return read


def _object(readers: Mapping[str, Reader], required: tuple[str, ...], short: str | None = None) -> Reader:
    """An object of expressions; a plain text stands for the one field `short`. It has no value without the required."""

    def read(told: object, field: str) -> Expression:
        if short is not None and not isinstance(told, dict):
            return partial(_built, {short: readers[short](told, field)}, required)
        return partial(_built, read_keys(told, field, readers, required), required)

    return read


def _built(parts: Mapping[str, Expression], required: tuple[str, ...], names: Names) -> object:
    built = {name: value for name, part in parts.items() if (value := part(names)) is not None}
    return built if built and all(name in built for name in required) else None


def _read_pairs(told: object, field: str) -> Expression:
    if not isinstance(told, dict) or not told:
        raise InvalidInput(field, f"is {shown(told)}; write names with expressions, as in {{project: '{{key}}'}}")
    parts = {str(name): read_expression(each, f"{field}.{name}") for name, each in told.items()}
    return partial(_built, parts, ())


def _read_several(told: object, field: str) -> Expression:
    parts = list_of(_read_text)(told, field)
    return partial(_several, parts)


def _several(parts: tuple[Expression, ...], names: Names) -> object:
    return [value for part in parts if (value := part(names)) is not None] or None


_OF_RULE = ("name", "claims", "each", "sort_by", "first_by", "when", "unless", "absent")
_ENTITY = _object({"name": _read_text, "type": _read_text}, ("name",), short="name")
_RULE: Mapping[str, Reader] = {"when": read_condition, "unless": read_condition, "each": _read_each}
_SHARED: Mapping[str, Reader] = {
    "entity": _ENTITY,
    "kind": _among(get_args(Kind)),
    "network": _among(get_args(Network)),
    "tier": _among(get_args(Tier)),
    "weight": read_expression,
    "effective_at": read_expression,
    "valid_until": read_expression,
    "occurred_start": read_expression,
    "occurred_end": read_expression,
}
_CLAIM: Mapping[str, Reader] = {
    **_RULE,
    "absent": one_of(("skip", "retracts")),
    "attribute": _read_text,
    "value": read_expression,
    "value_type": _among(get_args(ValueType)),
    "scope": _read_pairs,
    "stance": _among(get_args(Stance)),
    "statement": _read_text,
    "mentions": _read_several,
    **_SHARED,
}
_RECORD: Mapping[str, Reader] = {
    "name": check_text,
    **_RULE,
    "sort_by": path_of,
    "first_by": path_of,
    "id": _read_text,
    "text": _read_text,
    "claims": list_of(_read_claim),
    "source": _object(
        {"id": _read_text, "origin": _read_text, "type": _among(get_args(SourceType))}, ("id",), short="id"
    ),
    "observed_at": read_expression,
    "agent": _read_text,
    "session": _read_text,
    "turn": read_expression,
    "owner": _read_text,
    "visibility": _among(get_args(Visibility)),
    "readers": _read_several,
    "metadata": _read_pairs,
    **_SHARED,
}
_MAPPING: Mapping[str, Reader] = {
    "name": check_text,
    "about": check_text,
    "documents": list_of(path_of),
    "let": _read_let,
    "ignore": list_of(read_condition),
    "records": list_of(_read_record),
}
