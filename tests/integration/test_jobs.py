"""Jobs over a memory: decay touches what is due and nothing else; runs stop, go on, and are kept."""

import pytest

from beliefmesh.memory import Memory
from beliefmesh.scheduled import scheduled
from schemas.errors import Busy, InvalidInput, NotFound
from stores.owner import new_owner


def told(number: int, day: str, **fields) -> dict[str, object]:
    claim = {"attribute": "state", "value": "up"}
    return {"id": f"o{number}", "entity": f"host {number}", "observed_at": day, "claims": [claim], **fields}


@pytest.fixture
def aged(open_memory, clock) -> Memory:
    """A hundred old sightings and as many of today, not asked since time passed: the old ones are due."""
    memory: Memory = open_memory(clock=clock, embedder="none:")
    clock.set("2024-06-01T00:00:00Z")
    memory.retain([told(number, "2024-05-31") for number in range(100)])
    clock.set("2024-09-01T00:00:00Z")
    memory.home.worker._due = lambda now, limit: []  # the stream leaves what is due to the job
    memory.retain([told(number, "2024-08-31") for number in range(100, 200)])
    return memory


def statuses(memory: Memory) -> dict[str, int]:
    counts = memory.stats("default")["banks"]["default"]
    return {name: count for name, count in counts.items() if name.startswith("status.") and count}


def test_decay_works_in_proportion_to_what_is_due(aged: Memory) -> None:
    run = aged.run_job("decay")

    assert run.counts == {"slots": 100, "changed": 100}
    assert run.reasons == {"active to stale": 100}
    assert run.ended is not None
    assert statuses(aged) == {"status.active": 100, "status.stale": 100}
    assert aged.run_job("decay").counts == {}
    assert aged.doctor().differences == ()


@pytest.mark.parametrize("mode", ["dry run", "shadow"])
def test_a_run_that_only_decides_reports_the_same_and_changes_nothing(aged: Memory, mode) -> None:
    before = statuses(aged)

    run = aged.run_job("decay", mode=mode)

    assert (run.counts, run.reasons) == ({"slots": 100, "changed": 100}, {"active to stale": 100})
    assert statuses(aged) == before
    assert aged.run_job("decay").counts == {"slots": 100, "changed": 100}


def test_a_run_that_was_stopped_goes_on_where_it_was(aged: Memory, monkeypatch) -> None:
    monkeypatch.setattr("jobs.decay.PAGE", 30)
    pages: list[int] = []

    stopped = aged.run_job("decay", told=lambda run: pages.append(run.pages), enough=lambda: len(pages) == 2)
    assert (stopped.ended, stopped.counts["slots"]) == (None, 60)
    done = aged.run_job("decay")

    assert (done.id, done.pages, done.counts["slots"]) == (stopped.id, 4, 100)
    assert [run.id for run in aged.job_runs("decay")] == [done.id]


def test_reindex_makes_every_row_anew(aged: Memory) -> None:
    assert aged.home.index is not None
    aged.home.index.drop("default")
    assert aged.doctor().healthy is False

    run = aged.run_job("reindex")

    assert run.counts == {"beliefs": 200, "indexed": 200}
    assert aged.doctor().differences == ()


def test_reindexing_goes_on_with_the_slots_that_are_left(aged: Memory, monkeypatch) -> None:
    monkeypatch.setattr("jobs.reindex.PAGE", 60)
    pages: list[int] = []
    embedded: list[int] = []
    assert aged.home.index is not None
    upsert = aged.home.index.upsert

    def counted(rows, vectors) -> None:
        embedded.append(len(rows))
        upsert(rows, vectors)

    monkeypatch.setattr(aged.home.index, "upsert", counted)
    stopped = aged.run_job("reindex", told=lambda run: pages.append(run.pages), enough=lambda: len(pages) == 3)
    assert (stopped.counts, sum(embedded)) == ({"beliefs": 200, "indexed": 120}, 120)

    done = aged.run_job("reindex")

    assert (done.id, done.counts, sum(embedded)) == (stopped.id, {"beliefs": 200, "indexed": 200}, 200)
    assert aged.doctor().differences == ()
    assert aged.run_job("reindex", mode="dry run").counts == {"beliefs": 200}


def test_one_job_a_bank_at_a_time(memory: Memory) -> None:
    memory.home.ledger.take("default", new_owner(), memory.home.clock())

    with pytest.raises(Busy, match="a job runs on bank default already"):
        memory.run_job("decay")
    assert memory.run_job("decay", bank="other").counts == {}


def test_what_cannot_be_run_is_refused_by_name(memory: Memory) -> None:
    with pytest.raises(NotFound, match="there is no job 'dekay'; there are decay, compaction"):
        memory.run_job("dekay")
    with pytest.raises(InvalidInput, match="mode: 'fast' is not a mode; use one of apply, shadow, dry run"):
        memory.run_job("decay", mode="fast")  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="there is no job"):
        memory.job_runs("nothing")
    with pytest.raises(InvalidInput, match="limit"):
        memory.job_runs(limit=0)


def test_the_schedule_runs_what_is_due_while_the_mesh_is_up(aged: Memory) -> None:
    with scheduled(aged):
        for _ in range(2_000):
            if runs := [run for run in aged.job_runs("decay") if run.ended is not None]:
                break
            aged.home.worker._stop.wait(0.005)

    assert [(run.mode, run.counts["slots"]) for run in runs] == [("apply", 100)]


def test_a_dry_run_over_many_pages_sees_each_slot_once(aged: Memory, monkeypatch) -> None:
    monkeypatch.setattr("jobs.decay.PAGE", 10)

    run = aged.run_job("decay", mode="dry run")

    assert (run.counts["slots"], run.reasons) == (100, {"active to stale": 100})
    assert run.pages == 4
