"""The library against hostile input: subclasses of str and float, white space as a name, addresses that are none."""

from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest

from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.errors import BeliefmeshError, InvalidInput, InvalidSetting
from schemas.query import Principal


class Agent(StrEnum):
    """An agent's name, as a program may hold it."""

    DESK = "desk"


def test_texts_and_numbers_of_a_subclass_are_kept_as_the_plain_ones(memory: Memory) -> None:
    claim = {"entity": Agent.DESK, "attribute": "load", "value": np.float64(0.5), "scope": {"day": Agent.DESK}}

    receipt = memory.retain({"text": np.str_("Load is 0.5."), "agent": Agent.DESK, "claims": [claim]})

    answer = memory.recall(np.str_("What is the load of the desk?"), principal=Agent.DESK)
    assert len(receipt.ids) == 1
    assert [found.belief.value for found in answer.found] == [0.5]
    memory.feedback(answer.found[0].belief.id, "used", agent=Agent.DESK)


@pytest.mark.parametrize("field", ["agent", "owner", "session"])
def test_white_space_is_no_name_so_that_nothing_accepted_dies_of_it_later(memory: Memory, field: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field}: is only white space"):
        memory.retain({"text": "The desk is open.", field: " \t"})

    assert memory.banks() == []


def test_white_space_in_metadata_is_kept(memory: Memory) -> None:
    assert memory.retain({"text": "The desk is open.", "metadata": {"separator": " "}}).ids


def test_lines_of_a_file_opened_as_text_are_imported(memory: Memory) -> None:
    done = memory.import_lines(['{"text": "The desk is open."}\n', "no JSON\n", '{"text": "\ud800"}'])

    assert (done.accepted, done.dead) == (1, 2)


def test_rows_that_cannot_be_used_are_set_aside_and_lose_no_other(memory: Memory) -> None:
    endless: dict[str, object] = {}
    endless["text"] = endless
    bad = [{"text": ""}, {"text": "\ud800"}, {"text": object()}, {"weight": float("nan"), "text": "x"}, endless]

    done = memory.import_fields([{"text": "The desk is open."}, *bad, {"text": "The door is red."}])

    assert (done.accepted, done.dead) == (2, 5)
    assert {letter.original[:10] for letter in memory.dead_letters()} >= {b'{"text":""', b"{'text': '"}
    assert {found.belief.statement for found in memory.recall("desk or door").found} == {
        "The desk is open.",
        "The door is red.",
    }


@pytest.mark.parametrize("rows", [[5], ["The desk is open."], {"text": "The desk is open."}])
def test_rows_that_are_no_mappings_are_refused(memory: Memory, rows: object) -> None:
    with pytest.raises(InvalidInput, match=r"rows: hold (int|str); give mappings"):
        memory.import_fields(rows)  # type: ignore[arg-type]


def test_lines_that_are_neither_bytes_nor_text_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="lines: hold dict"):
        memory.import_lines([{"text": "x"}])  # type: ignore[list-item]


@pytest.mark.parametrize("field", ["fusion", "limit", "statuses", "scope", "retrievers"])
def test_a_lone_surrogate_where_no_text_belongs_is_refused(memory: Memory, field: str) -> None:
    memory.retain("The desk is open.")

    with pytest.raises(InvalidInput):
        memory.recall("desk", **{field: "\ud800"})


def test_an_empty_bank_or_folder_is_refused_and_not_taken_for_the_default(tmp_path: Path) -> None:
    settings = Settings(mesh=MeshSettings(folder=str(tmp_path)), stores=StoreSettings(embedder="hashing:256"))

    for folder, bank in (("", "shop"), ("\x00", "shop"), (str(tmp_path), "")):
        with pytest.raises(BeliefmeshError, match=r"bank|folder"):
            Memory(folder, bank=bank, settings=settings)


def test_a_recall_log_that_cannot_be_written_does_not_hinder_closing(memory: Memory) -> None:
    memory.retain("The desk is open.")
    memory.recall("desk")
    memory.home.log.close()

    memory.close()


# Over HTTP


@pytest.mark.parametrize(
    "url",
    ["", "ftp://mesh", "http://", "http://[", "http://mesh:99999", "http://mesh:door", "http://a b", "http://m/\n"],
)
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidSetting, match="url"):
        Memory.connect(url)


@pytest.mark.parametrize(
    "asker", [Principal("le\nna"), Principal(" lena"), Principal("bob", ("hr,board",)), Principal("bob", ("hr ",))]
)
def test_a_name_that_would_arrive_as_another_one_is_not_sent(asker: Principal) -> None:
    with pytest.raises(InvalidInput):
        RemoteMemory("http://127.0.0.1:9").recall("desk", principal=asker)


@pytest.mark.parametrize("told", [5, None, b"x", [5], [None], [["text", "x"]]])
def test_what_is_no_observation_is_refused_by_the_mesh_and_not_by_the_language(told: object) -> None:
    with pytest.raises(BeliefmeshError):
        RemoteMemory("http://127.0.0.1:9", patience=0).retain(told)  # type: ignore[arg-type]
