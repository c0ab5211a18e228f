"""How the recall log becomes the usage of beliefs: each record once, whatever stops it, and never across banks."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs.usage import count_usage
from schemas.budget import Use
from schemas.query import Principal
from schemas.recall_record import Feedback, RecallRecord, UsedBelief
from schemas.usage import Outcome, Usage
from schemas.wire import pack
from stores.kafka.options import KafkaOptions
from stores.open import open_log
from stores.ports import Entry, Log, TopicPlan
from stores.sqlite.usage import UsageFile

TOPIC = "recall-log"


@pytest.fixture
def log(tmp_path: Path):
    """An empty recall log."""
    opened = open_log(f"sqlite:///{tmp_path / 'log.db'}", KafkaOptions())
    opened.create(TOPIC, TopicPlan(1))
    yield opened
    opened.close()


@pytest.fixture
def usage(tmp_path: Path):
    """No usage yet."""
    opened = UsageFile(tmp_path / "usage.db")
    yield opened
    opened.close()


def recall(log: Log, *beliefs: str, at: int = 1, bank: str = "shop") -> None:
    """A recall that returned these beliefs."""
    used = tuple(UsedBelief(id, 1, "active", 0.9, ()) for id in beliefs)
    record = RecallRecord(id=f"a{at}", bank=bank, question="?", principal=Principal(), at=at, moment=at, beliefs=used)
    log.append(TOPIC, [Entry(bank, pack(record, record.id))], at)


def judge(log: Log, belief: str, verdict: str, agent: str, at: int, bank: str = "shop") -> None:
    """A verdict of an agent."""
    told = Feedback(bank, belief, 1, verdict, agent, at)  # type: ignore[arg-type]
    log.append(TOPIC, [Entry(bank, pack(told, belief))], at)


def test_recalls_and_the_different_agents_behind_each_verdict_are_counted(log: Log, usage: UsageFile) -> None:
    recall(log, "b1", "b2", at=10)
    recall(log, "b1", at=20)
    judge(log, "b1", "right", "ana", 30)
    judge(log, "b1", "right", "ana", 40)
    judge(log, "b1", "right", "ben", 50)
    judge(log, "b1", "wrong", "dora", 60)

    assert count_usage(log, TOPIC, usage) == 6
    assert usage.usage("shop", ["b1", "b2", "b3"]) == {
        "b1": Usage(recalled=2, last_recalled=20, right=2, wrong=1),
        "b2": Usage(recalled=1, last_recalled=10),
    }


def test_the_count_goes_on_where_it_stopped_also_after_it_was_opened_again(log: Log, tmp_path: Path) -> None:
    first = UsageFile(tmp_path / "usage.db")
    recall(log, "b1", at=10)
    assert count_usage(log, TOPIC, first) == 1
    first.close()

    second = UsageFile(tmp_path / "usage.db")
    recall(log, "b1", at=20)
    assert count_usage(log, TOPIC, second) == 1
    assert count_usage(log, TOPIC, second) == 0
    assert second.usage("shop", ["b1"])["b1"].recalled == 2
    second.close()


def test_a_page_that_was_counted_already_is_not_counted_twice(usage: UsageFile) -> None:
    told = [Feedback("shop", "b1", 1, "used", "ana", 5)]

    assert usage.count(TOPIC, 0, 1, told)
    assert not usage.count(TOPIC, 0, 1, told)
    assert usage.place(TOPIC) == 1


def test_a_page_that_fails_in_the_middle_leaves_nothing(usage: UsageFile) -> None:
    def breaks():
        yield Feedback("shop", "b1", 1, "used", "ana", 5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        usage.count(TOPIC, 0, 2, breaks())

    assert usage.place(TOPIC) == 0
    assert usage.usage("shop", ["b1"]) == {}


def test_several_that_count_at_once_count_each_record_once(log: Log, tmp_path: Path) -> None:
    used = (UsedBelief("b1", 1, "active", 0.9, ()),)
    records = [
        RecallRecord(id=f"a{at}", bank="shop", question="?", principal=Principal(), at=at, moment=at, beliefs=used)
        for at in range(2_500)
    ]
    log.append(TOPIC, [Entry("shop", pack(record, record.id)) for record in records], 1)

    def one(_: int) -> int:
        own = UsageFile(tmp_path / "usage.db")
        counted = count_usage(log, TOPIC, own)
        own.close()
        return counted

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(one, range(8))) == 2_500
    last = UsageFile(tmp_path / "usage.db")
    assert last.usage("shop", ["b1"])["b1"].recalled == 2_500
    last.close()


def test_banks_are_counted_apart(log: Log, usage: UsageFile) -> None:
    recall(log, "b1", at=10, bank="shop")
    judge(log, "b1", "used", "ana", 20, bank="shop")
    recall(log, "b1", at=30, bank="other")
    count_usage(log, TOPIC, usage)

    assert usage.usage("other", ["b1"]) == {"b1": Usage(recalled=1, last_recalled=30)}
    assert usage.outcomes("other") == []
    assert usage.recalled("shop", "", 10) == [("b1", 10)]


def test_what_cannot_be_read_is_passed_over(log: Log, usage: UsageFile) -> None:
    log.append(TOPIC, [Entry("shop", b"\xc1 not msgpack")], 1)
    recall(log, "b1", at=10)

    assert count_usage(log, TOPIC, usage) == 2
    assert usage.usage("shop", ["b1"])["b1"].recalled == 1


def test_an_outcome_knows_the_recall_before_it(log: Log, usage: UsageFile) -> None:
    judge(log, "b1", "wrong", "ana", 5)
    recall(log, "b1", at=10)
    judge(log, "b1", "right", "ben", 25)
    count_usage(log, TOPIC, usage)

    assert usage.outcomes("shop") == [Outcome("b1", "wrong", 5, 0), Outcome("b1", "right", 25, 10)]


def test_what_is_forgotten_is_gone_from_one_bank_only(log: Log, usage: UsageFile) -> None:
    for bank in ("shop", "other"):
        recall(log, "b1", "b2", at=10, bank=bank)
    count_usage(log, TOPIC, usage)

    usage.forget("shop", ["b1"])

    assert set(usage.usage("shop", ["b1", "b2"])) == {"b2"}
    assert set(usage.usage("other", ["b1", "b2"])) == {"b1", "b2"}


def test_the_last_measure_of_a_bank_is_kept(usage: UsageFile) -> None:
    usage.keep_use("shop", Use(beliefs=1), 5)
    usage.keep_use("shop", Use(beliefs=2, bytes=7, importance=1.5), 9)

    assert usage.last_use("shop") == (Use(beliefs=2, bytes=7, importance=1.5), 9)
    assert usage.last_use("other") is None
