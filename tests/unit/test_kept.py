"""The slots that a shard keeps in memory."""

import msgspec

from actors.kept import KeptSlots
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.observation import Source
from schemas.slot import Slot, StoredSlot

LAKE = Entity("lake")


def slot(id: str, pieces: int, statement: str = "cold") -> StoredSlot:
    told = Evidence(
        id="e",
        bank="b",
        slot=id,
        entity=LAKE,
        observation_id="o",
        source=Source("s"),
        effective_at=0,
        observed_at=0,
        statement=statement,
    )
    evidence = tuple(msgspec.structs.replace(told, id=f"e{number}") for number in range(pieces))
    return StoredSlot(Slot(id=id, bank="b", entity=LAKE), evidence)


def test_the_slot_used_longest_ago_goes_where_all_take_more_than_may_be() -> None:
    kept = KeptSlots(most_bytes=10_020)
    for id in ("s1", "s2", "s1", "s3"):
        kept.keep(("b", id), slot(id, 2))

    assert [kept.get(("b", id)) is not None for id in ("s1", "s2", "s3")] == [True, False, True]
    assert kept.bytes == 4 * 2_504


def test_long_words_count_and_what_alone_is_larger_than_all_may_be_drives_nothing_out() -> None:
    kept = KeptSlots(most_bytes=100_000)
    kept.keep(("b", "s1"), slot("s1", 1))

    kept.keep(("b", "s2"), slot("s2", 1, "cold " * 20_000))

    assert (kept.get(("b", "s2")), kept.bytes) == (None, 2_504)


def test_what_is_dropped_or_has_no_evidence_takes_no_room() -> None:
    kept = KeptSlots(most_bytes=1_000_000)
    for bank, id in (("b", "s1"), ("b", "s2"), ("c", "s3")):
        kept.keep((bank, id), slot(id, 1))
    kept.keep(("c", "s4"), slot("s4", 0))

    kept.drop(("c", "s9"))
    kept.drop_bank("b")

    assert [kept.get(key) is not None for key in (("b", "s1"), ("b", "s2"), ("c", "s3"), ("c", "s4"))] == [
        False,
        False,
        True,
        False,
    ]
    assert kept.bytes == 2_504
