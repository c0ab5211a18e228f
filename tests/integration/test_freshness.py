"""Read your writes: what a token names is in the answer that waited for it (field cases 22 and 36)."""

import pytest

from beliefmesh.memory import Memory
from schemas.errors import Busy, InvalidInput
from stores.ports import Entry
from streams.freshness import token_of


def told(number: int) -> dict[str, object]:
    return {"text": f"Parcel {number} lies in hall {number + 1}.", "agent": f"agent {number}"}


def statements(memory: Memory, question: str, token: str = "") -> list[str]:
    return [one.belief.statement for one in memory.recall(question, wait_for=token, limit=30).found]


def test_a_token_is_waited_for_without_a_background_worker(memory: Memory) -> None:
    receipt = memory.retain(told(1), wait=False)
    assert memory.stats()["lag"]["extract"] == 1
    assert statements(memory, "Parcel 1", receipt.token) == ["Parcel 1 lies in hall 2."]


def test_a_token_is_waited_for_while_the_worker_runs(memory: Memory) -> None:
    memory.home.start()
    for number in range(10):
        receipt = memory.retain(told(number), wait=False)
        assert f"Parcel {number} lies in hall {number + 1}." in statements(memory, f"Parcel {number}", receipt.token)


def test_one_token_covers_everything_that_was_told_with_it(memory: Memory) -> None:
    memory.home.start()
    receipt = memory.retain([told(number) for number in range(40)], wait=False)
    assert len(receipt.ids) == 40
    memory.wait(receipt.token)
    assert memory.stats("default")["banks"]["default"]["evidence"] == 40
    assert memory.stats("default")["banks"]["default"]["unindexed"] == 0


def test_a_token_of_an_import_covers_every_line(memory: Memory) -> None:
    memory.home.start()
    lines = [b'{"text": "Parcel %d lies in hall 7.", "agent": "a%d"}' % (number, number) for number in range(30)]
    memory.wait(memory.import_lines(lines).token)
    assert len(statements(memory, "Which parcel lies in hall 7?")) == 30


def test_a_token_is_good_after_a_restart_and_again(open_memory) -> None:
    memory = open_memory()
    token = memory.retain(told(1), wait=False).token
    memory.close()
    again = open_memory()
    assert statements(again, "Parcel 1", token) == statements(again, "Parcel 1", token) == ["Parcel 1 lies in hall 2."]


def test_a_token_of_a_poison_message_does_not_wait_for_ever(memory: Memory) -> None:
    memory.home.start()
    places = memory.home.log.append("observations", [Entry("k", b"poison")], memory.home.clock())
    memory.wait(token_of(places), timeout=20.0)
    assert len(memory.dead_letters()) == 1


def test_every_accepted_id_is_applied_or_set_aside(memory: Memory, sample_lines: list[bytes]) -> None:
    memory.home.start()
    imported = memory.import_lines(sample_lines[:120])
    receipts = [memory.retain(told(number), wait=False) for number in range(20)]
    for token in (imported.token, *(receipt.token for receipt in receipts)):
        memory.wait(token)
    ids = [id for receipt in receipts for id in receipt.ids]
    applied = {piece.observation_id for piece in memory.home.graph.evidence_of_observations("default", ids)}
    assert applied == set(ids)
    assert memory.doctor().differences == ()


def test_closing_finishes_the_batch_in_hand_and_leaves_the_rest_for_the_next_start(open_memory) -> None:
    memory = open_memory(batch=1)
    for number in range(300):  # told one by one, so that each has a record, and so a batch, of its own
        memory.retain(told(number), wait=False)
    memory.home.start()
    memory.close()
    again = open_memory()
    assert again.stats()["lag"]["extract"] > 0
    again.home.start()
    again.wait(again.retain(told(300), wait=False).token)
    assert again.stats("default")["banks"]["default"]["evidence"] == 301


@pytest.mark.parametrize(
    "token",
    [
        *("x", "1", "1:", ":1", "1:2,", "1:2;3:4", "-1:2", "1:-2", " 1:2", "1:2\n", "१:२", "0:\x00", "0:\ud800"),
        "0:" + "9" * 5_000,
        "0:1," * 5_000,
    ],
)
def test_what_is_no_token_of_ours_is_refused_by_name(memory: Memory, token: str) -> None:
    memory.retain(told(1))
    with pytest.raises(InvalidInput) as refused:
        memory.recall("Parcel 1", wait_for=token)
    assert refused.value.field == "wait_for"


@pytest.mark.parametrize("token", [5, b"0:1", ["0:1"]])
def test_a_token_is_text(memory: Memory, token: object) -> None:
    memory.retain(told(1))
    with pytest.raises(InvalidInput, match="wait_for"):
        memory.recall("Parcel 1", wait_for=token)  # type: ignore[arg-type]


@pytest.mark.parametrize("token", ["0:999999", "99:1", "2:9,7:9"])
def test_a_token_of_another_log_is_refused_at_once(memory: Memory, token: str) -> None:
    memory.retain(told(1))
    with pytest.raises(InvalidInput, match="wait_for"):
        memory.recall("Parcel 1", wait_for=token)


def test_waiting_too_long_is_busy_and_loses_nothing(memory: Memory) -> None:
    memory.home.start()
    memory.home.worker.stop()
    token = memory.retain(told(1), wait=False).token
    with pytest.raises(Busy, match=r"not recallable after 0\.05 s"):
        memory.wait(token, timeout=0.05)
    assert memory.home.log.ends("observations") != memory.home.log.committed("beliefmesh", "observations")
