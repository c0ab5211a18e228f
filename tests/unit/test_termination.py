"""A process that runs until it is told ends as it was told: first with care, then at once."""

import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
from beliefmesh.termination import termination
with termination() as asked:
    print("up", flush=True)
    asked.wait()
    print("asked", flush=True)
    if {stuck}:
        input()
print("down", flush=True)
"""


def started(stuck: bool) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(stuck=stuck)],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


def test_the_first_signal_lets_it_finish() -> None:
    process = started(stuck=False)

    process.send_signal(signal.SIGTERM)

    assert process.communicate(timeout=60) == ("asked\ndown\n", None)
    assert process.returncode == 0


def test_the_second_signal_does_not_wait() -> None:
    process = started(stuck=True)
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"

    process.send_signal(signal.SIGTERM)

    assert process.communicate(timeout=60) == ("", None)
    assert process.returncode == 128 + signal.SIGTERM
