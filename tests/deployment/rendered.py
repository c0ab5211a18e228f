"""Renders helm/ and k8s/ by the tools that `make deploy-tools` brings, and finds one's way in what comes out."""

import functools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm" / "beliefmesh"
TOOLS = ROOT / ".cache" / "deploy"
KUBERNETES = "1.34"
RELEASE = "demo"

Manifest = dict[str, Any]


class Pod(NamedTuple):
    """A pod as something makes it: who, its labels and annotations, and its specification."""

    owner: str
    metadata: dict[str, Any]
    spec: dict[str, Any]
    lasting: bool

    def containers(self) -> list[dict[str, Any]]:
        """All of them, also those that stay beside the others and those that only come first."""
        return [*self.spec.get("initContainers", []), *self.spec["containers"]]


def tool(name: str) -> str:
    """Where a tool is; the test is skipped where it is not."""
    path = TOOLS / "bin" / name
    if not (TOOLS / ".ready").exists():
        pytest.skip(f"`make deploy-tools` has not run: {name} is missing")
    return str(path)


def asked(*command: str) -> subprocess.CompletedProcess[str]:
    """A command that has run, whatever came of it."""
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def rendered(command: tuple[str, ...]) -> list[Manifest]:
    """The manifests that a command prints."""
    done = asked(*command)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


@functools.cache
def charted(values: str, *more: str) -> list[Manifest]:
    """What the chart makes of a file of values."""
    return rendered((*template(values), *more))


def template(values: str) -> tuple[str, ...]:
    """The command that renders the chart with a file of values."""
    version = ("--kube-version", f"{KUBERNETES}.0")
    return (tool("helm"), "template", RELEASE, str(CHART), "--namespace", "mesh", *version, "--values", values)


@functools.cache
def built(overlay: str) -> list[Manifest]:
    """What kustomize makes of a folder."""
    return rendered((tool("kustomize"), "build", str(ROOT / "k8s" / overlay)))


def of_kind(manifests: list[Manifest], *kinds: str) -> list[Manifest]:
    """Those of some kinds."""
    return [manifest for manifest in manifests if manifest["kind"] in kinds]


def named(manifest: Manifest) -> str:
    """What it is called, as a reader knows it."""
    return f"{manifest['kind']}/{manifest['metadata']['name']}"


def pods(manifests: list[Manifest]) -> Iterator[Pod]:
    """Every pod that they make."""
    for manifest in manifests:
        for owner, template, lasting in _templates(manifest):
            yield Pod(owner, template["metadata"], template["spec"], lasting)


def _templates(manifest: Manifest) -> Iterator[tuple[str, dict[str, Any], bool]]:
    kind, spec = manifest["kind"], manifest.get("spec", {})
    if kind in ("Deployment", "StatefulSet", "DaemonSet", "Job"):
        yield named(manifest), spec["template"], kind != "Job"
    elif kind == "CronJob":
        yield named(manifest), {"metadata": {}, **spec["jobTemplate"]["spec"]["template"]}, False
    elif kind == "RayCluster":
        yield f"{named(manifest)}/head", spec["headGroupSpec"]["template"], True
        for group in spec["workerGroupSpecs"]:
            yield f"{named(manifest)}/{group['groupName']}", group["template"], True


def environment(container: dict[str, Any], manifests: list[Manifest]) -> dict[str, str | None]:
    """Every variable that a container gets; None for what stands in a Secret or is known in the cluster only."""
    variables: dict[str, str | None] = {}
    for source in container.get("envFrom", []):
        (found,) = [
            each
            for each in of_kind(manifests, "ConfigMap")
            if each["metadata"]["name"] == source["configMapRef"]["name"]
        ]
        variables |= found["data"]
    return variables | {each["name"]: each.get("value") for each in container.get("env") or []}
