"""Jobs handed to a Ray cluster: they run there, their exit code comes back, and what it cannot give is said at once."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.choose import submission
from beliefmesh.cli.entry import run

pytest.importorskip("ray", reason="the cluster extra is not installed")

pytestmark = [pytest.mark.ray, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
Submit = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a Ray with two CPUs and no GPU takes jobs; its commands find the `beliefmesh` of these tests."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    environ = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
    environ |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
        "BELIEFMESH_STORES__EMBEDDER": "none:",
    }
    head = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("ray_head.py")), "2", port],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    )
    assert head.stdin is not None
    assert head.stdout is not None
    try:
        yield f"http://{head.stdout.readline().strip()}"
    finally:
        head.stdin.close()
        head.stdout.close()
        head.wait(timeout=60)


@pytest.fixture
def submit(address: str, tmp_path: Path, capfdbinary, monkeypatch: pytest.MonkeyPatch) -> Submit:
    """`beliefmesh jobs submit` for a mesh of this test, in which something was told; returns exit code and output."""
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "none:")
    folder = ["--folder", str(tmp_path / "mesh")]
    assert run(["retain", "The door is red.", *folder]) == 0

    def submitted(*words: str) -> tuple[int, str]:
        capfdbinary.readouterr()
        code = run(["jobs", "submit", *words, "--address", address, *folder])
        told = capfdbinary.readouterr()
        return code, (told.out + told.err).decode()

    return submitted


def history(folder: Path, capfdbinary) -> list[dict[str, object]]:
    capfdbinary.readouterr()
    assert run(["jobs", "history", "--folder", str(folder), "--json"]) == 0
    found: list[dict[str, object]] = json.loads(capfdbinary.readouterr().out)
    return found


def test_a_job_runs_on_the_cluster_and_what_it_printed_and_its_exit_code_come_back(
    submit: Submit, tmp_path: Path, capfdbinary
) -> None:
    code, told = submit("archive", "--wait", "--dry-run", "--set", "after_days=7")

    assert (code, "archive on bank default, dry run" in told) == (0, True), told
    (ran,) = history(tmp_path / "mesh", capfdbinary)
    assert (ran["job"], ran["mode"], ran["arguments"]) == ("archive", "dry run", {"after_days": "7"})


def test_the_exit_code_of_a_job_that_fails_there_is_the_commands_own(submit: Submit) -> None:
    code, told = submit("evaluate", "--wait", "--set", "evaluation=config", "--set", "data=/nowhere")

    assert (code, "data: /nowhere is no folder" in told) == (2, True), told


def test_without_waiting_its_name_there_and_what_it_takes_are_told(submit: Submit, tmp_path: Path, capfdbinary) -> None:
    code, told = submit("reindex", "--json")

    sent = json.loads(told)
    assert (code, sent["cpus"], sent["gpus"], sent["exit_code"]) == (0, 1.0, 0.0, None)
    assert sent["command"] == ["beliefmesh", "jobs", "run", "reindex", "--folder", str(tmp_path / "mesh")]
    assert submission(sent["address"]).follow(sent["submission"], lambda _: None) == 0
    assert history(tmp_path / "mesh", capfdbinary)[0]["job"] == "reindex"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--gpus", "1"], "gpus: is 1, but the cluster's nodes have 2 CPUs and 0 GPUs"),
        (["--cpus", "64"], "cpus: is 64, but the cluster's nodes have 2 CPUs and 0 GPUs"),
        (["--set", "days=1"], "days: is no argument of the job decay; it takes none"),
    ],
)
def test_what_no_node_can_give_is_refused_at_once(submit: Submit, words: list[str], reason: str) -> None:
    began = time.monotonic()
    code, told = submit("decay", "--wait", *words)

    assert (code, reason in told) == (2, True), told
    assert time.monotonic() - began < 20


def test_a_job_server_that_is_not_there_is_named(tmp_path: Path, capfdbinary) -> None:
    def refused(address: str) -> tuple[int, str]:
        code = run(["jobs", "submit", "decay", "--address", address, "--folder", str(tmp_path)])
        return code, capfdbinary.readouterr().err.decode()

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code, told = refused(f"http://127.0.0.1:{port}")
    assert (code, "no job server of a Ray cluster answers" in told) == (1, True), told
    code, told = refused("127.0.0.1:6379")
    assert (code, "is not http://host:8265" in told) == (2, True), told
