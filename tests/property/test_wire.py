"""Wire round trip: whatever the mesh can hold comes back from its bytes unchanged."""

from typing import get_args

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from schemas.claim import Claim, Kind, Network, Stance, Tier, ValueType, scope_of
from schemas.entity import Entity
from schemas.errors import MalformedMessage
from schemas.evidence import Evidence
from schemas.observation import Observation, Source, SourceType, Visibility
from schemas.wire import dump, load, open_envelope, pack, unpack

TEXT = st.text(max_size=30)
NAME = st.text(min_size=1, max_size=12)
INSTANT = st.integers(min_value=-(2**55), max_value=2**57)
VALUE = (
    TEXT
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
ENTITY = st.builds(Entity, NAME, NAME)
SCOPE = st.dictionaries(NAME, NAME, max_size=3).map(scope_of)
SOURCE = st.builds(Source, id=NAME, origin=TEXT, type=st.sampled_from(get_args(SourceType)))

said_of_a_claim = {
    "attribute": st.none() | NAME,
    "value": st.none() | VALUE,
    "value_type": st.none() | st.sampled_from(get_args(ValueType)),
    "scope": SCOPE,
    "stance": st.sampled_from(get_args(Stance)),
    "statement": TEXT,
    "valid_until": st.none() | INSTANT,
    "occurred_start": st.none() | INSTANT,
    "occurred_end": st.none() | INSTANT,
    "mentions": st.lists(ENTITY, max_size=2).map(tuple),
    "premises": st.lists(NAME, max_size=2).map(tuple),
}
said_by_somebody = {
    "source": SOURCE,
    "observed_at": INSTANT,
    "agent": TEXT,
    "session": TEXT,
    "turn": st.none() | st.integers(min_value=0, max_value=2**40),
    "pinned": st.booleans(),
    "owner": TEXT,
    "visibility": st.sampled_from(get_args(Visibility)),
    "readers": st.lists(NAME, max_size=3).map(tuple),
}
WEIGHT = st.floats(min_value=0, max_value=1_000)
CLAIM = st.builds(
    Claim,
    entity=ENTITY,
    kind=st.none() | st.sampled_from(get_args(Kind)),
    network=st.none() | st.sampled_from(get_args(Network)),
    tier=st.none() | st.sampled_from(get_args(Tier)),
    weight=st.none() | WEIGHT,
    effective_at=st.none() | INSTANT,
    **said_of_a_claim,
)
OBSERVATION = st.builds(
    Observation,
    id=NAME,
    bank=NAME,
    text=TEXT,
    claims=st.lists(CLAIM, max_size=2).map(tuple),
    entity=st.none() | ENTITY,
    weight=WEIGHT,
    effective_at=st.none() | INSTANT,
    metadata=st.dictionaries(NAME, TEXT, max_size=2),
    **said_by_somebody,
)
EVIDENCE = st.builds(
    Evidence,
    id=NAME,
    bank=NAME,
    slot=NAME,
    entity=ENTITY,
    observation_id=NAME,
    effective_at=INSTANT,
    kind=st.sampled_from(get_args(Kind)),
    network=st.sampled_from(get_args(Network)),
    tier=st.sampled_from(get_args(Tier)),
    weight=WEIGHT,
    ingested_at=INSTANT,
    scheduled=st.booleans(),
    **said_by_somebody,
    **said_of_a_claim,
)


@given(OBSERVATION)
def test_an_observation_comes_back_from_its_message(observation: Observation) -> None:
    packed = pack(observation, observation.id)

    read = unpack(packed, Observation)

    assert read == observation
    assert pack(read, read.id) == packed


@given(EVIDENCE)
def test_evidence_comes_back_from_its_column_with_the_type_of_its_value(evidence: Evidence) -> None:
    read = load(dump(evidence), Evidence)

    assert read == evidence
    assert type(read.value) is type(evidence.value)
    assert dump(read) == dump(evidence)


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_fail_otherwise_than_by_saying_malformed(data: bytes) -> None:
    try:
        envelope = open_envelope(data)
    except MalformedMessage:
        return
    assert msgspec.to_builtins(envelope)["major"] == 1


@given(OBSERVATION, st.data())
def test_a_message_with_flipped_bytes_is_read_or_malformed_and_nothing_else(
    observation: Observation, data: st.DataObject
) -> None:
    packed = bytearray(pack(observation, observation.id))
    place = data.draw(st.integers(0, len(packed) - 1))
    packed[place] ^= data.draw(st.integers(1, 255))

    try:
        read = unpack(bytes(packed), Observation)
    except MalformedMessage:
        return
    assert isinstance(read, Observation)
