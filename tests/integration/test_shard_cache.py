"""How much a shard keeps of its slots is what the settings say, in this process and as an actor."""

from pathlib import Path

import pytest

from beliefs.attest import attest
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.observation import Observation, Source
from stores.ports import StoreUrls

ROOM = pytest.mark.parametrize(("shard_cache_mb", "found"), [(1, 1), (0, 0)])


@ROOM
def test_a_slot_is_found_kept_where_there_is_room_for_any(open_memory, shard_cache_mb: int, found: int) -> None:
    memory = open_memory(embedder="none:", shard_cache_mb=shard_cache_mb)
    memory.retain(["The status of order 7 is open."])

    memory.retain(["The status of order 7 is closed."])

    assert memory.home.mesh.counts().get("cache.slots.hit", 0) == found
    assert memory.recall("What is the status of order 7?").found[0].belief.value == "closed"


@ROOM
def test_so_it_is_by_the_shard_of_an_actor(tmp_path: Path, shard_cache_mb: int, found: int) -> None:
    shells = pytest.importorskip("actors.cluster.shells", reason="the cluster extra is not installed")
    urls = StoreUrls(f"sqlite:///{tmp_path}/graph.db", "", "", "none:", shard_cache_mb=shard_cache_mb)
    actor = shells.ShardActor(urls, 1)
    for number, value in enumerate(("open", "closed")):
        claim = Claim(entity=Entity("order 7"), attribute="status", value=value)
        told = Observation(id=f"o{number}", bank="b", source=Source("s"), observed_at=number, claims=(claim,))
        actor.apply(list(attest(told, number)), number, {})

    assert actor.counts()["cache.slots.hit"] == found
