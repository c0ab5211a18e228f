"""The commands that list: pages of beliefs and of changes, by the place to go on from."""

import json
from pathlib import Path
from typing import Any

import pytest

from beliefmesh.cli.entry import run


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command on a folder that holds three beliefs, and gives what it prints as JSON."""
    common = ["--folder", str(tmp_path / "mesh"), "--json"]
    for name in ("desk", "door", "gate"):
        note = {"text": f"{name} is open.", "claims": [{"entity": name, "attribute": "is", "value": "open"}]}
        (tmp_path / "note.json").write_text(json.dumps(note), encoding="utf-8")
        assert run(["retain", json.dumps(note), "--json-input", *common]) == 0
    capsys.readouterr()

    def command(*arguments: str) -> Any:
        assert run([*arguments, *common]) == 0
        return json.loads(capsys.readouterr().out)

    return command


def test_beliefs_are_listed_by_pages_and_filtered(told: Any) -> None:
    first = told("beliefs", "--limit", "2")
    rest = told("beliefs", "--limit", "2", "--after", first["next"])

    names = [belief["entity"]["name"] for belief in first["beliefs"] + rest["beliefs"]]
    assert (sorted(names), rest["next"]) == (["desk", "door", "gate"], None)
    assert [one["value"] for one in told("beliefs", "--entity", "desk", "--status", "active")["beliefs"]] == ["open"]


def test_changes_are_told_from_the_beginning_and_from_a_place_on(told: Any) -> None:
    page = told("changes")

    assert sorted(moved["entity"]["name"] for moved in page["changes"]) == ["desk", "door", "gate"]
    assert told("changes", "--after", page["next"])["changes"] == told("changes", "--after", "now")["changes"] == []


def test_a_place_of_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["changes", "--after", "x", "--folder", str(tmp_path / "mesh"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["field"] == "after"


def test_a_list_of_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ("--folder", str(tmp_path / "mesh"))
    assert run(["retain", "The desk is open.", "--no-wait", *folder]) == 0
    capsys.readouterr()

    assert run(["beliefs", "--entity", "nobody", *folder]) == 0
    assert "no such belief" in capsys.readouterr().out


def test_a_command_called_wrongly_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["feedback", "b1"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: Missing argument '{right|wrong|used}'. Choose from: right, wrong")
    assert told.count("\n") == 1
