"""What cannot be used is set aside with its original bytes and reason; everything beside it is applied."""

import math

import msgspec
import pytest

from beliefmesh.memory import Memory
from schemas.claim import Claim
from schemas.dead_letter import DeadLetter
from schemas.entity import Entity
from schemas.errors import InvalidInput, NotFound
from schemas.evidence import Evidence
from schemas.observation import Observation, Source, observation_key
from schemas.slot import Change, slot_id
from schemas.wire import pack
from stores.ports import Entry

BEYOND_64_BITS = 2**63
"""A number that the wire can carry and no store can keep."""

AT = 1_718_000_000_000_000


def colour(number: int) -> Observation:
    return Observation(
        id=f"o{number}",
        bank="default",
        source=Source("camera"),
        observed_at=AT + number,
        claims=(Claim(entity=Entity(f"car {number}"), attribute="colour", value="red"),),
    )


def append(memory: Memory, topic: str, *entries: Entry) -> list[tuple[int, int]]:
    return memory.home.log.append(topic, entries, memory.home.clock())


def entry(observation: Observation) -> Entry:
    return Entry(observation_key(observation), pack(observation, observation.id), {"traceparent": "00-1"})


def the_only_letter(memory: Memory) -> DeadLetter:
    (letter,) = memory.dead_letters()
    return letter


@pytest.mark.parametrize("poison", [b"\xc1 not msgpack", b"", b"\x80", b"{}", b"\x81\xa1v\x92\x09\x00"])
def test_bytes_that_are_no_message_cost_none_of_the_other_eleven(memory: Memory, poison: bytes) -> None:
    entries = [entry(colour(number)) for number in range(11)]
    entries.insert(5, Entry("default/camera", poison, {"traceparent": "00-2"}))

    places = append(memory, "observations", *entries)
    memory.home.worker.drain()

    letter = the_only_letter(memory)
    assert (letter.original, letter.stage, letter.topic) == (poison, "extract", "observations")
    assert (letter.partition, letter.offset) == places[5]
    assert (letter.key, letter.headers) == ("default/camera", {"traceparent": "00-2"})
    assert letter.error in ("MalformedMessage", "UnknownSchemaVersion")
    assert letter.reason
    assert memory.stats("default")["banks"]["default"]["evidence"] == 11
    assert memory.stats()["lag"] == {"extract": 0, "decide": 0, "index": 0}


def test_an_unknown_major_version_says_so(memory: Memory) -> None:
    append(memory, "observations", Entry("k", b"\x84\xa1v\x92\x09\x00\xa2id\xa1x\xa4type\xa1x\xa4body\x80"))
    memory.home.worker.drain()
    assert the_only_letter(memory).error == "UnknownSchemaVersion"
    assert "9" in the_only_letter(memory).reason


def scoped(*scope: tuple[str, str]) -> Claim:
    return Claim(entity=Entity("car"), attribute="colour", value="red", scope=scope)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"bank": "../etc"}, "bank: "),
        ({"weight": math.nan}, "weight: "),
        ({"weight": -1.0}, "weight: "),
        ({"observed_at": BEYOND_64_BITS}, "observed_at: "),
        ({"text": "a\x00b"}, "text: "),
        ({"claims": ()}, "text: is empty"),
        ({"visibility": "private"}, "owner: is missing"),
        ({"claims": (Claim(entity=Entity(""), attribute="colour", value="red"),)}, "claims[0].entity: "),
        ({"claims": (Claim(entity=Entity("car"), attribute="price", value=math.inf),)}, "claims[0].value: "),
        ({"claims": (Claim(entity=Entity("car"), statement="x", valid_until=-(2**62)),)}, "claims[0].valid_until: "),
        ({"claims": (Claim(entity=Entity("car", ""), attribute="colour", value="red"),)}, "claims[0].entity.type: "),
        ({"claims": (Claim(entity=Entity("car"), attribute="a\x00b", value="red"),)}, "claims[0].attribute: "),
        ({"claims": (Claim(entity=Entity("car"), attribute="colour", value="r\x00d"),)}, "claims[0].value: "),
        ({"claims": (Claim(entity=Entity("car"), attribute="colour"),)}, "claims[0].value: is missing"),
        ({"claims": (Claim(entity=Entity("car"), value="red"),)}, "claims[0].attribute: is missing"),
        ({"claims": (scoped(("b", "1"), ("a", "2")),)}, "claims[0].scope: must be sorted"),
        ({"claims": (scoped(("a", "1"), ("a", "2")),)}, "claims[0].scope: must be sorted"),
        ({"source": Source("")}, "source.id: "),
        ({"session": "s\x001"}, "session: "),
        ({"turn": -1}, "turn: "),
        ({"visibility": "group", "readers": ("",)}, "readers: "),
    ],
)
def test_an_observation_that_passed_no_intake_is_held_to_its_rules(
    memory: Memory, changed: dict[str, object], reason: str
) -> None:
    spoiled = msgspec.structs.replace(colour(99), **changed)
    append(memory, "observations", *(entry(colour(number)) for number in range(11)), entry(spoiled))
    memory.home.worker.drain()
    letter = the_only_letter(memory)
    assert (letter.stage, letter.error) == ("extract", "InvalidInput")
    assert letter.reason.startswith(reason)
    assert memory.stats("default")["banks"]["default"]["evidence"] == 11
    assert memory.banks() == ["default"]


