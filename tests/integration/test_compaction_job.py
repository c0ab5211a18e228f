"""Compaction, archive and restore change no belief, lose nothing to writers or kills, and give everything back."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from beliefmesh.evaluate.config import SettingChange, observation_of
from beliefmesh.memory import Memory
from beliefmesh.work import work_on
from jobs.catalogue import JOBS
from jobs.job import Work
from jobs.run import run_job
from recall.render import text
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import SECOND
from schemas.policy import Trust

COMPACTOR = Path(__file__).with_name("compactor.py")
ROOT = Path(__file__).parents[2]
TIMES = (None, "2024-12-01")
ASKED = 1_718_020_800_000_000


def sighting(host: int, day: int, value: str = "up") -> dict[str, object]:
    """A monitor's daily word about a host."""
    return {
        "id": f"o{host}-{day}",
        "entity": f"host {host}",
        "observed_at": f"2024-05-{day:02}",
        "source": {"id": "monitor", "type": "tool"},
        "claims": [{"attribute": "state", "value": value}],
    }


def told(hosts: int) -> list[dict[str, object]]:
    return [sighting(host, day, "down" if day < 4 else "up") for host in range(hosts) for day in range(1, 11)]


def beliefs(memory: Memory) -> list[tuple[object, ...]]:
    """Every live belief with its confidence, now and half a year later."""
    return sorted(
        (belief.slot, belief.value, belief.status, *(memory.explain(belief.id, as_of=at).confidence for at in TIMES))
        for belief in memory.holders()
    )


@pytest.fixture
def watched(open_memory) -> Memory:
    """Ten hosts, each seen daily for ten days: down on three, then up on seven."""
    memory: Memory = open_memory(embedder="none:")
    memory.retain(told(10))
    return memory


def test_compaction_archives_what_was_said_again_and_changes_no_belief(watched: Memory) -> None:
    before, whole = beliefs(watched), watched.state_hash(now=ASKED)

    run = watched.run_job("compaction")

    assert run.counts == {"slots": 10, "archived": 80}
    assert run.bytes > 0
    assert run.reasons == {"the same voice said the same again later": 80}
    assert "for which" in run.examples[0]
    assert watched.stats("default")["banks"]["default"]["evidence"] == 20
    assert beliefs(watched) == before
    assert watched.doctor().differences == ()
    assert watched.run_job("compaction").counts == {"slots": 10}

    restored = watched.run_job("restore")

    assert restored.counts == {"files": 1, "restored": 80}
    assert watched.state_hash(now=ASKED) == whole
    assert watched.doctor().differences == ()
    assert not list((watched.home.folder.path / "archive").rglob("*.jsonl*"))


def test_a_dry_run_says_what_would_go_and_changes_nothing(watched: Memory) -> None:
    before = watched.state_hash(now=ASKED)

    run = watched.run_job("compaction", mode="dry run")

    assert (run.counts, run.bytes) == ({"slots": 10, "archived": 80}, 0)
    assert watched.state_hash(now=ASKED) == before


def test_a_question_about_an_archived_time_says_so_until_it_is_restored(watched: Memory) -> None:
    def asked(as_of: str | None) -> tuple[bool, list[object]]:
        answer = watched.recall("state of host 3", as_of=as_of, limit=1)
        return answer.archived, [found.belief.value for found in answer.found]

    watched.run_job("compaction")

    assert asked(None) == (False, ["up"])
    assert asked("2024-05-20") == (False, ["up"])
    assert asked("2024-05-05")[0] is True
    assert "lies in the archive" in text(watched.recall("state of host 3", as_of="2024-05-05"))
    watched.run_job("restore")
    assert asked("2024-05-05") == (False, ["up"])
    assert asked("2024-05-02") == (False, ["down"])


