"""Messages that travel together come apart as they were, in order, each with its own fate."""

from schemas.entity import Entity
from schemas.routing import partition_of
from schemas.slot import Change
from schemas.wire import bundle, pack, unbundle
from stores.ports import Entry, Record
from streams.bundles import bundled, bundled_by_bank, messages_of


def record(value: bytes) -> Record:
    return Record("claims", 3, 7, "acme/n1", value, 5, {"trace": "t"})


def test_a_bundle_comes_apart_into_the_same_messages_in_order() -> None:
    assert unbundle(bundle([b"one", b"", b"\xff\x00"])) == [b"one", b"", b"\xff\x00"]


def test_one_message_is_its_own_bundle() -> None:
    message = pack(Change(bank="b", slot="s1", entity=Entity("door"), slot_version=1, at=5), "s1@1")

    assert bundle([message]) == message
    assert unbundle(message) == [message]


def test_what_is_no_bundle_is_one_message() -> None:
    for data in (b"", b"garbage", b"\x90", b"\x92\x01\x02", b"\x91\xa1a"):
        assert unbundle(data) == [data]


def test_entries_of_one_key_go_together_and_others_apart() -> None:
    entries = [Entry("a", b"1"), Entry("b", b"2"), Entry("a", b"3"), Entry("c", b"4")]

    one, two, three = bundled(entries)

    assert (one.key, unbundle(one.value)) == ("a", [b"1", b"3"])
    assert (two, three) == (Entry("b", b"2"), Entry("c", b"4"))


def test_keys_that_are_the_same_to_the_caller_go_together_under_the_first_one() -> None:
    (one,) = bundled([Entry("ab", b"1"), Entry("ac", b"2")], lambda key: key[0])

    assert (one.key, unbundle(one.value)) == ("ab", [b"1", b"2"])


def test_observations_of_one_partition_go_together_but_never_with_those_of_another_bank() -> None:
    entries = [Entry("acme/s1", b"1"), Entry("other/s1", b"2"), Entry("acme/s2", b"3"), Entry("other/s2", b"4")]

    acme, other = bundled_by_bank(entries, partitions=1)

    assert (acme.key, unbundle(acme.value)) == ("acme/s1", [b"1", b"3"])
    assert (other.key, unbundle(other.value)) == ("other/s1", [b"2", b"4"])


def test_observations_stay_in_the_partitions_of_their_own_keys() -> None:
    entries = [Entry(f"acme/s{number}", str(number).encode()) for number in range(50)]

    found = bundled_by_bank(entries, partitions=4)

    placed = {message: partition_of(entry.key, 4) for entry in found for message in unbundle(entry.value)}
    assert placed == {entry.value: partition_of(entry.key, 4) for entry in entries}
    assert len(found) == 4


def test_a_bundle_ends_where_it_would_grow_too_large_and_a_larger_message_goes_alone() -> None:
    half, whole = b"x" * 40_000, b"y" * 100_000

    found = bundled([Entry("a", half), Entry("a", half), Entry("a", whole), Entry("a", b"z")])

    assert [unbundle(entry.value) for entry in found] == [[half], [half], [whole], [b"z"]]


def test_headers_stay_where_all_of_a_bundle_have_the_same() -> None:
    same = bundled([Entry("a", b"1", {"t": "x"}), Entry("a", b"2", {"t": "x"})])
    mixed = bundled([Entry("a", b"1", {"t": "x"}), Entry("a", b"2", {"t": "y"})])

    assert [entry.headers for entry in same + mixed] == [{"t": "x"}, {}]


def test_each_message_of_a_record_stands_at_the_records_place() -> None:
    assert messages_of(record(bundle([b"one", b"two"]))) == [record(b"one"), record(b"two")]
    assert messages_of(record(b"one")) == [record(b"one")]
