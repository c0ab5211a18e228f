"""What was forgotten on request is nowhere, stays away, and takes nothing with it that others know too."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from beliefmesh import forgetting
from beliefmesh.memory import Memory
from beliefmesh.rebuild import rebuild
from schemas.errors import InvalidInput
from schemas.instant import parse_instant
from stores.ports import Entry
from streams import erasure

OpenMemory = Callable[..., Memory]
NOW = parse_instant("2024-06-10T12:00:00Z", "now")
CANARY = "zebrafinch"


def told(id: str, value: str, entity: str = "shop", attribute: str = "color", **more: object) -> dict[str, object]:
    claim = {"entity": entity, "attribute": attribute, "value": value}
    return {"id": id, "claims": [claim], "observed_at": "2024-05-01", "source": f"source of {id}", **more}


def bytes_in(folder: Path, needle: str) -> list[str]:
    """The files below a folder in which the text stands."""
    wanted = needle.encode()
    return [str(path) for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]


def test_a_forgotten_observation_leaves_the_state_of_one_that_was_never_made(open_memory: OpenMemory) -> None:
    memory, other = open_memory("one"), open_memory("other")
    kept = [told("o1", "red"), told("o3", "blue", entity="house")]
    memory.retain([*kept, told("o2", "green"), told("o4", "4", entity="gone", attribute="size")])
    other.retain(kept)

    report = memory.forget(ids=["o2", "o4", "nothing"])

    assert (report.observations, report.evidence, report.slots, report.unknown) == (2, 2, 2, 1)
    assert memory.state_hash() == other.state_hash()
    assert memory.home.graph.counts("default") == other.home.graph.counts("default")
    assert memory.doctor().differences == ()


def test_a_belief_is_forgotten_with_all_that_speaks_for_it(memory: Memory) -> None:
    memory.retain([told("o1", "red"), told("o2", "green"), told("o3", "green")])
    (green,) = [found.belief.id for found in memory.recall("color of the shop").found if found.belief.value == "green"]

    would = memory.forget(ids=[green], dry_run=True)
    assert (would.observations, would.beliefs, would.dry_run) == (2, 1, True)
    assert memory.belief(green).value == "green"

    done = memory.forget(ids=[green])

    assert msgspec.structs.replace(done, dry_run=True, records=0) == would
    assert [found.belief.value for found in memory.recall("color of the shop").found] == ["red"]


@pytest.mark.parametrize("named", [{"owner": "alice"}, {"source": "diary"}, {"source": "alice's phone"}])
def test_all_of_an_owner_or_a_source_is_forgotten(memory: Memory, named: dict[str, str]) -> None:
    source = {"id": "diary", "origin": "alice's phone"}
    memory.retain(
        [
            told("o1", "red", owner="alice", source=source),
            told("o2", "blue", owner="alice", source=source, visibility="private", entity="house"),
            told("o3", "green", owner="bob"),
        ]
    )

    report = memory.forget(**named)

    assert report.observations == 2
    assert [
        piece.observation_id for piece in memory.home.graph.evidence_of_observations("default", ["o1", "o2", "o3"])
    ] == ["o3"]


def test_what_was_forgotten_does_not_come_back_when_it_is_told_again(memory: Memory) -> None:
    memory.retain([told("o1", "red"), told("o2", "blue", entity="house")])
    memory.forget(ids=["o1"])

    memory.retain([told("o1", "red"), told("o3", "green")])

    assert memory.home.graph.evidence_of_observations("default", ["o1"]) == []
    assert {found.belief.value for found in memory.recall("color of the shop").found} == {"green", "blue"}


def test_a_rebuilt_space_has_forgotten_it_too_and_refuses_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.retain([told("o1", "red"), told("o2", "blue")])
    memory.forget(ids=["o1"])

    done = rebuild(memory.home, "second", lambda *_: None)
    memory.close()
    again = open_memory()
    again.retain(told("o1", "red"))

    assert done.same
    assert again.home.space == "second"
    assert again.home.graph.evidence_of_observations("default", ["o1"]) == []


def test_conclusions_go_with_their_premises(memory: Memory) -> None:
    memory.retain([told("o1", "red"), told("o2", "blue", entity="house")])
    ids = {found.belief.value: found.belief.id for found in memory.recall("color").found}
    conclusion = told("o3", "warm", attribute="mood", kind="derivation")
    conclusion["claims"][0]["premises"] = [ids["red"]]  # type: ignore[index]
    memory.retain(conclusion)

    report = memory.forget(ids=["o1"])

    assert (report.observations, report.derived) == (2, 1)
    assert memory.home.graph.evidence_of_observations("default", ["o1", "o3"]) == []


def test_it_never_crosses_a_bank(memory: Memory) -> None:
    for bank in ("acme", "other"):
        memory.retain(told("o1", "red", owner="alice"), bank=bank)
    before = memory.state_hash("other")

    memory.forget(owner="alice", bank="acme")

    assert memory.state_hash("other") == before
    assert memory.home.graph.counts("acme")["evidence"] == 0
    memory.retain(told("o1", "red"), bank="other")
    assert memory.home.graph.counts("other")["evidence"] == 1


def test_a_canary_leaves_no_trace_in_any_file_of_the_folder(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    many = [told(f"o{n}", f"v{n % 7}", entity=f"thing {n % 40}", session="talk", turn=n) for n in range(400)]
    names = [f"{CANARY} {n % 9}" if n % 2 else f"thing {n}" for n in range(60)]
    canaries = [told(f"c{n}", f"{CANARY} {n}", entity=name, session="talk", turn=n * 4) for n, name in enumerate(names)]
    for start in range(0, 400, 40):
        memory.retain([*many[start : start + 40], *canaries[start * 6 // 40 : start * 6 // 40 + 6]])
    memory.retain(
        {"id": "free", "text": f"The {CANARY} sings at night.", "agent": "ann", "session": "talk", "turn": 13}
    )
    memory.recall(f"Where is the {CANARY}?", principal="ann")
    memory.import_lines([json.dumps({"id": "c99", "text": CANARY, "observed_at": "never"}).encode()])
    assert bytes_in(tmp_path, CANARY)

    report = memory.forget(ids=[*(f"c{n}" for n in range(60)), "free", "c99"])

    assert report.unknown == 0
    assert memory.dead_letters() == []
    assert bytes_in(tmp_path, CANARY) == []
    memory.close()
    assert bytes_in(tmp_path, CANARY) == []
    assert open_memory().doctor().differences == ()


def test_a_neighbour_in_the_session_is_found_by_its_own_words_only(memory: Memory) -> None:
    memory.retain(
        [
            {"id": "o1", "text": f"The {CANARY} sings.", "session": "talk", "turn": 1, "agent": "ann"},
            {"id": "o2", "text": "The kettle whistles.", "session": "talk", "turn": 2, "agent": "ann"},
        ]
    )

    memory.forget(ids=["o1"])

    assert [found.belief.statement for found in memory.recall("kettle").found] == ["The kettle whistles."]
    assert all("keyword" not in found.scores for found in memory.recall(CANARY).found)


@pytest.mark.parametrize("step", range(7))
def test_a_call_that_dies_between_any_two_steps_is_completed_by_the_next_start(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    memory = open_memory()
    memory.retain([told("o1", CANARY, session="talk", turn=1), told("o2", "red", session="talk", turn=2)])
    never = open_memory("never")
    never.retain(told("o2", "red", session="talk", turn=2))
    places: list[tuple[Any, str]] = [
        (memory.home.graph, "bury"),
        (memory.home.worker, "amend"),
        (memory.home.mesh, "index"),
        (forgetting, "erase"),
        (erasure, "_without"),
        (memory.home.log, "wipe"),
        (memory.home.tombstones, "finish"),
    ]
    owner, name = places[step]

    def dies(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, dies)
        with pytest.raises(SystemExit):
            memory.forget(ids=["o1"])
    memory.home.worker.stop()
    memory.close()

    again = open_memory()

    assert again.home.tombstones.unfinished() == []
    assert again.state_hash() == never.state_hash()
    assert bytes_in(tmp_path, CANARY) == []
    assert again.doctor().differences == ()


@pytest.mark.parametrize(
    ("named", "field"),
    [
        ({}, "forget"),
        ({"ids": []}, "ids"),
        ({"ids": [""]}, "ids"),
        ({"ids": "o1"}, "ids"),
        ({"owner": ""}, "owner"),
        ({"source": " "}, "source"),
    ],
)
def test_nothing_is_forgotten_where_nothing_is_named(memory: Memory, named: dict[str, Any], field: str) -> None:
    memory.retain(told("o1", "red"))

    with pytest.raises(InvalidInput) as raised:
        memory.forget(**named)

    assert raised.value.field == field
    assert memory.home.graph.counts("default")["evidence"] == 1


def test_unknown_ids_are_counted_and_leave_nothing(memory: Memory) -> None:
    report = memory.forget(ids=["o1", "o2"])

    assert (report.observations, report.unknown) == (0, 2)
    assert memory.home.tombstones.end() == 0


def test_what_others_write_to_the_log_again_has_no_effect_and_is_cleared_by_doctor(
    memory: Memory, tmp_path: Path
) -> None:
    memory.retain([told("o1", CANARY), told("o2", "red")])
    (record,) = [
        record
        for partition in range(8)
        for record in memory.home.log.read("observations", partition, 0, 9)
        if b"source of o1" in record.value
    ]
    memory.forget(ids=["o1"])
    memory.home.log.append("observations", [Entry(record.key, record.value)], NOW)
    memory.home.worker.drain()

    report = memory.doctor(fix=True)

    assert report.differences == ("1 forgotten observation of bank default is in the log again",)
    assert report.healthy
    assert memory.home.graph.evidence_of_observations("default", ["o1"]) == []
    assert bytes_in(tmp_path, CANARY) == []
