"""The command line as a subprocess: results, one JSON value with --json, exit codes, no traceback, a running mesh."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from beliefmesh.cli.entry import run

SHIPPING = {
    "id": "o-new",
    "observed_at": "2024-05-20",
    "text": "Free shipping from 200.",
    "agent": "desk",
    "claims": [{"entity": "shop", "attribute": "free shipping from", "value": 200, "weight": 2}],
}


class Cli:
    """Runs commands on one folder."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        quick = {"BELIEFMESH_STORES__EMBEDDER": "hashing:256"}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
        self._environ = {**inherited, "PYTHONPATH": str(Path(__file__).parents[2]), **quick, **environ}

    def command(self, *arguments: str) -> list[str]:
        """The command line of some arguments."""
        return [sys.executable, "-m", "beliefmesh", *arguments]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        return subprocess.Popen(
            self.command(*arguments),
            env=self._environ,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command to its end; whatever happens, there is no traceback."""
        done = subprocess.run(
            self.command(*arguments),
            env=self._environ,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def json(self, *arguments: str, code: int = 0, stdin: str = "") -> Any:
        """Run a command with --json; standard output is exactly one JSON value."""
        done = self.run(*arguments, "--json", stdin=stdin)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A folder with two observations of one slot, a dead letter, and nothing that a test changes."""
    cli = Cli(tmp_path_factory.mktemp("told"))
    older = {**SHIPPING, "id": "o-old", "agent": "archive", "observed_at": "2024-03-01", "text": "Free from 100."}
    older["claims"] = [{"entity": "shop", "attribute": "free shipping from", "value": 100, "weight": 2}]
    lines = [json.dumps(SHIPPING), '{"text": "x", "weight": -1}', json.dumps(older), ""]
    (cli.folder / "told.jsonl").write_text("\n".join(lines), encoding="utf-8")
    imported = cli.json("import", "told.jsonl")
    assert (imported["accepted"], imported["dead"]) == (2, 1)
    return cli


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[pytest.CaptureFixture[str]]:
    """Commands run in this process, since starting one for every refusal would take minutes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "hashing:256")
    yield capsys
    structlog.reset_defaults()


def found(answer: dict[str, Any]) -> list[Any]:
    return [one["belief"]["value"] for one in answer["found"]]


# Telling and asking


def test_what_flags_retain_is_recalled_by_a_later_command(cli: Cli) -> None:
    flags = ("--entity", "deploy", "--attribute", "window", "--value", "22:00", "--agent", "ops")
    kept = cli.json("retain", "The deploy window opens at 22:00.", *flags)

    answer = cli.run("recall", "When does the deploy window open?")

    assert len(kept["ids"]) == 1
    assert "The deploy window opens at 22:00 (confidence 0.73): because ops" in answer.stdout
    assert answer.returncode == 0


def test_json_on_standard_input_is_retained_as_it_is(cli: Cli) -> None:
    kept = cli.json("retain", "-", "--json-input", "--bank", "shop", stdin=json.dumps([SHIPPING]))

    answer = cli.json("recall", "free shipping", "--bank", "shop", "--as-of", "2024-06-10")

    assert kept["ids"] == ["o-new"]
    assert found(answer) == [200]


def test_a_packed_file_is_imported_and_a_second_time_changes_nothing(cli: Cli) -> None:
    (cli.folder / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(SHIPPING).encode()))

    first = cli.json("import", "a.jsonl.gz")
    again = cli.json("import", "a.jsonl.gz")

    assert first["accepted"] == again["accepted"] == 1
    assert cli.json("stats")["banks"]["default"]["evidence"] == 1


def test_recall_explains_itself_and_tells_the_history_as_one_json_value(told: Cli) -> None:
    answer = told.json("recall", "free shipping", "--as-of", "2024-06-10", "--history", "--explain")

    assert found(answer)[0] == 200
    assert answer["explanations"][0]["confidence"] == pytest.approx(0.774, abs=0.001)
    assert [turn["at"][:10] for turn in answer["histories"][0]["turns"]] == ["2024-03-01", "2024-05-20"]


def test_explain_and_history_show_every_term_and_every_turn(told: Cli) -> None:
    id = told.json("recall", "free shipping", "--as-of", "2024-06-10")["found"][0]["belief"]["id"]

    terms = told.run("explain", id, "--as-of", "2024-06-10").stdout
    rested = told.json("explain", "--told-by", "o-old")["explanations"]
    turns = told.run("history", "--entity", "shop", "--attribute", "free shipping from").stdout

    assert "sigmoid(0 + 1.231 - 0.000)" in terms
    assert turns.index("2024-03-01") < turns.index("2024-05-20")
    assert [one["belief"]["value"] for one in rested] == [100]


def test_the_value_of_a_belief_and_the_use_of_the_budget_are_told_term_by_term(told: Cli) -> None:
    id = told.json("recall", "free shipping", "--as-of", "2024-06-10")["found"][0]["belief"]["id"]

    shown = told.run("explain", id, "--value").stdout
    value = told.json("explain", id, "--value")["value"]
    measured = told.json("budget", "--measure")

    assert "by the heuristic value" in shown
    assert value["value"] == pytest.approx(sum(value["terms"].values()))
    assert measured["use"]["beliefs"] == 2
    assert "measured at" in told.run("budget").stdout
    assert "too few" in told.run("learn-value").stdout


def test_a_revoked_belief_is_gone_from_recall_and_a_wrong_version_is_a_conflict(cli: Cli) -> None:
    cli.json("retain", "The desk is closed.", "--entity", "desk", "--attribute", "open", "--value", "false")
    belief = cli.json("recall", "is the desk open?")["found"][0]["belief"]

    conflict = cli.json("revoke", belief["id"], "--reason", "it reopened", "--expected-version", "99", code=4)
    cli.json("revoke", belief["id"], "--reason", "it reopened", "--agent", "lena")

    assert belief["value"] is False
    assert conflict["error"]["code"] == "version_conflict"
    assert False not in found(cli.json("recall", "is the desk open?"))


# Running


def test_dead_letters_are_listed_shown_refused_a_replay_and_dropped(cli: Cli) -> None:
    (cli.folder / "bad.jsonl").write_text("not json\n", encoding="utf-8")
    cli.json("import", "bad.jsonl")

    (letter,) = cli.json("dlq", "list")
    shown = cli.run("dlq", "show", letter["id"]).stdout
    replayed = cli.run("dlq", "replay", letter["id"])
    dropped = cli.json("dlq", "drop", letter["id"])

    assert "not json" in shown
    assert (replayed.returncode, replayed.stderr[:7]) == (2, "error: ")
    assert dropped == {"dropped": letter["id"]}
    assert cli.run("dlq", "show", letter["id"]).returncode == 3


def test_doctor_finds_nothing_after_an_import(told: Cli) -> None:
    assert told.json("doctor")["differences"] == []


def test_config_show_names_the_source_of_each_value_and_masks_secrets(tmp_path: Path) -> None:
    cli = Cli(tmp_path, BELIEFMESH_STORES__GRAPH="nebula://root:s3cret@graph/mesh")
    (tmp_path / "beliefmesh.toml").write_text("[recall]\nlimit = 20\n", encoding="utf-8")

    shown = cli.json("config", "show", "--folder", "elsewhere")

    assert shown["mesh"]["folder"] == {"value": "elsewhere", "source": "command line"}
    assert shown["recall"]["limit"] == {"value": 20, "source": f"file {tmp_path / 'beliefmesh.toml'}"}
    assert shown["stores"]["graph"]["value"] == "nebula://root:***@graph/mesh"


# Ends


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("recall", "x", "--bank", "none"), 3, "unknown_bank"),
        (("explain", "b0"), 3, "not_found"),
        (("explain", "--told-by", "o0"), 3, "not_found"),
        (("explain",), 2, "usage"),
        (("recall", " "), 2, "invalid_input"),
        (("recall", "x" * 20_000), 2, "too_large"),
        (("recall", "x", "--limit", "0"), 2, "invalid_input"),
        (("recall", "x", "--as-of", "soon"), 2, "invalid_input"),
        (("recall", "x", "--limit", "many"), 2, "usage"),
        (("recall", "x", "--bank", "a/b"), 2, "invalid_setting"),
        (("retain",), 2, "invalid_input"),
        (("retain", "x", "--weight", "nan"), 2, "invalid_input"),
        (("retain", "x", "--kind", "rule"), 2, "invalid_input"),
        (("retain", "{", "--json-input"), 2, "invalid_input"),
        (("retain", "x", "--scope", "EU"), 2, "invalid_input"),
        (("import", "none.jsonl"), 2, "usage"),
        (("nonsense",), 2, "usage"),
        (("stats", "--config", "none.toml"), 2, "invalid_setting"),
        (("serve", "--host", "0.0.0.0"), 2, "invalid_setting"),
        (("history",), 2, "invalid_input"),
    ],
)
def test_a_refusal_is_one_object_with_json_and_its_exit_code_says_which(
    told: Cli, here: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, kind: str
) -> None:
    assert run(["--folder", str(told.folder / ".beliefmesh"), *arguments, "--json"]) == code

    assert json.loads(here.readouterr().out)["error"]["code"] == kind


def test_an_error_is_one_line_on_standard_error(told: Cli) -> None:
    done = told.run("recall", "x", "--bank", "none")

    assert done.stdout == ""
    assert done.stderr == "error: there is no bank 'none'; retain something into it first\n"


def test_bytes_that_are_no_text_are_refused_by_name(told: Cli) -> None:
    assert "surrogate" in told.json("retain", os.fsdecode(b"\xff"), code=2)["error"]["message"]


def test_help_lists_the_exit_codes(told: Cli) -> None:
    assert "4  conflict: a version has moved on" in told.run("--help").stdout


# A running mesh


@pytest.fixture
def serving(cli: Cli) -> Iterator[str]:
    process = cli.start("serve", "--port", "0", "--runtime", "inline", "--json")
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())["address"]
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in errors) == (0, False), errors


def test_commands_on_the_folder_of_a_running_mesh_ask_it_over_http(cli: Cli, serving: str) -> None:
    kept = cli.run("retain", "-", "--json-input", "--bank", "shop", stdin=json.dumps(SHIPPING))
    answer = cli.json("recall", "free shipping", "--bank", "shop", "--as-of", "2024-06-10", "--explain")
    again = cli.run("serve", "--port", "0")

    assert f"asking it at {serving}" in kept.stderr
    assert found(answer) == [200]
    assert cli.json("doctor")["differences"] == []
    assert again.returncode == 4
    assert "is in use by process" in again.stderr


def test_up_once_learns_the_sample_and_a_second_time_knows_it_already(cli: Cli) -> None:
    first = cli.json("up", "--once", "--runtime", "inline")
    second = cli.run("up", "--once", "--runtime", "inline")

    assert first["new_evidence"] > 300
    assert first["set_aside"] == 1
    assert {conflict["kind"] for conflict in first["conflicts"]} >= {"replaced", "narrowed"}
    assert "all of it already known" in second.stdout
    assert second.returncode == 0


@pytest.mark.ray
def test_where_ray_does_not_start_nobody_misses_it_unless_it_was_asked_for(tmp_path: Path) -> None:
    cli = Cli(tmp_path, RAY_TMPDIR=str(tmp_path / ("longer than a socket may be called " * 5)))

    tour = cli.run("up", "--once", "--no-sample", "--runtime", "auto")
    asked = cli.json("up", "--once", "--no-sample", "--runtime", "ray", code=1)

    assert tour.returncode == 0, tour.stderr
    assert "actors: inline" in tour.stderr
    assert asked["error"]["code"] == "store_unavailable"
    assert "--runtime inline" in asked["error"]["message"]


@pytest.mark.ray
def test_a_ray_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    cli = Cli(tmp_path, RAY_ADDRESS="127.0.0.1:9")

    done = cli.run("up", "--once", "--no-sample", "--runtime", "ray")

    assert done.returncode == 0, done.stderr
    assert "actors: ray" in done.stderr
