"""The archive in a folder, at file:// and at other URLs of fsspec, packed with gzip or zstd: nothing is lost in any."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from test_compaction_job import ASKED, sighting, told

from beliefmesh.http.app import create_app
from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings, MeshSettings, Settings, StoreSettings
from recall.render import explanation_text, history_text
from schemas.errors import InvalidSetting, MissingExtra, NotFound, StoreUnavailable, UnknownBank
from schemas.instant import DAY
from schemas.query import Principal
from stores.shelf import open_shelf, packed, suffix_of, unpacked

fsspec = pytest.importorskip("fsspec", reason="the fsspec extra is not installed")
pytest.importorskip("zstandard", reason="the zstd extra is not installed")

MOMENT = 1_781_092_800_000_000
Open = Callable[..., Memory]


@pytest.fixture
def open_at(tmp_path: Path) -> Iterator[Open]:
    """Opens a memory with settings of its jobs; all are closed after the test."""
    opened: list[Memory] = []

    def opener(folder: str = "mesh", **jobs: object) -> Memory:
        settings = Settings(
            mesh=MeshSettings(folder=str(tmp_path / folder), runtime="inline"),
            stores=StoreSettings(embedder="none:"),
            jobs=JobSettings(**jobs),
        )
        opened.append(Memory(settings=settings, clock=lambda: MOMENT))
        return opened[-1]

    yield opener
    for memory in opened:
        memory.close()


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
@pytest.mark.parametrize("place", ["", "{folder}/cold", "file://{folder}/cold", "memory://cold-{name}"])
def test_what_is_archived_comes_back_from_wherever_it_lies(
    open_at: Open, tmp_path: Path, place: str, packing: str
) -> None:
    where = place.format(folder=tmp_path, name=f"{tmp_path.name}-{packing}")
    memory = open_at(archive=where, archive_packing=packing)
    rule = {"attribute": "limit", "value": 3, "kind": "instruction"}
    memory.retain([*told(3), {"id": "rule", "entity": "host 0", "observed_at": "2024-05-01", "claims": [rule]}])
    whole = memory.state_hash(now=ASKED)

    compacted = memory.run_job("compaction")
    archived = memory.run_job("archive")

    assert (compacted.counts["archived"], archived.counts["archived"]) == (24, 6)
    assert memory.home.archive.takes("default") == compacted.bytes + archived.bytes
    assert memory.recall("state of host 1", as_of="2024-05-05").archived
    assert memory.run_job("restore").counts == {"files": 2, "restored": 30}
    assert memory.state_hash(now=ASKED) == whole
    assert (memory.home.archive.takes("default"), memory.doctor().differences) == (0, ())
    assert memory.run_job("restore").counts == {}


def test_a_bank_of_which_all_is_archived_says_so_and_comes_back(open_at: Open) -> None:
    memory = open_at()
    memory.retain(told(1))
    memory.run_job("archive")

    with pytest.raises(UnknownBank, match="all that bank 'default' held is archived; the job restore brings it back"):
        memory.recall("state of host 0")
    with TestClient(create_app(memory, memory.home.settings)) as client:
        assert client.post("/v1/banks/default/jobs/restore").json()["counts"] == {"files": 1, "restored": 10}
    assert memory.recall("state of host 0", as_of="2024-05-05").found[0].belief.value == "up"


def test_files_that_others_put_at_the_place_stay(open_at: Open, tmp_path: Path) -> None:
    memory = open_at(archive=str(tmp_path / "cold"))
    memory.retain(told(1))
    memory.run_job("compaction")
    other = tmp_path / "cold" / "default" / "other.jsonl.gz"
    other.write_bytes(b"of somebody else")

    memory.run_job("restore")

    assert [path.name for path in other.parent.iterdir()] == ["other.jsonl.gz"]


def test_a_file_that_a_kill_left_is_swept_by_the_next_restore(open_at: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = open_at(archive=f"memory://killed-{MOMENT}")
    memory.retain(told(1))

    def killed(*_: object) -> None:
        raise StoreUnavailable("killed")

    with monkeypatch.context() as patched:
        patched.setattr("stores.archive._row", killed)
        with pytest.raises(StoreUnavailable):
            memory.run_job("compaction")
    assert memory.home.archive.takes("default") > 0

    assert memory.run_job("restore").counts == {"swept": 1}
    assert not fsspec.filesystem("memory").find(f"/killed-{MOMENT}")
    assert memory.doctor().differences == ()


def test_a_catalogue_from_before_it_knew_of_slots_is_still_read(open_at: Open, tmp_path: Path) -> None:
    memory = open_at(archive_packing="gzip")
    memory.retain(told(1))
    whole = memory.state_hash(now=ASKED)
    memory.run_job("compaction")
    memory.close()
    with sqlite3.connect(tmp_path / "mesh" / "jobs.db") as connection:
        connection.execute("DROP INDEX archived_by_slot")
        connection.execute("ALTER TABLE archived DROP COLUMN slot")
        connection.execute("ALTER TABLE archived DROP COLUMN readers")
        connection.execute("DROP TABLE begun")
    connection.close()

    again = open_at()

    assert again.history(entity="host 0", attribute="state").archived == 0
    assert again.run_job("restore").counts == {"files": 1, "restored": 8}
    assert again.state_hash(now=ASKED) == whole
    assert not list((tmp_path / "mesh" / "archive").rglob("*.jsonl*"))


def test_history_and_explain_say_how_much_is_archived(open_at: Open) -> None:
    memory = open_at()
    memory.retain(told(2))
    memory.run_job("compaction")

    history = memory.history(entity="host 1", attribute="state")
    (held,) = [belief for belief in history.beliefs if belief.value == "up"]
    explanation = memory.explain(held.id)

    assert (history.archived, explanation.archived) == (8, 8)
    assert [one.archived for one in memory.explanations([held.id])] == [8]
    assert "8 more pieces of evidence are archived; `beliefmesh jobs run restore`" in history_text(history)
    assert "8 more pieces of evidence are archived" in explanation_text(explanation)
    memory.run_job("archive")
    with pytest.raises(NotFound, match=r"all 10 pieces of evidence of slot s[0-9a-f]+ are archived; the job restore"):
        memory.history(entity="host 1", attribute="state")
    with pytest.raises(NotFound, match="all 10 pieces"):
        memory.history(held.slot)
    memory.run_job("restore")
    assert memory.history(entity="host 1", attribute="state").archived == 0


def test_nobody_learns_from_it_of_evidence_that_is_not_theirs_to_see(open_at: Open) -> None:
    memory = open_at()
    mine = [sighting(1, day) | {"id": f"private {day}", "visibility": "private", "owner": "ann"} for day in range(1, 6)]
    memory.retain([*mine, sighting(1, 9) | {"source": {"id": "desk"}}, sighting(2, 1) | mine[0] | {"entity": "host 2"}])
    memory.run_job("compaction")
    asked = {"entity": "host 1", "attribute": "state"}

    assert memory.history(**asked).archived == 0
    assert memory.history(**asked, principal="bob").archived == 0
    assert memory.history(**asked, principal=Principal("ann")).archived == 4


@pytest.mark.parametrize(
    ("place", "kind", "told"),
    [
        (
            "s3://bucket/path",
            MissingExtra,
            "the archive s3://bucket/path needs another package beside fsspec: Install s3fs",
        ),
        ("zzz://somewhere", InvalidSetting, "jobs.archive: zzz://somewhere is no URL that fsspec knows"),
    ],
)
def test_a_place_that_cannot_be_used_is_named(place: str, kind: type[Exception], told: str) -> None:
    if place.startswith("s3") and "s3fs" in fsspec.available_protocols():
        pytest.skip("s3fs is installed")
    with pytest.raises(kind) as refused:
        open_shelf(place)
    assert told in str(refused.value)


def test_equal_pieces_give_equal_files_and_damaged_ones_are_refused() -> None:
    for suffix in (suffix_of("gzip"), suffix_of("zstd")):
        data = packed(b"a line\n" * 100, f"x{suffix}")
        assert data == packed(b"a line\n" * 100, f"x{suffix}")
        assert unpacked(data, f"x{suffix}") == b"a line\n" * 100
        with pytest.raises(ValueError, match=r".+"):
            unpacked(data[:-9], f"x{suffix}")
    assert suffix_of("auto") == ".jsonl.zst"


def heard(seed: int) -> list[dict[str, object]]:
    """A year of three hosts as four sources tell it: sightings that repeat and contradict, rules, retractions."""
    chance = random.Random(seed)
    told = []
    for number in range(160):
        source = f"source {chance.randrange(4)}"
        claim: dict[str, object] = {"attribute": chance.choice(["state", "rack"])}
        match chance.randrange(12):
            case 0:
                claim |= {"value": chance.choice(["up", "down"]), "kind": "instruction"}
            case 1:
                claim |= {"stance": "retracts", "kind": "instruction"}
            case 2:
                claim |= {"value": chance.choice(["up", "down"]), "stance": "refutes"}
            case _:
                claim |= {"value": chance.choice(["up", "up", "up", "down"])}
        told.append(
            {
                "id": f"o{number}",
                "entity": f"host {chance.randrange(3)}",
                "observed_at": 1_704_067_200 + chance.randrange(300 * 86_400),
                "source": {"id": source, "origin": source, "type": "tool"},
                "agent": source,
                "claims": [claim],
            }
        )
    return told


@pytest.mark.parametrize("seed", range(6))
def test_every_time_is_told_right_or_said_to_be_archived_and_right_again_once_restored(
    open_at: Open, seed: int
) -> None:
    memory = open_at(archive=f"memory://proof-{seed}", archive_after_days=200)
    memory.retain(heard(seed))
    times = [None, *(1_704_067_200_000_000 + day * DAY for day in range(0, 310, 5))]

    def held(at: int | None) -> list[tuple[object, ...]]:
        return sorted((belief.slot, str(belief.value), belief.status) for belief in memory.holders(as_of=at))

    before = {at: held(at) for at in times}
    whole = memory.state_hash(now=ASKED)
    spent = memory.run_job("compaction").counts["archived"]
    memory.run_job("archive")

    assert spent > 20
    assert held(None) == before[None] != []
    said = {at for at in times if at is not None and memory.home.archive.lacking("default", at, None)}
    wrong = {at for at in times if held(at) != before[at]}
    assert wrong <= said
    assert wrong
    assert len(said) < len(times) - 1
    memory.run_job("restore")
    assert {at for at in times if held(at) != before[at]} == set()
    assert memory.state_hash(now=ASKED) == whole
