"""What holds for every container that helm/ and k8s/ start: little may be done from it, it is watched, and it is told
what Beliefmesh understands."""

from collections.abc import Iterator
from typing import Any

import click
import pytest
from dockerfile import environment_of, stages_of
from rendered import CHART, ROOT, Manifest, Pod, built, charted, environment, named, of_kind, pods
from spoken import refused_arguments, unknown_variables

from beliefmesh.http.health import router as health
from beliefmesh.settings import PREFIX, environment_name, masked, setting_names
from jobs.catalogue import job_named

OF_RAY = {"/api/local_raylet_healthz"}
PLACES = [
    *(f"chart {path.stem}" for path in sorted((CHART / "ci").glob("*.yaml"))),
    "kustomize overlays/dev",
    "kustomize overlays/prod",
]
IMAGE = stages_of((ROOT / "Dockerfile").read_text(encoding="utf-8"))[-1]


@pytest.fixture(params=PLACES)
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    way, _, name = request.param.partition(" ")
    return charted(str(CHART / "ci" / f"{name}.yaml")) if way == "chart" else built(name)


def each(manifests: list[Manifest]) -> Iterator[tuple[str, Pod, dict[str, Any]]]:
    for pod in pods(manifests):
        for container in pod.containers():
            yield f"{pod.owner}/{container['name']}", pod, container


def test_no_image_may_change_under_its_name(manifests: list[Manifest]) -> None:
    images = {container["image"] for _, _, container in each(manifests)}
    assert images
    assert [
        image for image in images if "@sha256:" not in image and image.rpartition(":")[2] in ("", "latest", image)
    ] == []


