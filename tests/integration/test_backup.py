"""A bank as a file and back: the same state to the bit, and clear words for a file that is not whole."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from beliefmesh.cli.entry import run
from beliefmesh.memory import Memory
from schemas.errors import InvalidInput
from schemas.instant import parse_instant
from schemas.policy import AttributeRule, Policy

Open = Callable[..., Memory]

AT = parse_instant("2024-06-10T12:00:00Z", "at")
STRICT = Policy(attributes=(AttributeRule(pattern="stock", half_life_days=2.0),))


def filled(memory: Memory, lines: list[bytes]) -> Memory:
    """With the sample, a private note, and a policy of its own."""
    memory.set_policy(STRICT)
    memory.import_lines(lines)
    memory.retain(
        {"text": "Wei wants to leave.", "agent": "lena", "visibility": "private", "observed_at": "2024-06-01"}
    )
    memory.retain("Stock is 10.", bank="other")
    return memory


def test_a_bank_comes_back_with_the_same_state_policy_and_times(open_memory: Open, sample_lines: list[bytes]) -> None:
    first = filled(open_memory("first"), sample_lines)
    lines = list(first.export())
    second = open_memory("second", at="2025-01-01T00:00:00Z")

    done = second.import_backup(lines)

    assert (done.bank, done.policy, done.observations) == ("default", "taken", len(lines) - 2)
    assert second.state_hash(now=AT) == first.state_hash(now=AT)
    assert second.home.graph.policy("default") == STRICT
    assert second.banks() == ["default"]
    assert sorted(list(second.export())[1:]) == sorted(lines[1:])


def test_a_private_word_comes_back_for_whom_it_was_told_and_for_nobody_else(
    open_memory: Open, sample_lines: list[bytes]
) -> None:
    lines = list(filled(open_memory("first"), sample_lines).export())
    second = open_memory("second")
    second.import_backup(lines)

    assert any("leave" in one.belief.statement for one in second.recall("What does Wei want?", principal="lena").found)
    assert not any("leave" in one.belief.statement for one in second.recall("What does Wei want?").found)


def test_to_import_it_again_or_over_a_bank_that_is_there_changes_nothing(
    open_memory: Open, sample_lines: list[bytes]
) -> None:
    memory = filled(open_memory("first"), sample_lines)
    before = memory.state_hash(now=AT)
    lines = list(memory.export())

    for _ in range(2):
        memory.import_backup(lines)

    assert memory.state_hash(now=AT) == before


def test_a_bank_that_has_a_policy_of_its_own_keeps_it(open_memory: Open, sample_lines: list[bytes]) -> None:
    lines = list(filled(open_memory("first"), sample_lines).export())
    second = open_memory("second")
    second.set_policy(Policy(state_half_life_days=7.0))

    assert second.import_backup(lines).policy == "kept"
    assert second.home.graph.policy("default").state_half_life_days == 7.0


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda lines: [], "is empty"),
        (lambda lines: lines[:-1], "ends early: 333 observations were kept"),
        (lambda lines: [*lines[:5], *lines[6:]], "ends early"),
        (lambda lines: lines[1:], "line 1 is out of place"),
        (lambda lines: [*lines, lines[1]], "is out of place"),
        (lambda lines: [lines[0], *lines], "line 2 is out of place"),
        (lambda lines: [lines[0], b'{"text": "an observation as import takes it"}'], "line 2 is not a backup's"),
        (lambda lines: [lines[0], lines[1][:-20]], "line 2 is not a backup's"),
        (lambda lines: [lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]], "Upgrade Beliefmesh"),
        (lambda lines: [lines[0].replace(b'"default"', b'"elsewhere"'), *lines[1:]], "an observation of another bank"),
        (lambda lines: [lines[0].replace(b'"default"', b'"no bank!"'), *lines[1:]], "bank"),
    ],
)
def test_what_is_no_whole_backup_is_refused_by_name(
    open_memory: Open, sample_lines: list[bytes], spoil: Callable[[list[bytes]], list[bytes]], told: str
) -> None:
    lines = list(filled(open_memory("first"), sample_lines).export())

    with pytest.raises(InvalidInput, match=told):
        open_memory("second").import_backup(spoil(lines))


@pytest.mark.parametrize("name", ["bank.jsonl", "bank.jsonl.gz", "bank.jsonl.zst"])
def test_by_command_a_bank_goes_into_a_file_and_comes_back(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.endswith("zst"):
        pytest.importorskip("zstandard", reason="the zstd extra is not installed")
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "hashing:256")

    def told(*arguments: str) -> dict[str, object]:
        assert run([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]

    file, first, second = str(tmp_path / name), str(tmp_path / "first"), str(tmp_path / "second")
    told("retain", "The shop closes at 18:00.", "--folder", first)
    assert told("export", file, "--folder", first) == {"bank": "default", "file": file, "observations": 1}
    assert told("import", "--backup", file, "--folder", second)["observations"] == 1
    found = told("recall", "When does the shop close?", "--folder", second)
    assert "18:00" in json.dumps(found)


def test_a_packed_file_that_is_cut_off_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("zstandard", reason="the zstd extra is not installed")
    for name in ("bank.gz", "bank.zst"):
        file = tmp_path / name
        file.write_bytes(b"not packed at all")

        assert run(["import", "--backup", str(file), "--folder", str(tmp_path / "mesh")]) == 2
        assert f"{name} is not whole" in capsys.readouterr().err


def test_an_older_backup_does_not_bring_back_what_was_forgotten(open_memory: Open, sample_lines: list[bytes]) -> None:
    memory = filled(open_memory("first"), sample_lines)
    told = memory.retain({"id": "secret", "text": "The vault code is 4711.", "observed_at": "2024-06-02"})
    older = list(memory.export())
    memory.forget(ids=told.ids)

    memory.import_backup(older)

    assert not any(b"4711" in line for line in memory.export())
    assert not any("4711" in one.belief.statement for one in memory.recall("What is the vault code?").found)
