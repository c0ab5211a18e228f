"""However deep, wide or circular derivations are, what is read and judged of them is bounded (design 3.7)."""

import tracemalloc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from beliefs import premises
from beliefs.premises import MAX_CYCLE, MAX_DEEP, Beneath, fallen_premises
from recall.chain import EXPLAINED
from recall.render import explanation_text
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, parse_instant
from schemas.observation import Source
from schemas.policy import DEFAULT_POLICY
from schemas.slot import belief_id, slot_id

NOW = parse_instant("2024-06-10T00:00:00Z", "now")


def slot_of(name: str) -> str:
    return slot_id("team", Entity(name), "state")


def so(name: str) -> str:
    return belief_id(slot_of(name), (), "so")


def said(name: str, *beneath: str) -> Evidence:
    """That something is so, seen, or concluded from what others are."""
    return Evidence(
        id=f"e-{name}-{len(beneath)}",
        bank="team",
        slot=slot_of(name),
        entity=Entity(name),
        observation_id=f"o-{name}",
        source=Source(f"{name} {len(beneath)}"),
        effective_at=NOW - DAY,
        observed_at=NOW - DAY,
        statement=f"{name} is so",
        attribute="state",
        value="so",
        premises=tuple(so(one) for one in beneath),
    )


def beneath_of(pieces: Iterable[Evidence]) -> Beneath:
    by_slot: dict[str, list[Evidence]] = {}
    for piece in pieces:
        by_slot.setdefault(piece.slot, []).append(piece)
    homes = {so(piece.entity.name): (piece.slot, so(piece.entity.name)) for some in by_slot.values() for piece in some}
    return Beneath(by_slot, homes)


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how often a slot is resolved while premises are judged."""
    times = [0]
    resolve = premises.resolve

    def counted(evidence: Sequence[Evidence], *more: Any) -> Any:
        times[0] += 1
        return resolve(evidence, *more)

    monkeypatch.setattr(premises, "resolve", counted)
    return times


def chain(length: int) -> Iterator[Evidence]:
    yield said("step 0")
    for number in range(1, length):
        yield said(f"step {number}", f"step {number - 1}")


def test_a_chain_counts_up_to_a_thousand_steps_and_each_is_judged_once(resolved: list[int]) -> None:
    fallen = fallen_premises(beneath_of(chain(MAX_DEEP + 200)), DEFAULT_POLICY, NOW)

    assert [number for number in range(MAX_DEEP + 199) if so(f"step {number}") in fallen] == list(
        range(MAX_DEEP + 1, MAX_DEEP + 199)
    )
    assert resolved[0] == MAX_DEEP + 1


def test_a_fan_of_a_thousand_is_judged_with_one_look_at_each(resolved: list[int]) -> None:
    names = [f"part {number}" for number in range(1_000)]
    fan = beneath_of([said("root"), *(said(name, "root") for name in names), said("whole", *names)])

    assert fallen_premises(fan, DEFAULT_POLICY, NOW) == {}
    assert resolved[0] <= 1_002


@pytest.mark.parametrize("length", [2, 10, MAX_CYCLE])
def test_a_cycle_supports_nothing_until_one_of_it_is_seen(resolved: list[int], length: int) -> None:
    names = [f"link {number}" for number in range(length)]
    circle = [said(name, names[place - 1]) for place, name in enumerate(names)]

    assert fallen_premises(beneath_of(circle), DEFAULT_POLICY, NOW).keys() == {so(name) for name in names}
    assert fallen_premises(beneath_of([*circle, said(names[0])]), DEFAULT_POLICY, NOW) == {}
    assert resolved[0] <= 5 * length


def test_a_cycle_beyond_the_bound_supports_nothing_and_is_not_gone_through(resolved: list[int]) -> None:
    names = [f"link {number}" for number in range(MAX_CYCLE + 400)]
    circle = [said(name, names[place - 1]) for place, name in enumerate(names)]

    fallen = fallen_premises(beneath_of([*circle, said(names[0])]), DEFAULT_POLICY, NOW)

    assert fallen.keys() == {so(name) for name in names}
    assert resolved[0] == 0


def test_judging_a_long_chain_takes_little_memory() -> None:
    long = beneath_of(chain(MAX_DEEP))
    tracemalloc.start()
    try:
        fallen_premises(long, DEFAULT_POLICY, NOW)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * 1_048_576


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline", bank="team"),
        stores=StoreSettings(embedder="none:"),
    )
    with Memory(settings=settings, clock=lambda: NOW) as opened:
        yield opened


def told(name: str, *beneath: str, value: str = "so", day: int = 1) -> Mapping[str, Any]:
    claim: dict[str, Any] = {"entity": name, "attribute": "state", "value": value}
    if beneath:
        claim |= {"kind": "derivation", "premises": [so(one) for one in beneath]}
    return {"source": f"{name} {value}", "observed_at": f"2024-06-{day:02}", "claims": [claim]}


def test_a_chain_of_more_than_a_thousand_falls_as_a_whole_and_is_explained_from_its_top(
    memory: Memory, resolved: list[int]
) -> None:
    names = [f"step {number}" for number in range(MAX_DEEP + 1)]
    memory.retain([told(names[0]), *(told(name, names[at]) for at, name in enumerate(names[1:]))])
    top = so(names[-1])

    resolved[0] = 0
    account = memory.explain(top)
    assert account.belief.status == "active"
    assert resolved[0] <= MAX_DEEP + 1
    assert [(one.depth, one.of) for one in account.premises] == [
        (depth, so(names[-depth])) for depth in range(1, EXPLAINED + 1)
    ]
    lines = explanation_text(account).splitlines()
    assert lines[lines.index("Concluded from:") + 1].strip().startswith(f"{so(names[-2])[:13]}: ")

    memory.retain(told(names[0], value="not so", day=2))
    held = memory.home.graph.beliefs("team", [so(name) for name in names])
    assert {belief.status for belief in held.values()} == {"revoked"}
    assert not any(one.held for one in memory.explain(top).premises)


def test_a_cycle_of_more_than_a_hundred_is_held_by_nothing_but_what_was_seen(memory: Memory) -> None:
    names = [f"link {number}" for number in range(MAX_CYCLE + 20)]
    memory.retain([told(name, names[at - 1]) for at, name in enumerate(names)])
    memory.retain(told(names[0], day=3))

    held = memory.home.graph.beliefs("team", [so(name) for name in names])

    assert [name for name in names if held[so(name)].status == "active"] == [names[0]]
    assert {found.belief.entity.name for found in memory.recall("link state", limit=100).found} == {names[0]}
