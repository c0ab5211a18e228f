"""Reads a YAML file of a source; every error names the file, the key and what to do."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from schemas.errors import InvalidInput
from schemas.fields import Fields, Reader, read_object


def read_yaml(text: str, file: str) -> dict[str, Any]:
    """The keys of a file. Raises InvalidInput for what is not YAML, or not an object."""
    try:
        told = yaml.load(text, _Strict)  # noqa: S506 (a safe loader, which also refuses a key given twice)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidInput(file, f"is not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(told, dict):
        raise InvalidInput(file, f"must hold keys such as name, not {type(told).__name__}")
    return told


def read_keys(told: object, file: str, readers: Mapping[str, Reader], required: tuple[str, ...] = ()) -> Fields:
    """Read each key by its own reader. Raises InvalidInput for a key that is unknown or missing, or a wrong value."""
    fields = read_object(told, file, readers)
    for name in required:
        if name not in fields:
            raise InvalidInput(f"{file}.{name}", "is missing; it is needed")
    return fields


class _Strict(yaml.SafeLoader):
    """Safe YAML in which no key may stand twice and words such as `on` and `no` stay words."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if not isinstance(name, str | int | float | bool):
                raise yaml.YAMLError(f"a key must be a word, not {type(name).__name__}")
            if name in seen:
                raise yaml.YAMLError(f"the key {name!r} stands twice{key.start_mark}")
            seen.add(name)
        return super().construct_mapping(node, deep)


_BOOLEAN = "tag:yaml.org,2002:bool"
_TIME = "tag:yaml.org,2002:timestamp"
_Strict.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag not in (_BOOLEAN, _TIME)]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Strict.add_implicit_resolver(_BOOLEAN, re.compile(r"^(?:true|false)$"), list("tf"))
