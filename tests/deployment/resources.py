"""Validates manifests as an API server would: Kubernetes' own by its schemas, others by those of their operators."""

import functools
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml
from rendered import KUBERNETES, TOOLS, Manifest, named

_OWN = Path(__file__).parent / "operators"
"""Written down from the definitions of operators that come in no package: the fields that we use, and no others."""

_ANYTHING = "x-kubernetes-preserve-unknown-fields"


def complaints(manifest: Manifest) -> list[str]:
    """What an API server would refuse of it, unknown fields included."""
    if "." in manifest["apiVersion"].partition("/")[0] and not _is_core(manifest["apiVersion"]):
        return [f"{named(manifest)}: {error}" for error in _custom(manifest)]
    try:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{named(manifest)}: {'.'.join(map(str, error.path))}: {error.message}"]
    return []


def _is_core(version: str) -> bool:
    return version.partition("/")[0].endswith(".k8s.io")


def _custom(manifest: Manifest) -> list[str]:
    schema = _schemas().get((manifest["apiVersion"], manifest["kind"]))
    if schema is None:
        return [f"no schema for {manifest['apiVersion']} {manifest['kind']}"]
    found = jsonschema.Draft202012Validator(schema).iter_errors(manifest)
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


@functools.cache
def _schemas() -> dict[tuple[str, str], dict[str, Any]]:
    """The schema of each custom resource, by version and kind."""
    schemas = {}
    for file in sorted([*(TOOLS / "resources").glob("*.yaml"), *_OWN.glob("*.yaml")]):
        definition = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["spec"]
        for version in definition["versions"]:
            schema = _closed(version["schema"]["openAPIV3Schema"])
            schemas[f"{definition['group']}/{version['name']}", definition["names"]["kind"]] = schema
    return schemas


def _closed(schema: Any) -> Any:
    """The same schema as JSON Schema has it, in which a field that is not described is an error."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    closed = {name: _closed(each) for name, each in schema.items() if not name.startswith("x-")}
    properties = schema.get("properties")
    if isinstance(properties, dict) and schema.get("type") == "object":
        if not schema.get(_ANYTHING) and "additionalProperties" not in schema:
            closed["additionalProperties"] = False
        if {"kind", "apiVersion"} <= properties.keys():
            closed["properties"]["metadata"] = {"type": "object"}
    return closed
