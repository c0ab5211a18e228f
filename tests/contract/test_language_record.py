"""The record of what a language model said: the first outcome stays, answers are found again, the forgotten is gone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import InvalidSetting, StoreUnavailable
from stores.language.record import LanguageRecord, ModelOutcome, TextKey, open_record

ONE, TWO = TextKey("b", "o1", "s1"), TextKey("b", "o2", "s2")
SAID, LATE = ModelOutcome("{}", "llm:1:m"), ModelOutcome(failed="timeout")


@pytest.fixture
def record(tmp_path: Path) -> Iterator[LanguageRecord]:
    opened = LanguageRecord(tmp_path / "new" / "language.db")
    yield opened
    opened.close()


def test_what_was_kept_is_there_in_another_process_s_view(record: LanguageRecord, tmp_path: Path) -> None:
    assert record.keep({ONE: ("q1", SAID), TWO: ("q2", LATE)}) == {ONE: SAID, TWO: LATE}
    other = LanguageRecord(tmp_path / "new" / "language.db")
    assert other.outcomes([ONE, TWO, TextKey("b", "o3", "s3")]) == {ONE: SAID, TWO: LATE}
    other.close()


def test_the_first_outcome_stays_whoever_comes_later(record: LanguageRecord) -> None:
    record.keep({ONE: ("q1", LATE)})
    assert record.keep({ONE: ("q1", SAID)}) == {ONE: LATE}


def test_of_many_that_write_at_once_all_get_the_same(record: LanguageRecord) -> None:
    with ThreadPoolExecutor(8) as pool:
        stands = pool.map(lambda n: record.keep({ONE: ("q1", ModelOutcome(str(n), "m"))})[ONE], range(32))
    assert len(set(stands)) == 1


def test_an_answer_is_found_by_its_question_and_a_failure_is_not(record: LanguageRecord) -> None:
    record.keep({ONE: ("q1", SAID), TWO: ("q2", LATE)})
    assert (record.answered("q1"), record.answered("q2"), record.answered("q3")) == (SAID, None, None)


def test_one_id_with_another_text_is_another_entry(record: LanguageRecord) -> None:
    record.keep({ONE: ("q1", SAID)})
    assert record.outcomes([TextKey("b", "o1", "s9"), TextKey("c", "o1", "s1")]) == {}


def test_what_is_forgotten_is_gone_from_the_file(record: LanguageRecord, tmp_path: Path) -> None:
    record.keep({ONE: ("q1", ModelOutcome("canary-4711", "m")), TWO: ("q2", SAID)})
    assert record.forget("b", ["o1", "o9"]) == 1
    assert record.forget("c", ["o2"]) == 0
    assert record.outcomes([ONE, TWO]) == {TWO: SAID}
    assert record.answered("q1") is None
    assert not any(b"canary" in path.read_bytes() for path in (tmp_path / "new").iterdir())


def test_a_record_is_made_only_where_one_is_wanted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'language.db'}"
    assert open_record("", wanted=True) is None
    assert open_record(url, wanted=False) is None
    made = open_record(url, wanted=True)
    again = open_record(url, wanted=False)
    assert made is not None
    assert again is not None
    made.close()
    again.close()


def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting):
        open_record("kafka://host", wanted=True)
    (tmp_path / "language.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreUnavailable):
        open_record(f"sqlite:///{tmp_path / 'language.db'}", wanted=False)
