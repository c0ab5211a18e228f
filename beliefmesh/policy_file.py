"""A bank's policy as an operator writes it: a YAML, TOML or JSON file with the fields of `schemas/policy.py`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from schemas.budget import Budget
from schemas.errors import InvalidInput, InvalidSetting
from schemas.policy import AttributeRule, Authority, Policy, Reliability, check_policy
from schemas.profile import Profile

_PARTS: Mapping[str, type[msgspec.Struct]] = {
    "attributes": AttributeRule,
    "authorities": Authority,
    "reliabilities": Reliability,
}
_WHOLES: Mapping[str, type[msgspec.Struct]] = {"budget": Budget, "profile": Profile}


def read_policy(path: Path) -> Policy:
    """Read and check a policy. Raises InvalidSetting that names what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"policy.file: cannot read {path}: {error}") from error
    try:
        told = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
        if isinstance(told, dict):
            _refuse_unknown(told, path)
        policy = check_policy(msgspec.convert(told, Policy))
    except (tomllib.TOMLDecodeError, yaml.YAMLError, msgspec.ValidationError, InvalidInput) as error:
        raise InvalidSetting(f"policy.file: {path}: {error}") from error
    if policy.authorities and not any(_is_for_all(entry) for entry in policy.authorities):
        raise InvalidSetting(
            f"policy.file: {path}: authorities do not say who else may instruct; "
            "end them with {may_instruct: false}, or with {may_instruct: true}"
        )
    return policy


def _refuse_unknown(told: Mapping[str, object], path: Path) -> None:
    """A misspelled field would be a default in silence: an authority for everybody, for one."""
    if "trust" in told:
        raise InvalidSetting(f"policy.file: {path} has 'trust', which is learned: run beliefmesh calibrate instead")
    unknown = sorted(set(told) - set(Policy.__struct_fields__), key=str)
    if unknown:
        raise InvalidSetting(f"policy.file: {path} has {unknown[0]!r}, which no policy has")
    for name, whole in _WHOLES.items():
        given = told.get(name)
        if isinstance(given, dict) and (strange := sorted(set(given) - set(whole.__struct_fields__), key=str)):
            fields = ", ".join(whole.__struct_fields__)
            raise InvalidSetting(f"policy.file: {path}: {name} has {strange[0]!r}; it may have {fields}")
    for name, kind in _PARTS.items():
        entries = told.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            strange = sorted(set(entry) - set(kind.__struct_fields__), key=str) if isinstance(entry, dict) else []
            if strange:
                fields = ", ".join(kind.__struct_fields__)
                raise InvalidSetting(f"policy.file: {path}: {name}[{place}] has {strange[0]!r}; it may have {fields}")


def _is_for_all(entry: Authority) -> bool:
    return not entry.group and {entry.agent, entry.attribute, entry.source_type, entry.entity_type} == {"*"}