def test_what_nobody_spoke_of_for_a_year_is_archived_whole_and_comes_back(open_memory, clock) -> None:
    memory: Memory = open_memory(embedder="none:", clock=clock)
    rule = {"attribute": "limit", "value": 3, "kind": "instruction"}
    memory.retain([*told(2), {"id": "rule", "entity": "host 0", "observed_at": "2024-05-01", "claims": [rule]}])
    clock.set("2025-05-09T00:00:00Z")
    assert memory.run_job("archive").counts == {"slots": 3}
    clock.set("2025-06-01T00:00:00Z")
    whole = memory.state_hash(now=ASKED)

    run = memory.run_job("archive")

    assert run.counts == {"slots": 3, "archived": 20}
    assert [belief.value for belief in memory.holders()] == [3]
    counts = memory.stats("default")["banks"]["default"]
    assert (counts["slots"], counts["beliefs"], counts["evidence"]) == (1, 1, 1)
    assert memory.doctor().differences == ()
    assert memory.recall("state of host 1", as_of="2024-06-01").archived
    memory.run_job("restore")
    assert memory.state_hash(now=ASKED) == whole
    assert memory.doctor().differences == ()


def test_settings_are_read_right_at_every_time_after_compaction_and_archive(open_memory) -> None:
    """Instructions are never spent; what `eval config` asks stays right, now and as of any time."""
    changes = [
        SettingChange(f"c{number}", 1_700_000_000 + 100 * number, "ann", f"app{number % 3}.toml", "port", value)
        for number, value in enumerate([80, 81, 80, 80, 82, None, 80, 80, 83])
    ]
    memory: Memory = open_memory(embedder="none:", bank="config")
    memory.retain([observation_of(change) for change in changes])
    times = [None, *(change.at for change in changes)]

    def read(at: int | None) -> list[tuple[object, ...]]:
        as_of = None if at is None else at * SECOND
        return sorted((belief.slot, belief.value) for belief in memory.holders(as_of=as_of))

    before = [read(at) for at in times]
    memory.run_job("compaction")
    memory.run_job("archive")

    assert before[0] == before[-1] != []
    assert [read(at) for at in times] == before


def pieces_of(memory: Memory) -> list[Evidence]:
    stored = memory.home.graph.load_slots("default", memory.home.graph.scan("default", "", 99))
    return [piece for id in sorted(stored) for piece in stored[id].evidence]


class Slow:
    """A mesh of which one amendment waits, after the archive is written, until others have written."""

    def __init__(self, mesh, reached: threading.Event, go: threading.Event) -> None:
        self._mesh, self._reached, self._go = mesh, reached, go

    def amend(self, amendments, now):
        self._reached.set()
        assert self._go.wait(60)
        return self._mesh.amend(amendments, now)

    def __getattr__(self, name: str):
        return getattr(self._mesh, name)


def work_of(memory: Memory, **other) -> Work:
    return msgspec.structs.replace(work_on(memory.home, "default", JOBS["compaction"]), **other)


def test_a_slow_compaction_loses_nothing_of_what_a_hundred_writers_say_meanwhile(watched: Memory, open_memory) -> None:
    reached, go = threading.Event(), threading.Event()
    slow = work_of(watched, mesh=Slow(watched.home.mesh, reached, go))
    compaction = threading.Thread(target=lambda: run_job(JOBS["compaction"], slow, watched.home.ledger))
    new = [sighting(writer % 10, 11 + writer % 15, f"v{writer % 3}") | {"id": f"w{writer}"} for writer in range(100)]

    compaction.start()
    assert reached.wait(60)
    writers = [threading.Thread(target=watched.retain, args=(one,)) for one in new]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    go.set()
    compaction.join()
    watched.home.worker.drain()

    assert watched.doctor().differences == ()
    compacted = beliefs(watched)
    undisturbed: Memory = open_memory("undisturbed", embedder="none:")
    undisturbed.retain([*told(10), *new])
    assert compacted == beliefs(undisturbed)
    watched.run_job("restore")
    assert watched.state_hash(now=ASKED) == undisturbed.state_hash(now=ASKED)
    kept = watched.home.graph.evidence_of_observations("default", [str(one["id"]) for one in new])
    assert {piece.observation_id for piece in kept} == {one["id"] for one in new}


