"""Wire: bytes of former releases are still read, and what cannot be read says why."""

import msgpack
import pytest

from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import MalformedMessage, UnknownSchemaVersion
from schemas.observation import Observation, Source
from schemas.slot import BeliefChange, Change
from schemas.wire import Envelope, open_envelope, pack, unpack

OBSERVATION = Observation(
    id="o1",
    bank="shop",
    source=Source(id="doc-7", type="document"),
    observed_at=1_716_163_200_000_000,
    agent="policy-sync",
    text="满200元免运费",
    claims=(
        Claim(
            entity=Entity("shop policy", "policy"),
            attribute="free shipping threshold",
            value=200,
            value_type="money",
            scope=(("region", "CN"),),
        ),
    ),
    session="s1",
    turn=3,
    weight=2.0,
)
OBSERVATION_1_0 = bytes.fromhex(
    "85a176920100a26964a26f31a474797065ab6f62736572766174696f6ea4626f64798aa26964a26f31a462616e6ba473"
    "686f70a6736f7572636582a26964a5646f632d37a474797065a8646f63756d656e74ab6f627365727665645f6174cf00"
    "0618d761e9a000a56167656e74ab706f6c6963792d73796e63a474657874b2e6bba1323030e58583e5858de8bf90e8b4"
    "b9a6636c61696d739185a6656e7469747992ab73686f7020706f6c696379a6706f6c696379a9617474726962757465b7"
    "66726565207368697070696e67207468726573686f6c64a576616c7565ccc8aa76616c75655f74797065a56d6f6e6579"
    "a573636f70659192a6726567696f6ea2434ea773657373696f6ea27331a47475726e03a6776569676874cb4000000000"
    "000000a5747261636581ab7472616365706172656e74ab30302d61612d62622d3031"
)
CHANGE = Change(
    bank="shop",
    slot="s9",
    entity=Entity("checkout", "service"),
    slot_version=4,
    at=1_717_405_200_000_000,
    beliefs=(
        BeliefChange(id="b1", version=4, status="active"),
        BeliefChange(id="b2", version=2, status="revoked", before="active"),
    ),
    observation_ids=("o1", "o2"),
)
CHANGE_1_0 = bytes.fromhex(
    "85a176920100a26964a473393a34a474797065a66368616e6765a4626f647987a462616e6ba473686f70a4736c6f74a2"
    "7339a6656e7469747992a8636865636b6f7574a773657276696365ac736c6f745f76657273696f6e04a26174cf000619"
    "f88ee1a400a762656c696566739283a26964a26231a776657273696f6e04a6737461747573a661637469766584a26964"
    "a26232a776657273696f6e02a6737461747573a77265766f6b6564a66265666f7265a6616374697665af6f6273657276"
    "6174696f6e5f69647392a26f31a26f32a5747261636581ab7472616365706172656e74ab30302d61612d62622d3031"
)


def message(**parts: object) -> bytes:
    """An envelope written by hand, with `parts` in place of the right ones."""
    body = {"bank": "shop", "slot": "s9", "entity": ["checkout", "service"], "slot_version": 4, "at": 7}
    packed: bytes = msgpack.packb({"v": [1, 0], "id": "s9:4", "type": "change", "body": body, **parts})
    return packed


def test_an_observation_that_release_1_0_wrote_is_read() -> None:
    assert unpack(OBSERVATION_1_0, Observation) == OBSERVATION


def test_a_change_that_release_1_0_wrote_is_read() -> None:
    assert unpack(CHANGE_1_0, Change) == CHANGE


def test_this_release_still_writes_what_release_1_0_reads() -> None:
    """The same bytes but for the minor version, which release 1.0 does not look at."""
    trace = {"traceparent": "00-aa-bb-01"}

    assert pack(OBSERVATION, "o1", trace) == OBSERVATION_1_0.replace(b"\xa1v\x92\x01\x00", b"\xa1v\x92\x01\x03")
    assert pack(CHANGE, "s9:4", trace) == CHANGE_1_0.replace(b"\xa1v\x92\x01\x00", b"\xa1v\x92\x01\x03")


def test_the_envelope_says_id_type_and_trace_without_reading_the_body() -> None:
    match open_envelope(CHANGE_1_0):
        case Envelope(major=1, minor=0, id=id, type=kind, trace=trace):
            assert (id, kind, trace) == ("s9:4", "change", {"traceparent": "00-aa-bb-01"})


def test_a_message_without_trace_has_an_empty_one() -> None:
    assert open_envelope(pack(CHANGE, "s9:4")).trace == {}


def test_unknown_fields_of_a_later_minor_version_are_ignored() -> None:
    raw = msgpack.unpackb(OBSERVATION_1_0)
    raw["v"] = [1, 7, "beta"]
    raw["priority"] = "high"
    raw["body"]["mood"] = "calm"
    raw["body"]["claims"][0]["colour"] = [1, 2]
    raw["body"]["source"]["channel"] = {"name": "chat"}

    assert unpack(msgpack.packb(raw), Observation) == OBSERVATION


def test_an_unknown_major_version_is_refused_as_such() -> None:
    with pytest.raises(UnknownSchemaVersion, match="major version 2 is unknown; this release reads 1"):
        unpack(message(v=[2, 0]), Change)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b'{"id": "o1"}',
        b"not a message",
        b"\x00" * 20,
        b"\xff\xfe\xfd",
        OBSERVATION_1_0[:-1],
        OBSERVATION_1_0 + b"\x00",
        b"\x91" * 5_000,
        msgpack.packb(["v", 1]),
        msgpack.packb({1: 2}),
    ],
)
def test_garbage_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedMessage):
        unpack(data, Observation)


@pytest.mark.parametrize(
    "parts",
    [
        {"v": None},
        {"v": []},
        {"v": [1]},
        {"v": ["1", "0"]},
        {"id": 7},
        {"type": None},
        {"body": [1]},
        {"trace": "00-aa"},
    ],
)
def test_an_envelope_with_a_wrong_part_is_malformed(parts: dict[str, object]) -> None:
    with pytest.raises(MalformedMessage):
        open_envelope(message(**parts))


def test_a_message_of_another_type_is_refused_by_type() -> None:
    with pytest.raises(MalformedMessage, match="type: is 'change'; expected 'observation'"):
        unpack(CHANGE_1_0, Observation)


def test_a_wrong_body_is_refused_with_the_path_of_what_is_wrong() -> None:
    body = {"bank": "shop", "slot": "s9", "entity": ["checkout"], "slot_version": "four", "at": 7}

    with pytest.raises(MalformedMessage, match=r"\$\.slot_version"):
        unpack(message(body=body), Change)
