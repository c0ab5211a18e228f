"""The command line against hostile input: what a terminal obeys, flags that say nothing, closed and full streams."""

import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from beliefmesh.cli.entry import run

CLEAR, RED = "\x1b[2J", "\x9b31m"

Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[pytest.CaptureFixture[str]]:
    """Commands run in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "hashing:256")
    monkeypatch.setenv("COLUMNS", "80")
    yield capsys
    structlog.reset_defaults()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A command line for the shell, which can close streams; $B is the command."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("BELIEFMESH_", "PYTHON"))}
    environ = {
        **inherited,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "BELIEFMESH_STORES__EMBEDDER": "hashing:256",
        "B": f"{sys.executable} -m beliefmesh",
    }

    def run_it(line: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            timeout=120,
            check=False,
            encoding="utf-8",
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return done

    return run_it


# What a terminal would obey


def test_escape_sequences_in_what_was_told_never_reach_the_terminal(here: pytest.CaptureFixture[str]) -> None:
    claim = ("--entity", f"shop{CLEAR}", "--attribute", f"state{RED}", "--value", f"open{CLEAR}")
    assert run(["retain", *claim, "--source", f"desk{RED}", "--agent", f"mo{CLEAR}"]) == 0

    assert run(["recall", "What is the state of the shop?", "--history", "--explain"]) == 0

    shown = here.readouterr().out
    assert "shop[2J: state31m is open[2J" in shown
    assert "\x1b" not in shown
    assert "\x9b" not in shown


def test_escape_sequences_in_dead_letters_and_errors_never_reach_the_terminal(
    here: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.jsonl").write_text(f'{CLEAR} no JSON\n{{"text": "x", "\\u001b[2J": 1}}\n', encoding="utf-8")
    run(["import", "bad.jsonl"])
    run(["dlq", "list", "--json"])
    ids = [letter["id"] for letter in json.loads(here.readouterr().out.splitlines()[-1])]

    run(["dlq", "list"])
    for id in ids:
        run(["dlq", "show", id])
    run(["explain", f"{CLEAR}nothing"])

    shown = here.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert "[2J no JSON" in shown.out


def test_the_list_of_dead_letters_shows_whole_ids_on_a_narrow_terminal(
    here: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.jsonl").write_text("no JSON\n", encoding="utf-8")
    run(["import", "bad.jsonl"])
    run(["dlq", "list", "--json"])
    (letter,) = json.loads(here.readouterr().out.splitlines()[-1])
    monkeypatch.setenv("COLUMNS", "20")

    run(["dlq", "list"])

    assert letter["id"] in here.readouterr().out


def test_a_table_cuts_no_value(here: pytest.CaptureFixture[str]) -> None:
    run(["config", "show", "--folder", "a-folder-with-a-long-name/" * 5])

    assert "…" not in here.readouterr().out


def test_a_terminal_that_says_it_has_no_columns_still_shows_the_result(
    here: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "0")

    run(["retain", "The desk is closed."])

    assert here.readouterr().out.startswith("kept o")


# Flags that would be lost silently


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["retain", "x", "--bank", ""], "mesh.bank: '' is not a bank name"),
        (["retain", "x", "--folder", ""], "mesh.folder: is empty"),
        (["retain", "x", "--folder", "a\udcffb"], "mesh.folder: holds a lone surrogate"),
        (["config", "show", "--json", "--folder", "a\udcffb"], "mesh.folder: holds a lone surrogate"),
        (["retain", "--json-input", '{"text": "x"}', "--visibility", "private"], "visibility: is a flag beside"),
        (["retain", "--json-input", '{"text": "x"}', "--weight", "0"], "weight: is a flag beside"),
        (
            ["retain", "--entity", "e", "--attribute", "a", "--value", "1", "--scope", "r=1", "--scope", "r=2"],
            "scope: names 'r' twice",
        ),
        (["retain", "x", "--agent", " "], "agent: is only white space"),
        (["serve", "--port", "0", "--i-know-there-is-no-authentication", "--host", "a" * 300], "http.port: cannot"),
    ],
)
def test_input_without_an_honest_meaning_is_refused(
    here: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    code = run(arguments)

    told = here.readouterr()
    assert code == 2
    assert problem in told.out + told.err


def test_a_folder_that_is_a_circle_of_links_is_refused(here: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")

    code = run(["stats", "--folder", "one"])

    assert code == 2
    assert "error: mesh.folder: cannot use one as a folder" in here.readouterr().err


def test_a_damaged_gzip_file_is_named(here: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    letters = random.Random(7)
    text = "".join(f'{{"text": "{letters.random()}"}}\n' for _ in range(500))
    packed = bytearray(gzip.compress(text.encode()))
    packed[200:400] = bytes(200)
    (tmp_path / "bad.jsonl.gz").write_bytes(packed)

    code = run(["import", "bad.jsonl.gz"])

    assert code == 2
    assert "error: file: bad.jsonl.gz is not whole gzip" in here.readouterr().err


# Streams


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("$B config show --json >&-", 0, ""),
        ("$B config show 2>&-", 0, ""),
        ("$B retain - <&-", 2, "error: text: is empty"),
        ("$B config show --json >/dev/full", 1, "error: reading or writing failed: No space left on device"),
        ("$B config show --json --folder '' >/dev/full", 1, "error: reading or writing failed"),
        ("$B --help >/dev/full", 1, "error: reading or writing failed"),
        ("PYTHONIOENCODING=ascii $B retain '运费' && PYTHONIOENCODING=ascii $B recall '运费'", 0, ""),
    ],
)
def test_a_stream_that_is_closed_full_or_ascii_ends_in_no_traceback(
    shell: Shell, line: str, code: int, error: str
) -> None:
    done = shell(line)

    assert done.returncode == code
    assert done.stderr.startswith(error)