def test_a_slot_that_moved_on_is_not_amended_at_the_version_that_was_read(watched: Memory) -> None:
    slot = watched.home.graph.scan("default", "", 1)[0]
    calls: list[int] = []

    class Outrun:
        """A mesh in which somebody else always writes first."""

        def amend(self, amendments, now):
            calls.append(len(amendments))
            host = next(s for s in watched.home.graph.load_slots("default", [slot]).values()).slot.entity.name
            watched.retain(sighting(int(host.split()[1]), 20 + len(calls)) | {"id": f"late {len(calls)}"})
            return watched.home.mesh.amend(amendments, now)

    run = run_job(JOBS["compaction"], work_of(watched, mesh=Outrun()), watched.home.ledger)

    assert calls == [10, 1, 1]
    assert run.counts == {"slots": 10, "archived": 72, "moved on": 1}
    assert watched.run_job("compaction").counts["archived"] == 11
    assert watched.doctor().differences == ()


@pytest.mark.slow
@pytest.mark.parametrize("job", ["compaction", "compaction-digests", "archive", "restore", "reindex", "calibrate"])
def test_a_job_killed_before_any_step_is_completed_by_the_next_run(job: str, open_memory, tmp_path: Path) -> None:
    """A process kills itself before the n-th call that the job makes of mesh, graph, archive or ledger, for all n."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(COMPACTOR), str(tmp_path), job]
    done = subprocess.run(command, env=environment, timeout=240, capture_output=True, text=True, check=True)

    def state(folder: str) -> tuple[str, tuple[str, ...], int, Trust, tuple[object, ...]]:
        memory: Memory = open_memory(folder, embedder="none:", at="2026-06-10T12:00:00Z")
        archived, trust = memory.home.archive.size("default"), memory.home.graph.policy("default").trust
        found = memory.state_hash(now=ASKED), memory.doctor().differences, archived, trust, voices(memory)
        memory.close()
        return found

    def voices(memory: Memory) -> tuple[object, ...]:
        """How many pieces are without words, and all evidence once these are back."""
        if job != "compaction-digests":
            return ()
        wordless = sum(bool(piece.digest) for piece in pieces_of(memory))
        memory.run_job("restore")
        return wordless, repr(pieces_of(memory))

    kills = int(done.stdout)
    assert kills > 4
    assert {state(f"killed-{step}") for step in range(1, kills + 1)} == {state("whole")}
    _, differences, _, trust, _ = state("whole")
    assert differences == ()
    assert (trust.outcomes > 0) is (job == "calibrate")


def test_what_is_forgotten_is_in_no_archive_and_does_not_come_back(watched: Memory) -> None:
    watched.run_job("compaction")

    report = watched.forget(source="monitor")

    assert (report.observations, report.evidence) == (100, 100)
    folder = watched.home.folder.path
    assert not list((folder / "archive").rglob("*.jsonl*"))
    assert watched.home.archive.size("default") == 0
    assert not [file for file in folder.rglob("*") if file.is_file() and b"host 3" in file.read_bytes()]
    assert "restored" not in watched.run_job("restore").counts
    assert list(watched.holders()) == []
    assert watched.doctor().differences == ()


def test_an_archive_that_is_damaged_is_refused_and_nothing_is_lost(watched: Memory) -> None:
    watched.run_job("compaction")
    (file,) = (watched.home.folder.path / "archive").rglob("*.jsonl*")
    good = file.read_bytes()
    file.write_bytes(good[:50])

    with pytest.raises(StoreUnavailable, match="cannot be read"):
        watched.run_job("restore")
    assert "cannot be read" in watched.job_runs("restore")[0].failed
    file.write_bytes(good)
    assert watched.run_job("restore").counts == {"files": 1, "restored": 80}
