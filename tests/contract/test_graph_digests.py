"""How a graph store keeps the voices of a digest: each is found and removed like any evidence, and comes back whole."""

from collections.abc import Callable

import msgspec
import pytest

from schemas.belief import Belief
from schemas.digest import digest_id, shared, wordless
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence, contents
from schemas.observation import Source
from schemas.slot import Decision
from stores.ports import GraphStore

Made = Callable[..., Evidence]
Decided = Callable[..., Decision]

GUEST = Entity("Guest", "person")


def told(evidence: Made, n: int, **other: object) -> Evidence:
    """What the n-th source says in its own words, on a day of its own."""
    piece = evidence(f"e{n}", observation=f"o{n}", statement=f"Source {n} says A", at=1_000 + n, ingested_at=2_000 + n)
    source = Source(f"site {n}", origin="wire" if n % 2 else "", type="ticket")
    return msgspec.structs.replace(piece, source=source, agent=f"agent {n}", weight=0.5 + n, observed_at=7 + n, **other)


def held(store: GraphStore, slot: str = "s1") -> tuple[Evidence, ...]:
    return store.load_slots("acme", [slot])[slot].evidence


def test_voices_take_the_place_of_words_and_come_back_as_they_are(
    graph_store: GraphStore, reopen_graph: Callable[[], GraphStore], evidence: Made, decision: Decided
) -> None:
    whole = [told(evidence, n) for n in range(4)]
    odd = told(evidence, 4, scheduled=True, turn=3, extractor="rule:en", value=True, mentions=(GUEST,))
    graph_store.apply([decision(adds=(*whole, odd))])

    voices = [*map(wordless, whole[:3]), wordless(odd)]
    graph_store.apply([decision(expected=1, adds=tuple(voices), removes=("e0", "e1", "e2", "e4"))])

    expected = (*voices[:3], whole[3], voices[3])
    for store in (graph_store, reopen_graph()):
        assert held(store) == expected
        assert store.evidence("acme", ["e1", "e3"]) == {"e1": voices[1], "e3": whole[3]}
        assert store.evidence_of_observations("acme", ["o4", "o2"]) == [voices[2], voices[3]]
        assert store.counts("acme")["evidence"] == 5
    assert held(graph_store)[4].value is True
    assert voices[0].digest == voices[1].digest != voices[3].digest


def test_one_voice_leaves_and_the_others_stay_until_all_are_gone(
    graph_store: GraphStore, evidence: Made, decision: Decided
) -> None:
    voices = [wordless(told(evidence, n)) for n in range(3)]
    graph_store.apply([decision(adds=(*voices, told(evidence, 9)))])

    graph_store.apply([decision(expected=1, removes=("e1",))])
    assert [piece.id for piece in held(graph_store)] == ["e0", "e2", "e9"]
    assert held(graph_store)[0] == voices[0]
    assert graph_store.evidence_of_observations("acme", ["o1"]) == []

    graph_store.apply([decision(expected=2, removes=("e0", "e2"))])
    assert held(graph_store) == (told(evidence, 9),)

    graph_store.apply([decision(expected=3, adds=(voices[1],))])
    assert held(graph_store) == (voices[1], told(evidence, 9))


def test_words_take_the_place_of_a_voice_and_no_voice_that_of_words(
    graph_store: GraphStore, evidence: Made, decision: Decided
) -> None:
    whole = [told(evidence, n) for n in range(3)]
    graph_store.apply([decision(adds=tuple(map(wordless, whole)))])

    graph_store.apply([decision(expected=1, adds=(whole[0],))])
    assert held(graph_store) == (whole[0], wordless(whole[1]), wordless(whole[2]))

    graph_store.apply([decision(expected=2, adds=(wordless(whole[0]),))])
    assert held(graph_store)[0] == whole[0]

    graph_store.apply([decision(expected=3, adds=(whole[1], whole[2]))])
    assert held(graph_store) == tuple(whole)


