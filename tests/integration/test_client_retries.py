"""The client over a network that loses requests and replies: everything is done, and nothing twice."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from cutting_proxy import CuttingProxy

from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.errors import InvalidInput, NotFound, StoreUnavailable, VersionConflict

Through = Callable[..., RemoteMemory]

GATE = {"claims": [{"entity": "gate 4", "attribute": "state", "value": "open"}], "agent": "desk"}


def evidence_in(memory: Memory) -> int:
    counts: dict[str, int] = memory.stats("default")["banks"]["default"]
    return counts["evidence"]


@pytest.fixture
def proxies() -> Iterator[list[CuttingProxy]]:
    """The proxies of a test; each is stopped after it."""
    started: list[CuttingProxy] = []
    yield started
    for proxy in started:
        proxy.stop()


@pytest.fixture
def through(url: str, proxies: list[CuttingProxy]) -> Through:
    """A client of the served memory through a proxy with a plan."""

    def client(*plan: str, patience: float = 20.0) -> RemoteMemory:
        proxies.append(CuttingProxy(url, list(plan)))
        return RemoteMemory(proxies[-1].url, patience=patience)

    return client


def test_a_write_whose_reply_was_lost_gets_the_same_reply_and_has_one_effect(
    through: Through, proxies: list[CuttingProxy], memory: Memory
) -> None:
    remote = through("after", "half")

    receipt = remote.retain(GATE, expected_version=0)

    assert evidence_in(memory) == 1
    assert [receipt.ids[0]] == [
        piece.observation_id for piece in memory.history(entity="gate 4", attribute="state").turns[0].evidence
    ]
    keys = {key for _, _, key in proxies[0].seen}
    assert len(proxies[0].seen) == 3
    assert len(keys) == 1
    assert keys != {None}


def test_a_merge_whose_reply_was_lost_is_told_once(through: Through, memory: Memory) -> None:
    memory.retain([GATE, {"claims": [{"entity": "gate four", "attribute": "colour", "value": "red"}]}])
    told = evidence_in(memory)

    report = through("after").merge("gate four", "gate 4")

    assert report.applied
    assert evidence_in(memory) == told + 1


def test_two_writes_alike_have_keys_of_their_own(through: Through, proxies: list[CuttingProxy]) -> None:
    remote = through()
    remote.retain(GATE, expected_version=0)

    with pytest.raises(VersionConflict):
        remote.retain(GATE, expected_version=0)
    assert len({key for _, _, key in proxies[0].seen}) == 2


def test_each_part_of_an_import_is_sent_again_where_it_failed(through: Through, memory: Memory) -> None:
    lines = [f'{{"text": "Shelf {each} is empty."}}' for each in range(1_500)]

    done = through("after", "before", "pass", "half").import_lines(lines)

    assert (done.accepted, done.dead) == (1_500, 0)
    assert evidence_in(memory) == 1_500


@pytest.mark.parametrize("step", ["before", "after", "half", "busy", "away", "gateway"])
def test_a_question_that_fails_on_the_way_is_asked_again_without_a_key(
    step: str, through: Through, proxies: list[CuttingProxy], memory: Memory
) -> None:
    memory.retain(GATE)

    assert through(step).recall("What is the state of gate 4?").found[0].belief.value == "open"
    assert [key for _, _, key in proxies[0].seen] == [None, None]


def test_what_the_mesh_refuses_for_good_is_not_sent_again(through: Through, proxies: list[CuttingProxy]) -> None:
    remote = through()

    with pytest.raises(InvalidInput, match="weight"):
        remote.retain({"text": "x", "weight": -1})
    with pytest.raises(NotFound):
        remote.explain("b0")
    assert len(proxies[0].seen) == 2


def test_patience_has_an_end_and_the_error_says_what_failed(through: Through, proxies: list[CuttingProxy]) -> None:
    remote = through(*["before"] * 50, patience=0.5)
    started = time.monotonic()

    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        remote.retain(GATE)
    assert time.monotonic() - started < 5.0
    assert 2 <= len(proxies[0].seen) < 50


def test_without_patience_a_request_is_sent_once(through: Through, proxies: list[CuttingProxy]) -> None:
    with pytest.raises(StoreUnavailable):
        through("away", patience=0.0).banks()
    assert len(proxies[0].seen) == 1


def test_many_threads_over_a_bad_network_tell_everything_once(
    through: Through, memory: Memory, proxies: list[CuttingProxy]
) -> None:
    remote = through(*["after", "before", "busy", "pass"] * 5)
    threads = [
        threading.Thread(target=remote.retain, args=(f"Box {each} holds {each} lamps.",), kwargs={"agent": f"a{each}"})
        for each in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert evidence_in(memory) == 8
