"""Versions of the wire: each golden message of a former version is read, and what is new raises the minor version.

`tests/golden/wire/MAJOR.MINOR/` holds the bytes that a version wrote, one file a type. They never change.
"""

import json
from pathlib import Path

import msgpack
import msgspec
import pytest

from schemas.claim import Claim
from schemas.dead_letter import DeadLetter
from schemas.entity import Entity
from schemas.errors import UnknownSchemaVersion
from schemas.evidence import Evidence
from schemas.observation import Observation, Source
from schemas.query import Principal
from schemas.recall_record import Feedback, RecallRecord, UsedBelief
from schemas.slot import BeliefChange, Change
from schemas.tombstone import Tombstone
from schemas.wire import MAJOR, MINOR, open_envelope, pack, unpack

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "wire"
TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
SOURCE = Source(id="doc-7", origin="legal team", type="document")
FIRST: dict[str, msgspec.Struct] = {
    "observation": Observation(
        id="o1",
        bank="shop",
        source=SOURCE,
        observed_at=1_716_163_200_000_000,
        agent="policy-sync",
        text="满200元免运费",
        claims=(
            Claim(
                entity=Entity("shop policy", "policy"),
                attribute="free shipping threshold",
                value=200,
                value_type="money",
                scope=(("channel", "web"), ("region", "CN")),
                stance="refutes",
                statement="Free shipping from 200 yuan.",
                kind="instruction",
                network="opinion",
                tier="high",
                weight=0.5,
                effective_at=1_716_249_600_000_000,
                valid_until=1_735_603_200_000_000,
                occurred_start=-86_400_000_000,
                occurred_end=0,
                mentions=(Entity("陈梅", "person"), Entity("yuan")),
                premises=("b1",),
                extractor="sync",
            ),
            Claim(entity=Entity("shop policy", "policy"), attribute="express", value=True),
            Claim(entity=Entity("shop policy", "policy"), attribute="surcharge", value=-1.25),
            Claim(entity=Entity("shop policy", "policy"), attribute="sponsor", stance="retracts"),
            Claim(entity=Entity("shop policy", "policy"), statement="It was read aloud."),
        ),
        entity=Entity("shop policy", "policy"),
        session="s1",
        turn=3,
        kind="derivation",
        network="experience",
        tier="low",
        weight=2.0,
        pinned=True,
        effective_at=1_716_163_200_000_001,
        valid_until=1_735_603_200_000_001,
        occurred_start=1_716_163_200_000_002,
        occurred_end=1_716_163_200_000_003,
        owner="mei",
        visibility="group",
        readers=("mei", "group:legal"),
        metadata={"page": "3"},
    ),
    "evidence": Evidence(
        id="e1",
        bank="shop",
        slot="s9",
        entity=Entity("shop policy", "policy"),
        observation_id="o1",
        source=SOURCE,
        effective_at=1_716_249_600_000_000,
        observed_at=1_716_163_200_000_000,
        statement="Free shipping from 200 yuan.",
        attribute="free shipping threshold",
        value="200 yuan",
        value_type="money",
        scope=(("region", "CN"),),
        stance="refutes",
        kind="instruction",
        network="opinion",
        tier="high",
        weight=0.5,
        agent="policy-sync",
        session="s1",
        turn=3,
        ingested_at=1_716_163_201_000_000,
        scheduled=True,
        valid_until=1_735_603_200_000_000,
        occurred_start=1_716_163_200_000_002,
        occurred_end=1_716_163_200_000_003,
        pinned=True,
        owner="mei",
        visibility="private",
        readers=("mei",),
        mentions=(Entity("yuan"),),
        premises=("b1",),
        extractor="sync",
    ),
    "change": Change(
        bank="shop",
        slot="s9",
        entity=Entity("checkout", "service"),
        slot_version=4,
        at=1_717_405_200_000_000,
        beliefs=(
            BeliefChange(id="b1", version=4, status="active"),
            BeliefChange(id="b2", version=2, status="revoked", before="active"),
        ),
        gone=("b3",),
        observation_ids=("o1", "o2"),
        added=2,
        repeated=1,
    ),
    "deadletter": DeadLetter(
        id="d1",
        stage="extract",
        error="MalformedMessage",
        reason="message: is not msgpack",
        at=1_717_405_200_000_000,
        original=b"\xc1\x00\xff",
        attempts=2,
        topic="observations",
        partition=3,
        offset=70_000,
        key="shop/s1",
        headers=TRACE,
    ),
    "recallrecord": RecallRecord(
        id="r1",
        bank="shop",
        question="From what amount is shipping free?",
        principal=Principal("mei", ("legal",)),
        at=1_717_405_200_000_000,
        moment=1_717_405_200_000_001,
        beliefs=(UsedBelief(id="b1", version=4, status="active", confidence=0.75, evidence=("e1",)),),
        left_out={"private": 1},
        degraded=("semantic",),
    ),
    "feedback": Feedback(bank="shop", belief="b1", version=4, verdict="right", agent="desk", at=1_717_405_200_000_000),
}
CHANGED = msgspec.structs.replace(FIRST["change"], accepted_at=1_717_405_199_000_000)
AMENDED = msgspec.structs.replace(CHANGED, removed=1, refresh=("s9", "s8"))
TOMBSTONE = Tombstone(bank="shop", graves=("0af7651916cd43dd8448eb211c80319c",), at=1_717_405_200_000_000)
VOICE = msgspec.structs.replace(FIRST["evidence"], statement="", digest="d0af7651916cd43dd8448eb211c80319c")
SAMPLES: dict[str, dict[str, msgspec.Struct]] = {
    "1.0": FIRST,
    "1.1": FIRST | {"change": CHANGED},
    "1.2": FIRST | {"change": AMENDED, "tombstone": TOMBSTONE},
    "1.3": FIRST | {"change": AMENDED, "tombstone": TOMBSTONE, "evidence": VOICE},
}
"""What the golden messages of each version say; a new version takes over those that it leaves as they are."""


