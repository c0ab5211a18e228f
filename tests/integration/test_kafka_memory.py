"""A memory whose log is Kafka does what one on the embedded log does."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kafka_broker import PASSWORD, USER, Broker

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings
from schemas.errors import InvalidSetting, NotFound
from stores.kafka.options import KafkaOptions
from stores.ports import Entry

pytestmark = pytest.mark.kafka

ASKED = 1_718_020_800_000_000


def settings(address: str, folder: Path, kafka: KafkaOptions = KafkaOptions()) -> Settings:  # noqa: B008 (frozen)
    return Settings(
        mesh=MeshSettings(folder=str(folder), runtime="inline"),
        stores=StoreSettings(log=f"kafka://{address}", embedder="none:"),
        streams=StreamSettings(prefix=f"m{secrets.token_hex(6)}-", partitions=3),
        kafka=kafka,
    )


@pytest.fixture
def memory(kafka: str, tmp_path: Path) -> Iterator[Memory]:
    with Memory(settings=settings(kafka, tmp_path / "kafka")) as memory:
        yield memory


def test_the_sample_ends_in_the_same_state_as_on_the_embedded_log(
    memory: Memory, sample_lines: list[bytes], tmp_path: Path
) -> None:
    embedded = Settings(mesh=MeshSettings(folder=str(tmp_path / "embedded"), runtime="inline"))
    with Memory(settings=embedded) as other:
        other.import_lines(sample_lines)
        wanted = other.state_hash(now=ASKED)
        letters = [letter.original for letter in other.dead_letters()]

    imported = memory.import_lines(sample_lines)
    memory.wait(imported.token)

    assert memory.state_hash(now=ASKED) == wanted
    assert [letter.original for letter in memory.dead_letters()] == letters
    assert memory.stats()["lag"] == {"extract": 0, "decide": 0, "index": 0}


def test_who_waits_for_the_token_of_what_was_told_recalls_it(memory: Memory) -> None:
    receipt = memory.retain("The gate code of the depot is 4711.", wait=False)

    answer = memory.recall("What is the gate code of the depot?", wait_for=receipt.token)

    assert "4711" in answer.found[0].belief.statement


def test_what_was_told_twice_counts_once(memory: Memory) -> None:
    told = {"id": "o1", "entity": "boat", "claims": [{"attribute": "colour", "value": "red"}]}

    memory.retain(told)
    memory.retain(told)

    (found,) = memory.recall("boat colour").found
    assert len(found.evidence) == 1
    assert memory.home.worker.counts["duplicates"] == 1


def test_a_dead_letter_is_listed_shown_replayed_and_dropped(memory: Memory) -> None:
    topic = memory.home.topics.name("observations")
    memory.home.log.append(topic, [Entry("acme/s1", b"spoiled", {"trace": "t1"})], ASKED)
    memory.home.worker.drain()

    (letter,) = memory.dead_letters()
    assert memory.dead_letter(letter.id).original == b"spoiled"
    memory.replay_dead_letter(letter.id)
    memory.home.worker.drain()
    (again,) = memory.dead_letters()
    assert (again.original, again.offset) == (b"spoiled", letter.offset + 1)
    memory.drop_dead_letter(again.id)

    assert memory.dead_letters() == []
    with pytest.raises(NotFound, match="no dead letter"):
        memory.dead_letter(again.id)


def test_a_replayed_letter_that_can_be_read_by_now_has_its_effect(memory: Memory) -> None:
    memory.import_lines([b'{"text": "The mast is made of ash.", "observed_at": "soon"}'])
    (letter,) = memory.dead_letters()

    with pytest.raises(Exception, match="observed_at"):
        memory.replay_dead_letter(letter.id)

    assert [one.id for one in memory.dead_letters()] == [letter.id]


@pytest.mark.parametrize("sasl", ["plain", "scram-sha-512"])
def test_a_memory_streams_over_tls_with_a_login(start_broker: Callable[..., Broker], tmp_path: Path, sasl: str) -> None:
    broker = start_broker(secure=True)
    options = KafkaOptions(tls=True, tls_ca=str(broker.certificate), sasl=sasl, username=USER, password=PASSWORD)  # type: ignore[arg-type]
    address = broker.address("SASL_SSL")

    with Memory(settings=settings(address, tmp_path / "mesh", options)) as memory:
        memory.retain("The mast is made of ash.")
        assert "ash" in memory.recall("What is the mast made of?").found[0].belief.statement

    wrong = KafkaOptions(tls=True, tls_ca=str(broker.certificate), sasl="plain", username=USER, password="wr0ng-one")
    with pytest.raises(InvalidSetting, match="kafka") as refused:
        Memory(settings=settings(address, tmp_path / "other", wrong))
    assert "wr0ng-one" not in str(refused.value)


def test_a_message_of_the_previous_version_is_read(memory: Memory) -> None:
    golden = Path(__file__).parents[1] / "golden" / "wire" / "1.0" / "observation.msgpack"
    message = golden.read_bytes()

    memory.home.log.append(memory.home.topics.name("observations"), [Entry("acme/s1", message)], ASKED)
    memory.home.worker.drain()

    assert memory.dead_letters() == []
    assert memory.home.worker.counts["observations"] == 1