def test_nothing_runs_as_root_or_may_become_more(manifests: list[Manifest]) -> None:
    wanted = {
        "allowPrivilegeEscalation": False,
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert {where: container.get("securityContext") for where, _, container in each(manifests)} == {
        where: wanted for where, _, _ in each(manifests)
    }
    for pod in pods(manifests):
        assert pod.spec["securityContext"]["runAsUser"] == 10001, pod.owner
        assert {"hostNetwork", "hostPID", "hostIPC"} & pod.spec.keys() == set(), pod.owner
        assert [volume["name"] for volume in pod.spec["volumes"] if "hostPath" in volume] == [], pod.owner


def test_nothing_may_ask_kubernetes(manifests: list[Manifest]) -> None:
    assert [pod.owner for pod in pods(manifests) if pod.spec["automountServiceAccountToken"] is not False] == []
    assert of_kind(manifests, "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding") == []


def test_everything_has_bounds(manifests: list[Manifest]) -> None:
    bounds = {where: container["resources"] for where, _, container in each(manifests)}
    assert [
        where
        for where, resources in bounds.items()
        if not {"cpu", "memory"} <= resources["requests"].keys() or not {"cpu", "memory"} <= resources["limits"].keys()
    ] == []
    assert [
        (pod.owner, volume["name"])
        for pod in pods(manifests)
        for volume in pod.spec["volumes"]
        if "emptyDir" in volume and "sizeLimit" not in volume["emptyDir"]
    ] == []


def test_everything_that_lasts_is_watched(manifests: list[Manifest]) -> None:
    probes = ("startupProbe", "livenessProbe", "readinessProbe")
    unwatched = [
        (where, probe)
        for where, pod, container in each(manifests)
        for probe in probes
        if pod.lasting and probe not in container
    ]
    assert unwatched == []


def test_every_probe_asks_for_what_is_answered(manifests: list[Manifest]) -> None:
    routes = {getattr(route, "path", "") for route in health.routes}
    asked = {
        probe["httpGet"]["path"]
        for _, _, container in each(manifests)
        for name, probe in container.items()
        if name.endswith("Probe")
    }
    assert {path.partition("?")[0] for path in asked} - routes - OF_RAY == set()
    assert {path.partition("?")[2] for path in asked} <= {"", "group=false"}


def test_a_container_can_write_where_it_has_to(manifests: list[Manifest]) -> None:
    for where, pod, container in each(manifests):
        mounted = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        assert "/tmp" in mounted, where
        assert set(mounted.values()) <= {volume["name"] for volume in pod.spec["volumes"]}, where
        folder = environment_of(IMAGE)[environment_name("mesh.folder")]
        if pod.lasting and "args" in container and "command" not in container:
            assert folder in mounted, where


def test_its_variables_are_settings(manifests: list[Manifest]) -> None:
    strange = {where: unknown_variables(environment(container, manifests)) for where, _, container in each(manifests)}
    assert {where: names for where, names in strange.items() if names} == {}


def test_its_arguments_are_those_of_a_command(manifests: list[Manifest]) -> None:
    said = [
        refused_arguments(container["args"])
        for _, _, container in each(manifests)
        if "args" in container and "command" not in container
    ]
    assert said
    assert [told for told in said if told] == []


def test_ray_understands_how_it_is_started(manifests: list[Manifest]) -> None:
    scripts = pytest.importorskip("ray.scripts.scripts", reason="the cluster extra is not installed")
    known = {option for parameter in scripts.start.params for option in parameter.opts}
    given: list[str] = []
    for _, _, container in each(manifests):
        if container.get("command", [])[-2:] == ["ray", "start"]:
            with click.Context(scripts.start) as context:
                scripts.start.make_context(
                    "start", [arg.replace("$(POD_IP)", "10.0.0.1") for arg in container["args"]], context
                )
            given += [argument.partition("=")[0] for argument in container["args"]]
    for cluster in of_kind(manifests, "RayCluster"):
        groups = [cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"]]
        given += [f"--{name}" for group in groups for name in group["rayStartParams"]]
    assert set(given) - known == set()


def test_what_is_submitted_is_a_job_that_there_is(manifests: list[Manifest]) -> None:
    submitted = [
        container["args"] for _, _, container in each(manifests) if container.get("args", [])[:2] == ["jobs", "submit"]
    ]
    assert len(submitted) == len(of_kind(manifests, "CronJob"))
    for _, _, name, *flags in submitted:
        told = [flag.removeprefix("--set=").partition("=") for flag in flags if flag.startswith("--set=")]
        known = {argument.name for argument in job_named(name).arguments}
        assert {argument for argument, _, _ in told} <= known, name


def test_no_secret_is_written_down(manifests: list[Manifest]) -> None:
    assert of_kind(manifests, "Secret") == []
    keys = {environment_name(key): key for key in setting_names()}
    shown = {
        name: value
        for manifest in of_kind(manifests, "ConfigMap")
        for name, value in manifest["data"].items()
        if name.startswith(PREFIX) and masked(keys[name], value) != value
    }
    assert shown == {}


def test_every_service_leads_somewhere(manifests: list[Manifest]) -> None:
    made = [
        (
            pod.metadata["labels"] | _of_kuberay(pod),
            {port["name"] for one in pod.containers() for port in one.get("ports", [])},
        )
        for pod in pods(manifests)
    ]
    for service in of_kind(manifests, "Service"):
        wanted = service["spec"]["selector"].items()
        reached = [ports for labels, ports in made if wanted <= labels.items()]
        assert len(reached) == 1, named(service)
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= reached[0], named(service)


def test_a_budget_of_disruption_and_a_policy_of_the_network_cover_pods_that_are_there(
    manifests: list[Manifest],
) -> None:
    labels = [pod.metadata["labels"].items() for pod in pods(manifests)]
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        assert any(budget["spec"]["selector"]["matchLabels"].items() <= one for one in labels), named(budget)
    (policy,) = of_kind(manifests, "NetworkPolicy")
    assert all(policy["spec"]["podSelector"]["matchLabels"].items() <= one for one in labels)


def test_what_can_be_spread_is(manifests: list[Manifest]) -> None:
    spread = {pod.owner: len(pod.spec.get("topologySpreadConstraints", [])) for pod in pods(manifests) if pod.lasting}
    alone = {owner for owner in spread if owner.endswith(("keeper", "head"))}
    assert {owner for owner, count in spread.items() if count != 2} == alone


def _of_kuberay(pod: Pod) -> dict[str, str]:
    """The labels that KubeRay adds, so that a service may select by them."""
    kind, _, rest = pod.owner.partition("/")
    cluster, _, group = rest.partition("/")
    return (
        {"ray.io/cluster": cluster, "ray.io/node-type": "head" if group == "head" else "worker"}
        if kind == "RayCluster"
        else {}
    )
