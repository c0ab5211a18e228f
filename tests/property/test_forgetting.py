"""After forgetting, a bank is the bank of one who was never told, whatever was told when, in which batches."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings

NOW = 1_718_020_800_000_000
DAY = 86_400_000_000

CLAIM = st.fixed_dictionaries(
    {
        "attribute": st.sampled_from(["color", "size"]),
        "value": st.sampled_from(["a", "b", "c"]),
        "stance": st.sampled_from(["supports", "supports", "refutes"]),
        "kind": st.sampled_from(["observation", "observation", "instruction"]),
        "scope": st.sampled_from([{}, {"region": "EU"}]),
    }
)
OBSERVATION = st.fixed_dictionaries(
    {
        "entity": st.sampled_from(["shop", "Shop", "house"]),
        "claims": st.lists(CLAIM, min_size=1, max_size=2),
        "observed_at": st.integers(0, 40).map(lambda day: (NOW - day * DAY) / 1_000_000),
        "agent": st.sampled_from(["ann", "bob"]),
        "owner": st.sampled_from(["ann", "bob"]),
        "visibility": st.sampled_from(["bank", "bank", "private"]),
        "session": st.sampled_from(["", "talk"]),
    }
)


def opened(folder: str, name: str) -> Memory:
    stores = StoreSettings(embedder="none:")
    return Memory(
        settings=Settings(mesh=MeshSettings(folder=str(Path(folder) / name), runtime="inline"), stores=stores),
        clock=lambda: NOW,
    )


def tell(memory: Memory, told: list[dict[str, Any]], sizes: list[int]) -> None:
    rest = told
    for size in [*sizes, len(told)]:
        some, rest = rest[:size], rest[size:]
        if some:
            memory.retain(some)


@settings(max_examples=15)
@given(st.lists(OBSERVATION, min_size=1, max_size=8), st.lists(st.integers(1, 3), max_size=4), st.data())
def test_forgetting_is_as_if_it_had_never_been_told(
    observations: list[dict[str, Any]], sizes: list[int], data: st.DataObject
) -> None:
    told = [{**each, "id": f"o{number}"} for number, each in enumerate(observations)]
    forgotten = data.draw(st.sets(st.sampled_from([each["id"] for each in told]), min_size=1))
    kept = [each for each in told if each["id"] not in forgotten]
    with tempfile.TemporaryDirectory() as folder, opened(folder, "all") as memory, opened(folder, "kept") as never:
        tell(memory, told, sizes)
        first, second = sorted(forgotten)[::2], sorted(forgotten)[1::2]
        memory.forget(ids=first)
        if second:
            memory.forget(ids=second)
        memory.retain(told)
        tell(never, kept, sizes[::-1])

        assert memory.state_hash() == never.state_hash()
        assert memory.home.graph.counts("default") == never.home.graph.counts("default")
        assert memory.home.index is not None
        assert never.home.index is not None
        assert memory.home.index.versions("default").keys() == never.home.index.versions("default").keys()
        assert memory.doctor().differences == ()
