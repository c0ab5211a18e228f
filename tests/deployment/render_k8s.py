"""Writes k8s/ from the chart: what both overlays have in common becomes the base, the rest stays theirs (`make k8s`).

One truth, two ways to install it: a person edits the values, in k8s/dev.yaml and k8s/prod.yaml, and nothing else there.
"""

from pathlib import Path
from typing import Any

import yaml
from rendered import ROOT, Manifest, charted

K8S = ROOT / "k8s"
OVERLAYS = ("dev", "prod")
COMPONENT = K8S / "components" / "operators"
"""What operators are asked to make for the overlay prod, which is all that the values of operators.yaml add to it."""

_NAMESPACE = "beliefmesh"
_OF_HELM = ("helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance")
_HEAD = "# Written by `make k8s` from helm/beliefmesh.\n"


def written() -> dict[Path, str]:
    """Every file with what stands in it."""
    overlays = {name: {_place(each): _dumped(_plain(each)) for each in _charted(name)} for name in OVERLAYS}
    alike = {place: text for place, text in overlays["dev"].items() if overlays["prod"].get(place) == text}
    files = {K8S / "base" / place: text for place, text in alike.items()}
    asked = {_place(each): _dumped(_plain(each)) for each in _charted("prod", "operators")}
    files |= {COMPONENT / place: text for place, text in asked.items() if overlays["prod"].get(place) != text}
    for name, made in overlays.items():
        files |= {K8S / "overlays" / name / place: text for place, text in made.items() if place not in alike}
    return files | {
        folder / "kustomization.yaml": _kustomization(folder, [file.name for file in files if file.parent == folder])
        for folder in {file.parent for file in files}
    }


def write() -> None:
    """Put the files in place, and take away those that are no more."""
    files = written()
    for folder in {file.parent for file in files}:
        for old in folder.glob("*.yaml"):
            old.unlink()
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _charted(*values: str) -> list[Manifest]:
    first, *more = (str(K8S / f"{name}.yaml") for name in values)
    flags = [word for each in more for word in ("--values", each)]
    return charted(first, "--namespace", _NAMESPACE, *flags)


def _place(manifest: Manifest) -> str:
    return f"{manifest['metadata']['name']}-{manifest['kind'].lower()}.yaml"


def _plain(value: Any) -> Any:
    """Without what only Helm needs, wherever it stands."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if name not in _OF_HELM}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _dumped(value: Any) -> str:
    return _HEAD + yaml.safe_dump(value, sort_keys=False, width=120)


def _kustomization(folder: Path, files: list[str]) -> str:
    base = ["../../base"] if folder.name in OVERLAYS else []
    added = folder == COMPONENT
    return _dumped(
        {
            "apiVersion": f"kustomize.config.k8s.io/{'v1alpha1' if added else 'v1beta1'}",
            "kind": "Component" if added else "Kustomization",
            **({"namespace": _NAMESPACE} if base or added else {}),
            "resources": [*base, *sorted(files)],
        }
    )


if __name__ == "__main__":
    write()
