"""The low watermark: never later than anything of the bank that is accepted and not recallable."""

import pytest

from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.observation import Source
from schemas.slot import Change
from schemas.wire import bundle, pack
from stores.ports import Record
from streams.backlog import Backlog, Place
from streams.watermark import low_watermarks

NOW = 1_000
SHOP = Entity("shop")


def waiting(source: str, *records: tuple[str, bytes, int], more: bool = False, partition: int = 0) -> Backlog:
    place = Place({"observations": "extract", "claims": "decide"}.get(source, "index"), source, source, partition, 0, 9)
    head = tuple(Record(source, partition, n, key, value, at) for n, (key, value, at) in enumerate(records))
    return Backlog(place, head, more)


def piece(bank: str, ingested_at: int, id: str = "e1") -> bytes:
    told = Evidence(
        id=id,
        bank=bank,
        slot="s1",
        entity=SHOP,
        observation_id="o1",
        source=Source("desk"),
        effective_at=0,
        observed_at=0,
        statement="It is open.",
        ingested_at=ingested_at,
    )
    return pack(told, id)


def change(bank: str, accepted_at: int, observation_ids: tuple[str, ...] = ("o1",)) -> bytes:
    told = Change(
        bank=bank,
        slot="s1",
        entity=SHOP,
        slot_version=1,
        at=0,
        observation_ids=observation_ids,
        accepted_at=accepted_at,
    )
    return pack(told, "s1@1")


def marks(*backlogs: Backlog, banks: tuple[str, ...] = ("a", "b")) -> list[int]:
    return list(low_watermarks(backlogs, banks, NOW).values())


def test_it_is_now_where_nothing_waits() -> None:
    assert marks(waiting("observations"), waiting("claims"), waiting("changes")) == [NOW, NOW]


def test_an_observation_that_waits_holds_back_its_bank_alone() -> None:
    assert marks(waiting("observations", ("b/desk", b"", 700), ("b/desk", b"", 800))) == [NOW, 700]


def test_a_bank_whose_name_begins_like_another_is_another() -> None:
    assert marks(waiting("observations", ("ab/desk", b"", 700)), banks=("a", "ab")) == [NOW, 700]


@pytest.mark.parametrize("key", ["", "sensor 7", "/x", "no bank!/x"])
def test_a_key_that_names_no_bank_may_be_of_any(key: str) -> None:
    assert marks(waiting("observations", (key, b"", 600))) == [600, 600]


def test_a_bank_that_is_not_in_the_part_seen_counts_as_next_behind_it() -> None:
    seen = (("b/desk", b"", 700), ("b/desk", b"", 800))

    assert marks(waiting("observations", *seen, more=True)) == [800, 700]


def test_the_earliest_of_all_partitions_and_stages_counts() -> None:
    assert marks(
        waiting("observations", ("a/x", b"", 900)),
        waiting("observations", ("a/y", b"", 650), partition=1),
        waiting("changes", ("b/s", change("b", 500), 990)),
    ) == [650, 500]


def test_claims_count_from_the_acceptance_of_their_observation_whoever_they_travel_with() -> None:
    """A bundle has the key of its first claim, and was written when it was extracted."""
    together = bundle([piece("a", 400, "e1"), piece("b", 300, "e2"), piece("b", 350, "e3")])

    assert marks(waiting("claims", ("a/1", together, 900))) == [400, 300]


def test_behind_claims_that_were_seen_lies_nothing_earlier_than_they_are() -> None:
    assert marks(waiting("claims", ("a/1", bundle([piece("a", 400), piece("a", 450)]), 900), more=True)) == [400, 400]


def test_claims_and_changes_that_do_not_say_when_count_from_their_record() -> None:
    assert marks(waiting("claims", ("a/1", piece("a", 0), 800)), waiting("changes", ("b/1", change("b", 0), 850))) == [
        800,
        850,
    ]


def test_a_review_brings_nothing_that_was_just_accepted() -> None:
    assert marks(waiting("changes", ("a/1", change("a", 0, ()), 600))) == [NOW, NOW]


def test_what_cannot_be_read_will_be_set_aside_and_holds_nothing_back() -> None:
    assert marks(waiting("claims", ("a/1", b"garbage", 600)), waiting("changes", ("a/1", b"", 600))) == [NOW, NOW]


def test_senseless_times_stay_between_the_epoch_and_now() -> None:
    ahead = waiting("observations", ("a/x", b"", NOW + 500))

    assert marks(ahead, waiting("claims", ("b/1", piece("b", -(10**17)), 900))) == [NOW, 0]