@pytest.mark.parametrize(
    ("changed", "error", "reason"),
    [
        ({"weight": math.inf}, "InvalidInput", "weight: "),
        ({"slot": "s0"}, "InvalidInput", "slot: "),
        ({"bank": "other"}, "InvalidInput", "slot: "),
        ({"effective_at": 2**62}, "InvalidInput", "effective_at: "),
        ({"turn": BEYOND_64_BITS}, "OverflowError", ""),
    ],
)
def test_evidence_that_breaks_a_rule_or_the_store_is_set_aside_alone(
    memory: Memory, changed: dict[str, object], error: str, reason: str
) -> None:
    spoiled = msgspec.structs.replace(evidence("boat"), **changed)
    original = pack(spoiled, spoiled.id)
    append(memory, "observations", *(entry(colour(number)) for number in range(11)))
    append(memory, "claims", Entry("default/boat", original))

    memory.home.worker.drain()

    letter = the_only_letter(memory)
    assert (letter.stage, letter.error, letter.original) == ("decide", error, original)
    assert letter.reason.startswith(reason)
    assert memory.stats("default")["banks"]["default"]["evidence"] == 11
    assert len(memory.recall("colour", limit=20).found) == 11


def test_a_change_that_cannot_be_read_is_set_aside_by_the_index_stage(memory: Memory) -> None:
    append(memory, "changes", Entry("k", b"garbage"))
    memory.retain({"entity": "car", "claims": [{"attribute": "colour", "value": "red"}]})
    letter = the_only_letter(memory)
    assert (letter.stage, letter.original) == ("index", b"garbage")
    assert [one.belief.value for one in memory.recall("colour of the car").found] == ["red"]


def test_a_change_of_something_unknown_does_no_harm(memory: Memory) -> None:
    change = Change(bank="nowhere", slot="s1", entity=Entity("x"), slot_version=1, at=0)
    append(memory, "changes", Entry("k", pack(change, "s1@1")))
    memory.home.worker.drain()
    assert memory.dead_letters() == []
    assert memory.banks() == []


def test_a_letter_is_not_written_twice_when_its_batch_is_read_again(memory: Memory) -> None:
    append(memory, "observations", Entry("default/camera", b"poison"))
    memory.home.worker.drain()
    rewind(memory, "observations")
    memory.home.worker.drain()
    assert len(memory.dead_letters()) == 1


def test_a_malformed_line_is_a_letter_and_the_other_lines_are_kept(memory: Memory) -> None:
    lines = [
        b'{"text": "The tent is green", "agent": "ann"}',
        b'{"text": "The boat is blue", "weight": "heavy"}',
        b"",
        b"{half",
        b'\xff\xfe{"text": "x"}',
        b'{"text": "The sail is white", "agent": "ann"}',
    ]
    imported = memory.import_lines(lines)

    assert (imported.accepted, imported.dead) == (2, 3)
    letters = memory.dead_letters()
    assert [letter.original for letter in letters] == [lines[1], lines[3], lines[4]]
    assert {letter.stage for letter in letters} == {"intake"}
    assert letters[0].reason == "weight: must be a number, not str"
    again = memory.import_lines(lines)
    assert (again.accepted, again.dead) == (2, 3)
    assert len(memory.dead_letters()) == 3
    assert memory.stats("default")["banks"]["default"]["evidence"] == 2


