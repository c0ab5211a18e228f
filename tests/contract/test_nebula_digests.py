"""What failures of NebulaGraph leave of a digest: its voices are always read, and it goes when none is left."""

from collections.abc import Callable
from typing import Any

import pytest
from graph_faults import Fault

from schemas.digest import wordless
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.slot import Decision, StoredSlot
from stores.nebula import statements as ngql
from stores.nebula.graph import NebulaGraph
from stores.nebula.pieces import pieces_in
from stores.nebula.script import Line, Script, quoted, vids
from stores.nebula.vid import vid
from stores.nebula.voices import body_of

pytestmark = pytest.mark.nebula

COMMIT = "UPDATE VERTEX ON `slot`"
REQUESTS = ("FETCH PROP ON `slot`", "UPSERT VERTEX ON `slot`", "INSERT VERTEX `digest`", COMMIT)
Opener = Callable[..., NebulaGraph]


@pytest.fixture
def chorus(evidence: Callable[..., Evidence], decision: Callable[..., Decision]) -> tuple[Decision, Decision]:
    """What makes s1 of three pieces, and what makes voices of them."""
    pieces = tuple(evidence(f"e{n}", observation=f"o{n}", statement=f"{n} says A") for n in range(3))
    voices = tuple(map(wordless, pieces))
    return decision(adds=pieces), decision(expected=1, adds=voices, removes=tuple(piece.id for piece in pieces))


def digests_in(store: NebulaGraph, said: Decision) -> int:
    """How many rows there are of the digest that a decision's evidence may be voices of."""
    ends = vids({vid("acme", wordless(piece).digest) for piece in said.evidence})
    return len(store.sessions.read(ngql.FETCH_DIGESTS, vids=ends))


def test_voices_that_a_dead_writer_left_are_read_and_the_words_take_their_place_and_the_digests(
    graphd: Any,
    opener: Opener,
    chorus: tuple[Decision, Decision],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    told, silenced = chorus
    dead, alive = opener(timeout=0.2), opener(claim_timeout=0.2)
    dead.apply([told])
    graphd.fail_next(COMMIT, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        dead.apply([silenced])
    graphd.faults.clear()
    assert alive.load_slots("acme", ["s1"])["s1"] == StoredSlot(told.slot, silenced.evidence)

    alive.apply([decision(expected=1, adds=(evidence("e9"),))])
    assert alive.load_slots("acme", ["s1"])["s1"].evidence == (*silenced.evidence, evidence("e9"))
    assert digests_in(alive, told) == 1
    stale = [row["body"] for row in alive.sessions.read(ngql.HELD_EVIDENCE, vids=vids([vid("acme", "s1")]))]

    alive.apply([decision(expected=2, adds=told.evidence)])

    assert alive.load_slots("acme", ["s1"])["s1"].evidence == (*told.evidence, evidence("e9"))
    assert digests_in(alive, told) == 0
    again = pieces_in(alive.sessions, "acme", stale)
    assert sorted(piece.id for piece in again if piece is not None and piece.statement) == ["e0", "e1", "e2", "e9"]


def test_a_digest_without_voices_that_a_dead_writer_left_goes_with_the_next_write(
    graphd: Any, opener: Opener, chorus: tuple[Decision, Decision], decision: Callable[..., Decision]
) -> None:
    told, silenced = chorus
    dead, alive = opener(timeout=0.2), opener(claim_timeout=0.2)
    dead.apply([told])
    graphd.fail_next(COMMIT, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        dead.apply([silenced])
    graphd.faults.clear()
    rows = [Line(ngql.EVIDENCE_ROW, row_of(piece)) for piece in told.evidence]
    words = Script()
    words.add_rows(ngql.INSERT_EVIDENCE, rows)
    alive.sessions.write(words)  # as if it had died between its digest and its voices
    assert digests_in(alive, told) == 1

    alive.apply([decision(expected=1)])

    assert digests_in(alive, told) == 0
    assert alive.load_slots("acme", ["s1"])["s1"].evidence == told.evidence


def row_of(piece: Evidence) -> dict[str, Any]:
    return {"vid": quoted(vid("acme", piece.id)), "bank": "acme", "id": piece.id, "body": body_of(piece)}


@pytest.mark.parametrize("request_of", REQUESTS, ids=["read", "claim", "write", "commit"])
@pytest.mark.parametrize("fault", [Fault.CUT, Fault.HALF, Fault.REPLY_LOST], ids=lambda fault: fault.name.lower())
def test_one_failure_of_any_request_leaves_all_voices_and_their_digest(
    graphd: Any, opener: Opener, chorus: tuple[Decision, Decision], fault: Fault, request_of: str
) -> None:
    store = opener()
    store.apply([chorus[0]])
    graphd.fail_next(request_of, fault)

    store.apply([chorus[1]])

    assert store.load_slots("acme", ["s1"])["s1"] == StoredSlot(chorus[1].slot, chorus[1].evidence)
    assert store.erase("acme", ["s1"]) == 1
    assert digests_in(store, chorus[0]) == 0
