"""compose.yaml: what it starts hangs together, is reached from this machine only, and is told what Beliefmesh knows."""

from typing import Any

import pytest
import yaml
from dockerfile import environment_of, stages_of
from rendered import ROOT
from spoken import refused_arguments, unknown_variables

from beliefmesh.settings import environment_name, load_settings
from stores.open import is_kafka

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
MESH = {name: service for name, service in SERVICES.items() if service["image"].startswith("beliefmesh:")}
OF_A_SERVICE = {
    "build", "cap_drop", "command", "depends_on", "entrypoint", "environment", "healthcheck", "image", "ports",
    "profiles", "read_only", "restart", "security_opt", "stop_grace_period", "tmpfs", "user", "volumes",
}  # fmt: skip


def test_it_has_what_a_mesh_needs_and_nothing_that_compose_does_not_know() -> None:
    assert set(MESH) == {"topics", "worker", "serve"}
    assert set(SERVICES) - set(MESH) == {"kafka", "metad0", "storaged0", "graphd", "add-storage", "milvus"}
    assert {name for name in COMPOSE if not name.startswith("x-")} == {"name", "services", "volumes"}
    assert {key for service in SERVICES.values() for key in service} - OF_A_SERVICE == set()


def test_every_port_is_on_this_machine_only() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_every_image_is_a_release() -> None:
    assert [
        service["image"] for service in SERVICES.values() if service["image"].rpartition(":")[2] in ("", "latest")
    ] == []


def test_services_start_without_the_mesh_and_the_mesh_by_its_profile() -> None:
    assert {name for name, service in SERVICES.items() if "profiles" not in service} == set(SERVICES) - set(MESH)
    assert {tuple(service["profiles"]) for service in MESH.values()} == {("mesh",)}


def test_each_waits_for_what_is_there_and_can_be_waited_for() -> None:
    for name, service in SERVICES.items():
        for wanted, how in service.get("depends_on", {}).items():
            assert how["condition"] in ("service_healthy", "service_completed_successfully"), name
            watched = not SERVICES[wanted].get("healthcheck", {"disable": True}).get("disable")
            assert watched == (how["condition"] == "service_healthy"), (name, wanted)


def test_every_volume_is_declared() -> None:
    volumes = [volume for service in SERVICES.values() for volume in service.get("volumes", [])]
    named = {volume.partition(":")[0] for volume in volumes if ":" in volume}
    assert named == set(COMPOSE["volumes"])


@pytest.mark.parametrize("name", MESH)
def test_what_is_ours_runs_without_rights_on_a_root_that_cannot_be_written(name: str) -> None:
    service = MESH[name]
    assert (service["user"], service["read_only"], service["cap_drop"]) == ("10001:10001", True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"] == ["/tmp"]
    folder = environment_of(stages_of((ROOT / "Dockerfile").read_text(encoding="utf-8"))[-1])[
        environment_name("mesh.folder")
    ]
    assert any(volume.endswith(folder) for volume in service["volumes"])


@pytest.mark.parametrize("name", MESH)
def test_what_is_ours_is_told_settings_and_the_arguments_of_a_command(name: str) -> None:
    assert unknown_variables(_told(name)) == []
    assert refused_arguments(MESH[name]["command"]) == ""


@pytest.mark.parametrize("name", MESH)
def test_what_is_ours_names_hosts_and_ports_that_are_there(name: str) -> None:
    settings = load_settings(_told(name)).settings
    assert is_kafka(settings.stores.log)
    assert "INTERNAL://kafka:9094" in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert settings.stores.log == "kafka://kafka:9094"
    assert settings.stores.graph.startswith("nebula://graphd:9669/")
    assert settings.stores.index.startswith("milvus://milvus:19530/")


def _told(name: str) -> dict[str, str]:
    environment = MESH[name]["environment"]
    return {
        variable: value.replace("${BELIEFMESH_BANK:-default}", "default") for variable, value in environment.items()
    }
