"""The budget job over NebulaGraph and Milvus and over Ray actors: the same effect as over the embedded stores."""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from test_budget_job import ASKED, PINNED, RULE, chatter, repeats

from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings, MeshSettings, Settings, StoreSettings
from schemas.budget import Budget
from schemas.policy import Policy


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def full(folder: Path, stack: ExitStack, budget: Budget, *, runtime: str = "inline", **stores: str) -> Memory:
    """A rule, something pinned, twenty repeats and forty free statements; an archive with room for a part of them."""
    settings = Settings(
        mesh=MeshSettings(folder=str(folder), runtime=runtime, shards=2),  # type: ignore[arg-type]
        stores=StoreSettings(embedder="hashing:64", **stores),
        jobs=JobSettings(archive_megabytes=0.006 if budget.erase else 1.0),
    )
    memory = stack.enter_context(Memory(settings=settings, clock=lambda: ASKED))
    memory.retain([RULE, PINNED, *repeats(20), *chatter(40)])
    memory.set_policy(Policy(budget=budget))
    return memory


def story(memory: Memory) -> tuple[dict[str, int], list[object]]:
    """What a run does, what it leaves, and what comes back."""
    run = memory.run_job("budget")
    left = memory.state_hash(now=ASKED)
    memory.run_job("restore")
    return run.counts, [run.reasons, left, memory.state_hash(now=ASKED)]


@pytest.mark.nebula
@pytest.mark.milvus
def test_over_nebula_and_milvus_a_run_takes_the_same_steps_with_the_same_effect(
    nebula: str, tmp_path: Path, closing: ExitStack
) -> None:
    pytest.importorskip("milvus_lite", reason="the milvus-lite extra is not installed")
    budget = Budget(beliefs=20, bytes=25_000, erase=True)
    space = f"nebula://{nebula}/b{secrets.token_hex(6)}?heartbeat=0"
    there = full(tmp_path / "there", closing, budget, graph=space, index=f"milvus:///{tmp_path}/index.db")

    told = story(there)

    assert told == story(full(tmp_path / "here", closing, budget))
    assert {name for name in told[0] if name.endswith(" slots")} == {
        "compress slots",
        "demote slots",
        "archive slots",
        "erase slots",
    }
    assert there.doctor().differences == ()


@pytest.mark.ray
@pytest.mark.slow
def test_over_actors_a_run_takes_the_same_steps_with_the_same_effect(tmp_path: Path, closing: ExitStack) -> None:
    pytest.importorskip("ray", reason="the cluster extra is not installed")

    budget = Budget(beliefs=20)

    told = story(full(tmp_path / "there", closing, budget, runtime="ray"))

    assert told == story(full(tmp_path / "here", closing, budget))
    assert told[0]["archive slots"] == 26
