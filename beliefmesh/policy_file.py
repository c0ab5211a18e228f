"""A bank's policy as an operator writes it: a YAML, TOML or JSON file with the fields of `schemas/policy.py`."""

import tomllib
from pathlib import Path

import msgspec
import yaml

from schemas.errors import InvalidInput, InvalidSetting
from schemas.policy import Policy, check_policy


def read_policy(path: Path) -> Policy:
    """Read and check a policy. Raises InvalidSetting that names what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"policy.file: cannot read {path}: {error}") from error
    try:
        told = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
        unknown = sorted(set(told) - set(Policy.__struct_fields__)) if isinstance(told, dict) else []
        if unknown:
            raise InvalidSetting(f"policy.file: {path} has {unknown[0]!r}, which no policy has")
        return check_policy(msgspec.convert(told, Policy))
    except (tomllib.TOMLDecodeError, yaml.YAMLError, msgspec.ValidationError, InvalidInput) as error:
        raise InvalidSetting(f"policy.file: {path}: {error}") from error