@pytest.mark.parametrize("turn", [None, 3])
@pytest.mark.parametrize("goes", [{"value": 2}, {"effective_at": 5_000}, {"value": 2, "effective_at": 5_000}])
def test_of_two_contents_under_one_id_the_same_one_stays_when_it_has_become_a_voice(
    graph_store: GraphStore, evidence: Made, decision: Decided, turn: int | None, goes: dict[str, object]
) -> None:
    smaller, larger = (told(evidence, 1, **({"value": 1, "turn": turn} | each)) for each in ({}, goes))
    assert contents(smaller) < contents(larger)
    graph_store.apply([decision(adds=(wordless(smaller),))])

    graph_store.apply([decision(expected=1, adds=(larger,))])
    assert held(graph_store) == (wordless(smaller),)

    graph_store.apply([decision(expected=2, adds=(wordless(larger),))])
    assert held(graph_store) == (wordless(smaller),)

    graph_store.apply([decision(expected=3, adds=(smaller,))])
    assert held(graph_store) == (smaller,)

    graph_store.apply([decision("s2", adds=(msgspec.structs.replace(larger, id="e2", slot="s2"),))])
    voice = wordless(msgspec.structs.replace(smaller, id="e2", slot="s2"))
    graph_store.apply([decision("s2", expected=1, adds=(voice,))])
    assert held(graph_store, "s2") == (voice,)


def test_what_is_removed_and_added_is_replaced_by_whatever_is_added(
    graph_store: GraphStore, evidence: Made, decision: Decided
) -> None:
    first = told(evidence, 1)
    later = msgspec.structs.replace(first, statement="Zzz", effective_at=9_000)
    graph_store.apply([decision(adds=(first,))])

    graph_store.apply([decision(expected=1, adds=(later,), removes=("e1",))])

    assert held(graph_store) == (later,)
    assert graph_store.evidence_of_observations("acme", ["o1"]) == [later]


def test_a_piece_that_only_claims_to_be_a_voice_is_kept_as_it_is(
    graph_store: GraphStore, evidence: Made, decision: Decided
) -> None:
    stranger = told(evidence, 1, digest="d" + 32 * "0")
    wordy = msgspec.structs.replace(wordless(told(evidence, 2)), statement="Still said")
    voice = wordless(told(evidence, 3))
    graph_store.apply([decision(adds=(stranger, wordy, voice))])

    assert held(graph_store) == (stranger, wordy, voice)


def test_a_slot_goes_with_its_digests_and_what_only_they_name(
    graph_store: GraphStore, belief: Callable[..., Belief], evidence: Made, decision: Decided
) -> None:
    voices = [wordless(told(evidence, n, mentions=(GUEST,))) for n in range(3)]
    graph_store.apply([decision(keeps=(belief("b1"),), adds=tuple(voices))])
    assert graph_store.entities("acme", ["guest"]) == [(entity_id("acme", GUEST), GUEST)]

    assert graph_store.erase("acme", ["s1"]) == 1

    assert graph_store.load_slots("acme", ["s1"]) == {}
    assert graph_store.evidence("acme", ["e0", "e1", "e2"]) == {}
    assert graph_store.entities("acme", ["guest"]) == []
    graph_store.apply([decision(adds=(voices[0],))])
    assert held(graph_store) == (voices[0],)


def test_voices_that_leave_take_along_what_only_they_name(
    graph_store: GraphStore, belief: Callable[..., Belief], evidence: Made, decision: Decided
) -> None:
    voices = [wordless(told(evidence, n, mentions=(GUEST,))) for n in range(3)]
    graph_store.apply([decision(keeps=(belief("b1"),), adds=(*voices, told(evidence, 9)))])

    graph_store.apply([decision(expected=1, keeps=(belief("b1", version=2),), removes=("e0", "e1", "e2"))])

    assert graph_store.entities("acme", ["guest"]) == []


def test_the_same_said_in_two_slots_is_two_digests(graph_store: GraphStore, evidence: Made, decision: Decided) -> None:
    here = [wordless(told(evidence, n)) for n in range(3)]
    there = [wordless(told(evidence, 10 + n, slot="s2")) for n in range(3)]
    graph_store.apply([decision(adds=tuple(here)), decision("s2", adds=tuple(there))])

    graph_store.apply([decision(expected=1, removes=("e0", "e1", "e2"), adds=(told(evidence, 5),))])

    assert held(graph_store, "s2") == tuple(there)
    assert digest_id(shared(here[0])) != digest_id(shared(there[0]))
