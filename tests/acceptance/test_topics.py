"""`beliefmesh topics`: on either log it makes what lacks, leaves what is there, and tells how far the workers are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from beliefmesh.cli.entry import run
from beliefmesh.folder import Folder
from stores.kafka.options import KafkaOptions
from stores.open import open_log
from stores.ports import Entry

MAY = 1_714_521_600_000_000

Asked = Callable[..., Any]


@pytest.fixture
def prefix(monkeypatch: pytest.MonkeyPatch) -> str:
    """What the names of this test's topics begin with."""
    own = f"{uuid4().hex}-"
    monkeypatch.setenv("BELIEFMESH_STREAMS__PREFIX", own)
    return own


@pytest.fixture(params=["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the log is; the embedded one lies in the folder."""
    if request.param == "kafka":
        return f"kafka://{request.getfixturevalue('kafka')}"
    return f"sqlite:///{tmp_path / 'mesh' / 'log.db'}"


@pytest.fixture
def topics(url: str, prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Runs `beliefmesh topics` with --json and returns what it printed."""

    def ask(*arguments: str) -> Any:
        log = ["--log", url] if url.startswith("kafka:") else []
        assert run(["topics", *arguments, *log, "--folder", str(tmp_path / "mesh"), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


def test_topics_are_made_once_and_keep_their_partitions(topics: Asked, prefix: str) -> None:
    first = topics("create", "--partitions", "3")
    again = topics("create", "--partitions", "5")

    kinds = ("observations", "claims", "changes", "dead-letters", "recall-log", "tombstones")
    names = [f"{prefix}{name}" for name in kinds]
    assert [(each["topic"], each["partitions"], each["made"]) for each in first] == [
        (name, count, True) for name, count in zip(names, (3, 3, 3, 1, 1, 1), strict=True)
    ]
    assert [(each["partitions"], each["made"]) for each in again] == [(count, False) for count in (3, 3, 3, 1, 1, 1)]


def test_the_list_tells_ends_and_what_the_group_has_not_done(topics: Asked, prefix: str, url: str) -> None:
    topics("create", "--partitions", "1")
    log = open_log(url, KafkaOptions())
    log.append(f"{prefix}observations", [Entry("k", b"a"), Entry("k", b"b"), Entry("k", b"c")], MAY)
    log.commit(f"{prefix}beliefmesh", f"{prefix}observations", {0: 1})
    log.close()

    listed = topics("list")

    found = {each["topic"].removeprefix(prefix): (each["ends"], each["lag"]) for each in listed["topics"]}
    assert found["observations"] == ({"0": 3}, {"0": 2})
    assert found["claims"] == ({"0": 0}, {"0": 0})
    assert found["dead-letters"] == ({"0": 0}, None)
    assert (listed["group"], listed["missing"]) == (f"{prefix}beliefmesh", [])


def test_the_list_names_what_is_not_there(topics: Asked, prefix: str) -> None:
    listed = topics("list")
    assert listed["topics"] == []
    assert listed["missing"][0] == f"{prefix}observations"


def test_words_for_people_say_what_was_made_and_what_lacks(
    url: str, prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [*(["--log", url] if url.startswith("kafka:") else []), "--folder", str(tmp_path / "mesh")]

    run(["topics", "list", *flags])
    assert "`beliefmesh topics create` makes them" in capsys.readouterr().out
    run(["topics", "create", *flags])
    kept = "30 days" if url.startswith("kafka:") else "everything"
    assert f"{prefix}claims: made, 8 partitions, keeps {kept}" in capsys.readouterr().out
    run(["topics", "list", *flags])
    assert f"group: {prefix}beliefmesh" in capsys.readouterr().out


@pytest.mark.kafka
def test_a_folder_in_use_does_not_hinder_a_look_at_kafka(
    kafka: str, prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Folder(tmp_path / "mesh"):
        assert run(["topics", "list", "--log", f"kafka://{kafka}", "--folder", str(tmp_path / "mesh")]) == 0
    assert f"group: {prefix}beliefmesh" in capsys.readouterr().out
