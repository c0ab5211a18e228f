"""A memory made anew from its log is the same memory; the old one stays until the switch; nothing forgotten returns."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from beliefmesh.cli.entry import run
from beliefmesh.home import Home
from beliefmesh.memory import Memory
from beliefmesh.rebuild import Rebuilt, rebuild
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import FolderInUse, InvalidInput, InvalidSetting
from schemas.instant import Instant
from schemas.observation import Observation, Source, observation_key
from schemas.policy import DEFAULT_POLICY
from schemas.wire import pack
from stores.ports import Entry

NOW: Instant = 1_718_020_800_000_000
REBUILDER = Path(__file__).with_name("rebuilder.py")
ROOT = Path(__file__).parents[2]

Banks = dict[str, tuple[str, dict[str, int]]]


def settings_in(folder: Path, space: str = "", **stores: str) -> Settings:
    return Settings(
        mesh=MeshSettings(folder=str(folder), runtime="inline"),
        stores=StoreSettings(embedder="hashing:256", **stores),
        streams=StreamSettings(space=space),
    )


def opened(settings: Settings) -> Memory:
    return Memory(settings=settings, clock=lambda: NOW)


def rebuilt(settings: Settings, into: str, **options: Any) -> Rebuilt:
    home = Home(settings, lambda: NOW)
    try:
        return rebuild(home, into, lambda done, total: None, **options)
    finally:
        home.close()


def state(memory: Memory) -> Banks:
    """What each bank believes, and how much of everything it holds."""
    return {bank: (memory.state_hash(bank), memory.home.graph.counts(bank)) for bank in memory.banks()}


def gate(number: int) -> Observation:
    claim = Claim(entity=Entity("gate"), attribute="colour", value="grey")
    return Observation(id=f"gate{number}", bank="yard", source=Source("ann"), observed_at=NOW - number, claims=(claim,))


def append(memory: Memory, *entries: Entry) -> list[tuple[int, int]]:
    places = memory.home.log.append("observations", entries, NOW)
    memory.home.worker.drain()
    return places


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, sample_lines: list[bytes]) -> Path:
    """Two banks, one with its own policy: some of the sample twice, a retraction, dead letters, a letter dropped."""
    place = tmp_path_factory.mktemp("prepared")
    with opened(settings_in(place)) as memory:
        memory.set_policy(msgspec.structs.replace(DEFAULT_POLICY, stale_below=0.6), bank="yard")
        memory.import_lines(sample_lines[:80])
        memory.import_lines([*sample_lines[:40], b"{half a line"])
        memory.import_lines(sample_lines[:30], bank="yard")
        red = {"attribute": "colour", "value": "red"}
        memory.retain({"entity": "door", "agent": "ann", "observed_at": "2024-06-01", "claims": [red]})
        (door,) = memory.recall("colour of the door", entity="door", limit=1).found
        memory.revoke(door.belief.id, reason="painted over")
        spoiled = msgspec.structs.replace(gate(2), weight=-1.0)
        append(memory, Entry("yard/ann", b"poison"), Entry("yard/ann", pack(spoiled, "gate2")))
        memory.drop_dead_letter(memory.dead_letters()[-1].id)
        assert [letter.stage for letter in memory.dead_letters()] == ["intake", "extract"]
    return place


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    return shutil.copytree(prepared, tmp_path / "mesh")


def test_the_new_space_holds_the_same_and_goes_on_where_the_old_one_stood(folder: Path) -> None:
    with opened(settings_in(folder)) as memory:
        before, asked = state(memory), memory.recall("From what amount is shipping free?")
        letters = memory.dead_letters()

    done = rebuilt(settings_in(folder), "blue")

    assert (done.space, done.old_space, done.switched, done.same) == ("blue", "", True, True)
    assert (done.dead_letters, done.waiting, done.settings) == (1, 0, {})
    assert {bank.bank: bank.new for bank in done.banks} == {bank: hash for bank, (hash, _) in before.items()}
    with opened(settings_in(folder)) as memory:
        assert memory.home.space == "blue"
        assert state(memory) == before
        assert memory.home.graph.policy("yard").stale_below == 0.6
        assert memory.dead_letters() == letters
        assert memory.stats()["lag"] == {"extract": 0, "decide": 0, "index": 0}
        assert memory.doctor().differences == ()
        again = memory.recall("From what amount is shipping free?")
        assert [one.belief.id for one in again.found] == [one.belief.id for one in asked.found]
        memory.retain({"entity": "mill", "agent": "bo", "claims": [{"attribute": "colour", "value": "white"}]})
        assert [one.belief.value for one in memory.recall("colour of the mill", entity="mill").found] == ["white"]


def test_the_old_space_is_as_it_was_and_catches_up_when_one_goes_back(folder: Path) -> None:
    with opened(settings_in(folder)) as memory:
        before = state(memory)
    rebuilt(settings_in(folder), "blue")
    with opened(settings_in(folder)) as memory:
        memory.retain({"entity": "mill", "agent": "bo", "claims": [{"attribute": "colour", "value": "white"}]})
        after = memory.state_hash()

    (folder / "space").unlink()

    with opened(settings_in(folder)) as memory:
        assert memory.home.space == ""
        assert state(memory) == before
        assert memory.stats()["lag"]["extract"] == 1
        assert [one.belief.value for one in memory.recall("colour of the mill", entity="mill").found] == ["white"]
        assert memory.state_hash() == after


def test_a_space_can_follow_a_space_and_the_files_of_the_old_one_may_be_deleted(folder: Path) -> None:
    first = rebuilt(settings_in(folder), "blue")
    assert {Path(path).name for path in first.removable} >= {"graph.db", "index"}
    second = rebuilt(settings_in(folder), "green")
    assert (second.old_space, second.removable) == ("blue", (str(folder.resolve() / "spaces" / "blue"),))
    with opened(settings_in(folder)) as memory:
        assert memory.home.urls.graph.endswith("/spaces/green/graph.db")
        assert memory.doctor().healthy


def test_what_the_log_no_longer_has_is_missed_and_nothing_is_switched_without_force(folder: Path) -> None:
    with opened(settings_in(folder)) as memory:
        ((partition, offset),) = append(memory, Entry(observation_key(gate(1)), pack(gate(1), "gate1")))
        memory.home.log.forget("observations", partition, [offset])
        before = state(memory)

    done = rebuilt(settings_in(folder), "blue")

    assert (done.switched, done.same, done.removable) == (False, False, ())
    differing = [bank for bank in done.banks if bank.old != bank.new]
    assert [(bank.bank, bank.only_old, bank.only_new) for bank in differing] == [("yard", 1, 0)]
    with opened(settings_in(folder)) as memory:
        assert (memory.home.space, state(memory)) == ("", before)

    assert rebuilt(settings_in(folder), "blue", force=True).switched
    with opened(settings_in(folder)) as memory:
        assert memory.home.space == "blue"
        assert memory.recall("colour of the gate", entity="gate", bank="yard").found == ()
        memory.home.worker.drain()
        assert memory.home.graph.evidence_of_observations("yard", ["gate1"]) == []


def test_what_waited_in_the_log_is_in_both_spaces(folder: Path) -> None:
    with opened(settings_in(folder)) as memory:
        memory.retain({"entity": "mill", "claims": [{"attribute": "colour", "value": "white"}]}, wait=False)
    assert rebuilt(settings_in(folder), "blue").same


@pytest.mark.parametrize("batches", [1, 3, 9])
def test_a_rebuild_that_was_killed_leaves_the_old_space_and_is_begun_anew(folder: Path, batches: int) -> None:
    """What is forgotten between death and repeat does not come back from the half-filled space."""
    with opened(settings_in(folder)) as memory:
        ((partition, offset),) = append(memory, Entry(observation_key(gate(1)), pack(gate(1), "gate1")))
        before = state(memory)

    killed = subprocess.run(
        [sys.executable, str(REBUILDER), str(folder), "blue", str(batches)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )

    assert killed.returncode == -signal.SIGKILL
    assert (folder / "spaces" / "blue" / "graph.db").exists()
    with opened(settings_in(folder)) as memory:
        assert (memory.home.space, state(memory)) == ("", before)
        memory.home.log.forget("observations", partition, [offset])
    done = rebuilt(settings_in(folder), "blue", force=True)
    assert [(bank.only_old, bank.only_new) for bank in done.banks if bank.old != bank.new] == [(1, 0)]
    with opened(settings_in(folder)) as memory:
        assert memory.home.graph.evidence_of_observations("yard", ["gate1"]) == []
        assert memory.doctor().healthy


def test_a_space_that_is_there_is_not_written_over(folder: Path) -> None:
    rebuilt(settings_in(folder), "blue")
    with pytest.raises(InvalidInput, match="into: blue is the current space"):
        rebuilt(settings_in(folder), "blue")
    rebuilt(settings_in(folder), "green")
    with pytest.raises(InvalidInput, match=r"into: the space blue is complete; .* delete"):
        rebuilt(settings_in(folder), "blue")


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a b", "x" * 65])
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"into: .* is not the name of a space; use 1 to 64 letters"):
        rebuilt(settings_in(tmp_path), name)
    if name:
        with pytest.raises(InvalidSetting, match=r"streams\.space: .* is not the name of a space"):
            opened(settings_in(tmp_path, name))


@pytest.mark.parametrize(("told", "reason"), [("../up", "is not the name of a space"), ("gone", "which is gone")])
def test_a_folder_that_names_no_space_of_its_own_is_not_opened(tmp_path: Path, told: str, reason: str) -> None:
    opened(settings_in(tmp_path)).close()
    (tmp_path / "space").write_text(told)
    with pytest.raises(InvalidSetting, match=reason):
        opened(settings_in(tmp_path))
    (tmp_path / "space").unlink()
    opened(settings_in(tmp_path)).close()


def test_stores_with_urls_are_filled_and_the_settings_to_change_are_told(folder: Path, tmp_path: Path) -> None:
    graph, index = f"sqlite:///{tmp_path}/out.db", f"local:///{tmp_path}/out"
    with opened(settings_in(folder)) as memory:
        before = state(memory)

    done = rebuilt(settings_in(folder), "blue", graph=graph, index=index)

    assert (done.same, done.switched, done.removable) == (True, False, ())
    assert done.settings == {"streams.space": "blue", "stores.graph": graph, "stores.index": index}
    with opened(settings_in(folder)) as memory:
        memory.retain({"entity": "mill", "agent": "bo", "claims": [{"attribute": "colour", "value": "white"}]})
        assert memory.home.space == ""
    with opened(settings_in(folder, "blue", graph=graph, index=index)) as memory:
        assert state(memory) == before
        assert [one.belief.value for one in memory.recall("colour of the mill", entity="mill").found] == ["white"]


def test_a_store_with_a_url_needs_another_empty_one(folder: Path, tmp_path: Path) -> None:
    graph, index = f"sqlite:///{tmp_path}/out.db", f"local:///{tmp_path}/out"
    rebuilt(settings_in(folder), "blue", graph=graph, index=index)
    outside = settings_in(folder, "blue", graph=graph, index=index)
    with pytest.raises(InvalidSetting, match=r"stores\.graph: is set, .* give it with --graph"):
        rebuilt(outside, "green")
    with pytest.raises(InvalidSetting, match=r"stores\.index: is set, .* give it with --index"):
        rebuilt(outside, "green", graph="sqlite:///new.db")
    with pytest.raises(InvalidInput, match="graph: is the URL of the current"):
        rebuilt(outside, "green", graph=graph, index=index)
    with pytest.raises(InvalidInput, match=r"graph: sqlite:.*out\.db holds the bank default already"):
        rebuilt(settings_in(folder), "green", graph=graph, index=index)


def test_a_space_that_the_settings_name_is_followed_by_setting_the_next(folder: Path) -> None:
    done = rebuilt(settings_in(folder, "blue"), "green", force=True)
    assert (done.switched, done.settings) == (False, {"streams.space": "green"})
    with opened(settings_in(folder, "green")) as memory:
        assert memory.home.urls.index.endswith("/spaces/green/index")
        assert memory.stats("yard")["banks"]["yard"]["evidence"] > 0


def test_a_graph_that_was_lost_is_made_again_by_force(folder: Path) -> None:
    with opened(settings_in(folder)) as memory:
        before = memory.state_hash()
    for lost in folder.glob("graph.db*"):
        lost.unlink()

    done = rebuilt(settings_in(folder), "blue", force=True)

    assert (done.switched, done.same) == (True, False)
    assert all(bank.only_old == 0 < bank.only_new for bank in done.banks)
    with opened(settings_in(folder)) as memory:
        assert memory.state_hash() == before
        (door,) = memory.recall("colour of the door", entity="door", statuses=["revoked"], limit=1).found
        assert door.belief.value == "red"


@pytest.mark.kafka
def test_a_log_on_kafka_fills_a_new_space_too(kafka: str, tmp_path: Path, sample_lines: list[bytes]) -> None:
    chosen = msgspec.structs.replace(
        settings_in(tmp_path / "mesh", log=f"kafka://{kafka}"),
        streams=StreamSettings(prefix=f"{secrets.token_hex(4)}-", partitions=2),
    )
    with opened(chosen) as memory:
        token = memory.import_lines(sample_lines[:80]).token
        memory.wait(token)
        before = memory.state_hash()

    done = rebuilt(chosen, "blue")

    assert (done.switched, done.same, done.waiting) == (True, True, 0)
    with opened(chosen) as memory:
        assert (memory.home.topics.group[-5:], memory.state_hash()) == ("-blue", before)
        assert memory.stats()["lag"] == {"extract": 0, "decide": 0, "index": 0}
        memory.retain({"entity": "mill", "agent": "bo", "claims": [{"attribute": "colour", "value": "white"}]})
        assert [one.belief.value for one in memory.recall("colour of the mill", entity="mill").found] == ["white"]


def test_a_running_mesh_is_left_alone(folder: Path) -> None:
    with opened(settings_in(folder)), pytest.raises(FolderInUse, match="stop it"):
        rebuilt(settings_in(folder), "blue")
    assert not (folder / "spaces").exists()


def test_the_command_prints_what_was_done_and_exits_1_where_spaces_differ(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELIEFMESH_STORES__EMBEDDER", "hashing:256")

    def command(*arguments: str) -> tuple[int, str]:
        code = run(["rebuild", "--folder", str(folder), *arguments])
        return code, capfd.readouterr().out

    code, out = command("--into", "blue")
    assert code == 0
    assert "bank yard: the same as before" in out
    assert "switched to blue" in out
    assert f"{folder.resolve()}/graph.db" in out.replace("\n", "")

    code, out = command("--into", "green", "--json")
    told = json.loads(out)
    assert (code, told["space"], told["old_space"], told["switched"]) == (0, "green", "blue", True)

    with opened(settings_in(folder)) as memory:
        ((partition, offset),) = append(memory, Entry(observation_key(gate(1)), pack(gate(1), "gate1")))
        memory.home.log.forget("observations", partition, [offset])
    code, out = command("--into", "red")
    assert code == 1
    assert "1 piece of evidence is only in the old, 0 only in the new" in out
    assert "not switched" in out
    assert command("--into", "red", "--force")[0] == 0
    assert command("--into", "red")[0] == 2
    assert command()[0] == 2
    monkeypatch.setenv("BELIEFMESH_MESH__ADDRESS", "127.0.0.1:6379")
    assert run(["rebuild", "--folder", str(folder), "--into", "black"]) == 2
    assert "mesh.address: is set, and a rebuild needs the folder to itself" in capfd.readouterr().err
