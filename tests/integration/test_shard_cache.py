"""How much a shard keeps of its slots is what the settings say, in this process and as an actor."""

from collections.abc import Callable
from pathlib import Path

import pytest

from actors.kept import SHARD_CACHE_MB
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings
from beliefs.attest import attest
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.observation import Observation, Source
from stores.ports import StoreUrls

CACHES = pytest.mark.parametrize(("shard_cache_mb", "hits"), [(1, 1), (0, 0)])


def status(number: int, value: str) -> list[Evidence]:
    claim = Claim(entity=Entity("order 7"), attribute="status", value=value)
    told = Observation(id=f"o{number}", bank="b", source=Source("s"), observed_at=number, claims=(claim,))
    return list(attest(told, number))


@CACHES
def test_a_slot_is_found_kept_where_there_is_room_for_any(
    open_memory: Callable[..., Memory], shard_cache_mb: int, hits: int
) -> None:
    memory = open_memory(embedder="none:", shard_cache_mb=shard_cache_mb)
    memory.retain(["The status of order 7 is open."])

    memory.retain(["The status of order 7 is closed."])

    assert memory.home.mesh.counts().get("cache.slots.hit", 0) == hits
    assert memory.recall("What is the status of order 7?").found[0].belief.value == "closed"


@CACHES
def test_the_shard_of_an_actor_keeps_slots_where_there_is_room(tmp_path: Path, shard_cache_mb: int, hits: int) -> None:
    shells = pytest.importorskip("actors.cluster.shells", reason="the cluster extra is not installed")
    actor = shells.ShardActor(StoreUrls(f"sqlite:///{tmp_path}/graph.db", "", "", "none:"), 1, shard_cache_mb)
    actor.apply(status(1, "open"), 1, {})

    actor.apply(status(2, "closed"), 2, {})

    assert actor.counts()["cache.slots.hit"] == hits


def test_the_settings_and_the_shard_have_one_default() -> None:
    assert MeshSettings().shard_cache_mb == SHARD_CACHE_MB
