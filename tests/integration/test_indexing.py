"""What an index is made of: slots as they are in the graph when their turn comes, whatever a shard remembers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.inline import InlineMesh
from actors.shard import EntityShard
from beliefs.attest import attest
from schemas.audience import PUBLIC
from schemas.evidence import Evidence
from schemas.intake import observation_from
from schemas.slot import Amendment
from stores.local.index import LocalIndex
from stores.ports import IndexFilter
from stores.sqlite.graph import SqliteGraph

NOON = 1_718_020_800_000_000
CITY = {"entity": {"name": "Parcel 7"}, "attribute": "city", "value": "Lyon"}


class House:
    """A graph, an index, and the actors over them."""

    def __init__(self, folder: Path) -> None:
        self.graph = SqliteGraph(folder / "graph.db")
        self.index = LocalIndex(folder / "index", 8, "none")
        self.mesh = InlineMesh(self.graph, self.index, None)

    def found(self, text: str, *readers: str) -> int:
        return len(self.index.keyword(IndexFilter(bank="acme", readers=readers), text, 10))

    def close(self) -> None:
        self.mesh.close()
        self.index.close()
        self.graph.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.close()


def told(text: str, **fields: object) -> tuple[Evidence, ...]:
    return attest(observation_from({"text": text, **fields}, bank="acme", now=NOON), NOON)


def test_what_was_written_is_indexed(house: House) -> None:
    changes = house.mesh.apply({0: told("Parcel 7 came to Lyon")}, NOON)[0]
    assert not isinstance(changes, Exception)

    house.mesh.index(changes, NOON)

    assert house.found("Lyon", PUBLIC) == 1
    assert house.graph.counts("acme")["unindexed"] == 0


def test_a_slot_that_was_erased_before_its_turn_is_not_indexed_although_the_shard_keeps_it(house: House) -> None:
    evidence = told("Parcel 7 came to Lyon")
    changes = house.mesh.apply({0: evidence}, NOON)[0]
    assert not isinstance(changes, Exception)
    house.graph.erase("acme", [piece.slot for piece in evidence])

    house.mesh.index(changes, NOON)

    assert house.found("Lyon", PUBLIC) == 0


@pytest.mark.parametrize("session", ["", "talk"])
def test_words_that_another_process_took_out_before_their_turn_are_not_indexed(house: House, session: str) -> None:
    older, newer = (
        told("", id=id, observed_at=at, session=session, claims=[{**CITY, "statement": statement}])
        for id, at, statement in (("o1", "2024-06-01", "It is in Lyon"), ("o2", "2024-06-02", "A zebra came to Lyon"))
    )
    changes = house.mesh.apply({0: [*older, *newer]}, NOON)[0]
    assert not isinstance(changes, Exception)
    elsewhere = EntityShard(house.graph)
    elsewhere.amend([Amendment(bank="acme", slot=newer[0].slot, remove=(newer[0].id,))], NOON)

    house.mesh.index(changes, NOON)

    assert (house.found("zebra", PUBLIC), house.found("Lyon", PUBLIC)) == (0, 1)
    assert house.graph.counts("acme")["unindexed"] == 0


def test_a_private_word_of_a_session_is_indexed_for_its_owner_with_its_neighbours_and_for_nobody_else(
    house: House,
) -> None:
    private = {"session": "talk", "owner": "ann", "visibility": "private"}
    first = told("Parcel 7 came to Lyon", turn=1, **private)
    second = told("It was opened on the way", turn=2, **private)
    changes = house.mesh.apply({0: [*first, *second]}, NOON)[0]
    assert not isinstance(changes, Exception)

    house.mesh.index(changes, NOON)

    assert house.found("Lyon", PUBLIC) == 0
    assert house.found("Lyon", "u:ann") == 2
