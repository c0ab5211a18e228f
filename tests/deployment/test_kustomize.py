"""The folder k8s/: what kustomize builds of it, and that it is what the chart renders."""

import os
from pathlib import Path

import pytest
import yaml
from render_k8s import COMPONENT, K8S, OVERLAYS, written
from rendered import built, named, of_kind, rendered, tool
from resources import complaints


def test_its_files_are_those_that_the_chart_renders() -> None:
    files = written()
    assert [str(path) for path, text in files.items() if not path.is_file() or path.read_text("utf-8") != text] == []
    there = {path for path in K8S.rglob("*.yaml") if path.parent != K8S}
    assert there - files.keys() == set()


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_api_server_would_take_what_is_built(overlay: str) -> None:
    assert [complaint for manifest in built(f"overlays/{overlay}") for complaint in complaints(manifest)] == []


def test_the_overlay_for_development_is_one_pod_on_a_volume() -> None:
    kinds = sorted(manifest["kind"] for manifest in built("overlays/dev"))
    assert kinds == ["ConfigMap", "NetworkPolicy", "PersistentVolumeClaim", "Service", "ServiceAccount", "StatefulSet"]


def test_the_overlay_for_production_has_kafka_nebulagraph_milvus_and_nodes_with_gpus() -> None:
    manifests = built("overlays/prod")
    (cluster,) = of_kind(manifests, "RayCluster")
    assert [group["groupName"] for group in cluster["spec"]["workerGroupSpecs"]] == ["cpu", "gpu"]
    (settings,) = [each for each in of_kind(manifests, "ConfigMap") if named(each) == "ConfigMap/beliefmesh"]
    assert settings["data"]["BELIEFMESH_STORES__LOG"].startswith("kafka://")
    (api,) = of_kind(manifests, "Deployment")
    secret = {each["name"] for each in api["spec"]["template"]["spec"]["containers"][0]["env"] if "valueFrom" in each}
    assert secret == {"BELIEFMESH_KAFKA__PASSWORD", "BELIEFMESH_STORES__GRAPH", "BELIEFMESH_STORES__INDEX"}


def test_the_component_adds_to_production_what_operators_are_asked_for_and_changes_nothing_else(tmp_path: Path) -> None:
    parts = {"resources": [K8S / "overlays" / "prod"], "components": [COMPONENT]}
    named_parts = {name: [os.path.relpath(path, tmp_path.resolve()) for path in paths] for name, paths in parts.items()}
    text = yaml.safe_dump({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", **named_parts})
    (tmp_path / "kustomization.yaml").write_text(text, encoding="utf-8")

    manifests = rendered((tool("kustomize"), "build", str(tmp_path)))

    before = {named(each): each for each in built("overlays/prod")}
    added = [each for each in manifests if named(each) not in before]
    assert [each for each in manifests if named(each) in before] == list(before.values())
    assert {each["kind"] for each in added} == {
        *("Kafka", "KafkaNodePool", "KafkaTopic", "KafkaUser", "NebulaCluster", "Milvus")
    }
    assert {each["metadata"]["namespace"] for each in added} == {"beliefmesh"}
    assert [complaint for each in added for complaint in complaints(each)] == []
    (settings,) = [each for each in manifests if named(each) == "ConfigMap/beliefmesh"]
    assert settings["data"]["BELIEFMESH_STORES__LOG"] == "kafka://beliefmesh-kafka-bootstrap.beliefmesh.svc:9093"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_everything_stands_in_one_namespace(overlay: str) -> None:
    assert {manifest["metadata"].get("namespace") for manifest in built(f"overlays/{overlay}")} == {"beliefmesh"}
