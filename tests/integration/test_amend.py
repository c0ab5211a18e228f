"""A shard amends its slots: for good, from memory too, and so that the index can follow."""

from pathlib import Path

from actors.shard import EntityShard
from beliefs.attest import attest
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Observation, Source
from schemas.slot import Amendment
from stores.sqlite.graph import SqliteGraph

SHOP = Entity("shop")


def told(id: str, value: str, *, attribute: str = "color", turn: int | None = None) -> Evidence:
    claim = Claim(entity=SHOP, attribute=attribute, value=value, statement=f"{attribute} is {value}")
    observation = Observation(
        id=id,
        bank="acme",
        source=Source(id),
        observed_at=DAY,
        claims=(claim,),
        session="talk" if turn else "",
        turn=turn,
    )
    return attest(observation, DAY)[0]


def test_amended_evidence_is_gone_from_the_graph_and_from_memory(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    shard = EntityShard(graph)
    red, blue = told("o1", "red"), told("o2", "blue")
    shard.apply([red, blue], DAY)

    (change,) = shard.amend([Amendment(bank="acme", slot=red.slot, remove=(red.id, "unknown"))], 2 * DAY)
    shard.apply([told("o3", "blue")], 3 * DAY)

    assert (change.removed, change.refresh) == (1, (red.slot,))
    assert len(change.gone) == 1
    stored = graph.load_slots("acme", [red.slot])[red.slot]
    assert {piece.observation_id for piece in stored.evidence} == {"o2", "o3"}
    assert [belief.value for belief in stored.slot.beliefs] == ["blue"]


def test_amending_again_does_nothing(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    shard = EntityShard(graph)
    red = told("o1", "red")
    shard.apply([red, told("o2", "blue")], DAY)
    amendment = Amendment(bank="acme", slot=red.slot, remove=(red.id,))
    shard.amend([amendment], 2 * DAY)

    (change,) = shard.amend([amendment], 2 * DAY)

    assert (change.removed, change.slot_version) == (0, 2)


def test_a_slot_that_ends_is_let_go_of_and_may_begin_anew(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    shard = EntityShard(graph)
    red = told("o1", "red")
    shard.apply([red], DAY)

    (change,) = shard.amend([Amendment(bank="acme", slot=red.slot, remove=(red.id,))], 2 * DAY)

    assert len(change.gone) == 1
    assert graph.banks() == []
    shard.apply([told("o2", "blue")], 3 * DAY)
    stored = graph.load_slots("acme", [red.slot])[red.slot]
    assert (stored.slot.version, [belief.value for belief in stored.slot.beliefs]) == (1, ["blue"])


def test_a_slot_that_ended_and_began_anew_elsewhere_is_not_taken_for_the_one_that_was_kept(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    owner, keeper, next_owner = EntityShard(graph), EntityShard(graph), EntityShard(graph)
    red, blue = told("o1", "red"), told("o2", "blue")
    owner.apply([red], DAY)
    keeper.amend([Amendment(bank="acme", slot=red.slot, remove=(red.id,))], 2 * DAY)
    next_owner.apply([blue], 3 * DAY)

    owner.drop_all()
    owner.apply([told("o3", "blue")], 4 * DAY)

    stored = graph.load_slots("acme", [red.slot])[red.slot]
    assert sorted(piece.observation_id for piece in stored.evidence) == ["o2", "o3"]
    assert [belief.value for belief in stored.slot.beliefs] == ["blue"]


def test_a_change_names_the_slots_that_stand_beside_in_the_session(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    shard = EntityShard(graph)
    first, second, third = (told(f"o{n}", "x", attribute=f"part {n}", turn=n) for n in (1, 2, 3))
    far = told("o9", "x", attribute="far", turn=9)
    shard.apply([first, second, third, far], DAY)

    (change,) = shard.amend([Amendment(bank="acme", slot=second.slot, remove=(second.id,))], 2 * DAY)

    assert set(change.refresh) == {first.slot, third.slot}