def test_a_replayed_letter_is_applied_once_its_reason_is_gone(memory: Memory) -> None:
    """Here the shard could not keep the evidence; the message is then replaced by one that it can."""
    good = evidence("boat")
    append(memory, "dead-letters", letter_entry(pack(good, good.id)))

    memory.replay_dead_letter("d1")

    assert memory.dead_letters() == []
    assert [one.belief.value for one in memory.recall("colour of the boat").found] == ["red"]
    with pytest.raises(NotFound, match="d1"):
        memory.replay_dead_letter("d1")


def test_replaying_what_was_applied_already_changes_nothing(memory: Memory) -> None:
    good = evidence("boat")
    append(memory, "claims", Entry("default/boat", pack(good, good.id)))
    memory.home.worker.drain()
    before = memory.state_hash()
    append(memory, "dead-letters", letter_entry(pack(good, good.id)), letter_entry(pack(good, good.id)))

    memory.replay_dead_letter("d1")

    assert memory.dead_letters() == []
    assert memory.state_hash() == before
    assert memory.stats("default")["banks"]["default"]["evidence"] == 1


def test_a_letter_that_fails_again_is_a_letter_again(memory: Memory) -> None:
    append(memory, "observations", Entry("default/camera", b"poison"))
    memory.home.worker.drain()
    first = the_only_letter(memory)
    memory.replay_dead_letter(first.id)
    second = the_only_letter(memory)
    assert (second.original, second.stage) == (b"poison", "extract")
    assert second.offset > first.offset


def test_a_line_that_still_cannot_be_read_stays_a_letter(memory: Memory) -> None:
    memory.import_lines([b"{half"])
    letter = the_only_letter(memory)
    with pytest.raises(InvalidInput, match="not JSON"):
        memory.replay_dead_letter(letter.id)
    assert memory.dead_letters() == [letter]


def test_a_dropped_letter_is_gone_with_its_bytes(memory: Memory) -> None:
    memory.import_lines([b'{"text": "canary-31415", "weight": -1}'])
    memory.drop_dead_letter(the_only_letter(memory).id)
    assert memory.dead_letters() == []
    assert b"canary-31415" not in b"".join(
        path.read_bytes() for path in memory.home.folder.path.rglob("*") if path.is_file()
    )
    with pytest.raises(NotFound, match="dlq list"):
        memory.drop_dead_letter("d-unknown")


def test_a_dropped_message_is_gone_from_its_topic_too_and_is_not_missed(memory: Memory) -> None:
    append(memory, "observations", Entry("default/camera", b"poison"))
    memory.home.worker.drain()

    memory.drop_dead_letter(the_only_letter(memory).id)

    topic = memory.home.topics.name("observations")
    left = [memory.home.log.read(topic, partition, 0, 10) for partition in range(memory.home.log.partitions(topic))]
    assert [record for records in left for record in records] == []
    assert memory.doctor().healthy


@pytest.mark.parametrize("changed", [{"weight": -1.0}, {"turn": BEYOND_64_BITS}])
def test_doctor_does_not_send_a_dead_letter_again(memory: Memory, changed: dict[str, object]) -> None:
    """What lies among the dead letters is accounted for: `dlq replay` is the way to try it again."""
    append(memory, "observations", entry(colour(1)), entry(msgspec.structs.replace(colour(2), **changed)))
    memory.home.worker.drain()
    assert memory.doctor().differences == ()
    memory.doctor(fix=True)
    assert len(memory.dead_letters()) == 1


def evidence(entity: str) -> Evidence:
    about = Entity(entity)
    return Evidence(
        id="e" + entity,
        bank="default",
        slot=slot_id("default", about, "colour"),
        entity=about,
        observation_id="o-" + entity,
        source=Source("camera"),
        effective_at=AT,
        observed_at=AT,
        statement=f"The {entity} is red",
        attribute="colour",
        value="red",
    )


def letter_entry(original: bytes) -> Entry:
    letter = DeadLetter(
        id="d1", stage="decide", error="OverflowError", reason="too large", at=0, original=original,
        topic="claims", partition=0, offset=0, key="default/boat",
    )  # fmt: skip
    return Entry(letter.id, pack(letter, letter.id))


def rewind(memory: Memory, topic: str) -> None:
    memory.home.log.commit("beliefmesh", topic, dict.fromkeys(memory.home.log.ends(topic), 0))
