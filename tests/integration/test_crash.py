"""A process killed at any moment of an import loses nothing and applies nothing twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beliefmesh.memory import Memory

IMPORTER = Path(__file__).with_name("importer.py")
ROOT = Path(__file__).parents[2]
OBSERVATIONS = 5_000
KILLS = 11
ASKED = 1_718_020_800_000_000


def observation(number: int) -> dict[str, object]:
    """Five thousand sightings and rules about four hundred things, so that slots are contested and repeated."""
    dice = random.Random(number)
    thing, attribute = dice.randrange(400), dice.choice(["colour", "place", "owner", "limit"])
    claim: dict[str, object] = {"attribute": attribute, "value": f"v{dice.randrange(6)}"}
    if number % 11 == 0:
        claim["kind"] = "instruction"
    if number % 13 == 0:
        claim["scope"] = {"region": dice.choice(["EU", "US"])}
    return {
        "id": f"o{number % 4_800}",
        "entity": f"thing {thing}" if number < 4_800 else f"thing {random.Random(number % 4_800).randrange(400)}",
        "observed_at": 1_700_000_000 + dice.randrange(10_000_000),
        "agent": f"agent {dice.randrange(9)}",
        "claims": [claim],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The observations as JSON lines; the last two hundred are repeats of the first."""
    told = [observation(number % 4_800) for number in range(OBSERVATIONS)]
    path = tmp_path / "observations.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in told))
    return path


def start(folder: Path, file: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(IMPORTER), str(folder), str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def kill_when_it_moves(process: subprocess.Popen[str], steps: int, seconds: float) -> bool:
    """Kill it a while after it has said `steps` things; False if it came to its end before."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(steps)]
    time.sleep(seconds)  # the moment of death is the point of the test; nothing is hoped for after it
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read()
    process.stdout.close()
    process.wait(30)
    return "done" not in "".join(said) + rest


def state(open_memory, folder: str) -> tuple[str, dict[str, int]]:
    memory: Memory = open_memory(folder, embedder="none:", at="2024-06-10T12:00:00Z")
    report = memory.doctor()
    assert report.differences == ()
    assert memory.stats()["dead_letters"] == 0
    counts = memory.stats("default")["banks"]["default"]
    return memory.state_hash(now=ASKED), {name: counts[name] for name in ("evidence", "slots", "beliefs", "unindexed")}


@pytest.mark.slow
def test_an_import_killed_again_and_again_ends_like_an_undisturbed_one(open_memory, tmp_path: Path, file: Path) -> None:
    undisturbed = start(tmp_path / "whole", file)
    undisturbed.communicate(timeout=120)
    assert undisturbed.returncode == 0

    dice = random.Random(20240610)
    killed = 0
    for _ in range(KILLS):
        process = start(tmp_path / "killed", file)
        killed += kill_when_it_moves(process, steps=dice.randrange(2, 13), seconds=dice.uniform(0.0, 0.25))
    assert killed >= 10
    finished = start(tmp_path / "killed", file)
    finished.communicate(timeout=120)
    assert finished.returncode == 0

    expected, counts = state(open_memory, "whole")
    assert counts["evidence"] == 4_800
    assert state(open_memory, "killed") == (expected, counts)


def test_what_was_accepted_before_a_kill_is_answered_after_a_restart(open_memory, tmp_path: Path) -> None:
    """Killed after the log has it and before any stage ran."""
    script = (
        "import os, signal, sys; from beliefmesh.memory import Memory;"
        "from beliefmesh.settings import MeshSettings, Settings, StoreSettings;"
        "memory = Memory(settings=Settings(mesh=MeshSettings(folder=sys.argv[1], runtime='inline'),"
        " stores=StoreSettings(embedder='hashing:256')), clock=lambda: 1_718_020_800_000_000);"
        "told = {'entity': 'door', 'agent': 'ann', 'claims': [{'attribute': 'colour', 'value': 'red'}]};"
        "print(memory.retain(told, wait=False).ids[0], flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "mesh")],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == -signal.SIGKILL
    memory: Memory = open_memory()
    assert [one.belief.value for one in memory.recall("colour of the door").found] == ["red"]
    (evidence,) = memory.home.graph.evidence_of_observations("default", [done.stdout.strip()])
    assert evidence.value == "red"
    assert memory.doctor().differences == ()