def golden(version: str, type: str) -> bytes:
    return (GOLDEN / version / f"{type}.msgpack").read_bytes()


@pytest.mark.parametrize(("version", "type"), [(version, type) for version in SAMPLES for type in SAMPLES[version]])
def test_what_a_former_version_wrote_is_read_as_what_it_said(version: str, type: str) -> None:
    said = SAMPLES[version][type]

    assert unpack(golden(version, type), said.__class__) == said
    assert open_envelope(golden(version, type)).trace == TRACE


def test_every_golden_message_is_checked() -> None:
    kept = {(file.parent.name, file.stem) for file in GOLDEN.glob("*/*.msgpack")}

    assert kept == {(version, type) for version, samples in SAMPLES.items() for type in samples}


@pytest.mark.parametrize("type", SAMPLES[f"{MAJOR}.{MINOR}"])
def test_this_release_writes_what_its_version_says(type: str) -> None:
    said = SAMPLES[f"{MAJOR}.{MINOR}"][type]

    assert pack(said, f"{type}-1", TRACE) == golden(f"{MAJOR}.{MINOR}", type)


def test_a_new_field_raises_the_minor_version() -> None:
    """Raise MINOR in schemas/wire.py, and keep the new version's messages and fields under tests/golden/wire."""
    kinds = (Observation, Claim, Source, Entity, Evidence, Change, BeliefChange, DeadLetter, RecallRecord, UsedBelief)
    fields = {kind.__name__: list(kind.__struct_fields__) for kind in (*kinds, Principal, Feedback, Tombstone)}

    assert fields == json.loads((GOLDEN / f"{MAJOR}.{MINOR}" / "fields.json").read_bytes())


@pytest.mark.parametrize("type", FIRST)
def test_an_unknown_field_of_a_later_minor_version_is_ignored_in_every_type(type: str) -> None:
    raw = msgpack.unpackb(golden("1.0", type))
    raw["v"] = [1, 99]
    raw["priority"] = {"of": ["a", "later", "release"]}
    raw["body"]["mood"] = [1, None]

    assert unpack(msgpack.packb(raw), FIRST[type].__class__) == FIRST[type]


@pytest.mark.parametrize("version", [[0, 9], [2, 0], [99, 0]])
def test_a_message_of_another_major_version_is_refused_as_such(version: list[int]) -> None:
    raw = msgpack.unpackb(golden("1.0", "observation"))
    raw["v"] = version

    with pytest.raises(UnknownSchemaVersion, match=f"major version {version[0]} is unknown; this release reads 1"):
        unpack(msgpack.packb(raw), Observation)
