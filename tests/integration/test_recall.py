"""From a question to an answer, over the embedded stores."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from actors.extractor import Extractor
from actors.indexer import Indexer
from actors.recaller import Recaller
from actors.shard import EntityShard
from recall.judge import Filter
from recall.question import Question, Retriever, Sources
from recall.render import text
from schemas.claim import Claim, scope_of
from schemas.entity import Entity
from schemas.errors import InvalidInput, NotFound, StoreUnavailable, TooLarge, UnknownBank
from schemas.instant import DAY, HOUR, Instant, parse_instant
from schemas.observation import Observation, Source
from schemas.query import Principal, Query
from schemas.slot import belief_id, slot_id
from stores.local.index import LocalIndex
from stores.ports import Hit, IndexFilter, Vectors
from stores.sqlite.graph import SqliteGraph

NOW = parse_instant("2024-06-10T00:00:00Z", "now")
SHOP = Entity("shop")
BOB = Principal("bob", ("sales",))
ALICE = Principal("alice")


class Letters:
    """An embedder for tests: how often each letter stands in a text."""

    model_id = "letters"
    dimensions = 26

    def passages(self, texts: list[str]) -> Vectors:
        return np.stack([self.query(one) for one in texts])

    def query(self, text: str) -> Vectors:
        counts = np.array([text.lower().count(chr(97 + n)) for n in range(26)], np.float32)
        return counts / max(float(np.linalg.norm(counts)), 1e-9)


class Unread(LocalIndex):
    """An index whose searches wait for as long as nobody has had the bank read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 26, "letters")
        self._is_read = threading.Event()

    def prepare(self, bank: str) -> None:
        super().prepare(bank)
        self._is_read.set()

    def semantic(self, filter: IndexFilter, vector: Vectors, limit: int) -> list[Hit]:
        self._is_read.wait(30)
        return super().semantic(filter, vector, limit)


class Unreadable(LocalIndex):
    """An index that cannot be prepared."""

    def prepare(self, bank: str) -> None:
        raise StoreUnavailable(f"{bank} is away")


class House:
    """The embedded mesh from intake to recall."""

    def __init__(self, folder: Path) -> None:
        self.graph = SqliteGraph(folder / "graph.db")
        self.search: LocalIndex = LocalIndex(folder / "index", 26, "letters")
        self.embedder = Letters()
        self.recallers: list[Recaller] = []

    def tell(self, *observations: Observation, ingested_at: Instant = NOW) -> None:
        for observation in observations:
            (evidence,) = Extractor().extract([(observation, ingested_at)])
            changes = EntityShard(self.graph).apply(list(evidence), NOW)
            Indexer(self.graph, self.search, self.embedder).index(changes, NOW)

    def recaller(self, *, own: dict[str, Retriever] | None = None, filters: tuple[Filter, ...] = ()) -> Recaller:
        made = Recaller(self.graph, self.search, self.embedder, retrievers=own, filters=filters)
        self.recallers.append(made)
        return made

    def close(self) -> None:
        for recaller in self.recallers:
            recaller.close()
        self.search.close()
        self.graph.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    opened = House(tmp_path)
    yield opened
    opened.close()


def shipping(id: str, day: str, value: int, *, owner: str = "", scope: dict[str, str] | None = None) -> Observation:
    claim = Claim(
        entity=SHOP,
        attribute="free shipping from",
        value=value,
        value_type="money",
        statement=f"Shipping is free from {value} yuan",
        scope=scope_of(scope or {}),
        weight=2.0,
    )
    return Observation(
        id=id,
        bank="shops",
        source=Source(id, id, "document"),
        observed_at=parse_instant(day, "day"),
        claims=(claim,),
        owner=owner,
        visibility="private" if owner else "bank",
    )


def turn(number: int, words: str, *, day: str = "2023-05-07", owner: str = "", about: str = "trip") -> Observation:
    return Observation(
        id=f"turn-{number}",
        bank="shops",
        source=Source("chat", "carol", "dialogue"),
        agent="carol",
        observed_at=parse_instant(day, "day") + number * HOUR,
        session="chat",
        turn=number,
        claims=(Claim(entity=Entity(about), statement=words),),
        owner=owner,
        visibility="private" if owner else "bank",
    )


def query(words: str = "From when is shipping free?", **more: object) -> Query:
    return Query(**{"bank": "shops", "text": words, "now": NOW, **more})  # type: ignore[arg-type]


def shipping_id(value: int) -> str:
    return belief_id(slot_id("shops", SHOP, "free shipping from"), (), str(value))


OLD = shipping("policy-2024-03", "2024-03-01", 100)
NEW = shipping("policy-2024-05", "2024-05-20", 200)


@pytest.mark.parametrize("told", [(OLD, NEW), (NEW, OLD)])
def test_the_newer_document_answers_in_whatever_order_they_came(house: House, told: tuple[Observation, ...]) -> None:
    house.tell(*told)
    answer = house.recaller().recall(query())
    assert [one.belief.value for one in answer.found] == [200]
    assert round(answer.found[0].confidence, 3) == 0.774
    assert "document policy-2024-05 of 2024-05-20" in text(answer)


def test_as_of_asks_what_held_then(house: House) -> None:
    house.tell(OLD, NEW)
    answer = house.recaller().recall(query(as_of=parse_instant("2024-03-05", "as_of")))
    assert [one.belief.value for one in answer.found] == [100]


def test_known_at_asks_what_had_come_in_by_then(house: House) -> None:
    house.tell(OLD, ingested_at=NOW - 20 * DAY)
    house.tell(NEW, ingested_at=NOW - DAY)
    answer = house.recaller().recall(query(known_at=NOW - 10 * DAY, statuses=("active", "stale")))
    assert [one.belief.value for one in answer.found] == [100]


def test_private_evidence_neither_leaks_nor_overrules(house: House) -> None:
    house.tell(NEW, shipping("bob-note", "2024-06-01", 300, owner="bob"))
    recaller = house.recaller()
    seen = {
        who.id: [one.belief.value for one in recaller.recall(query(principal=who)).found]
        for who in (Principal(), ALICE, BOB)
    }
    assert seen == {"": [200], "alice": [200], "bob": [300]}
    assert recaller.recall(query("300", principal=ALICE)).left_out == {}


def test_an_invisible_belief_reads_as_an_unknown_one(house: House) -> None:
    house.tell(shipping("bob-note", "2024-06-01", 300, owner="bob"), NEW)
    recaller = house.recaller()
    hidden = next(one.belief.id for one in recaller.recall(query(principal=BOB)).found)
    assert recaller.explain("shops", hidden, BOB, NOW).belief.value == 300
    messages = []
    for id in (hidden, "b0000"):
        with pytest.raises(NotFound) as refused:
            recaller.explain("shops", id, ALICE, NOW)
        messages.append(str(refused.value).replace(id, "ID"))
    assert messages[0] == messages[1]


def test_a_question_with_a_scope_gets_the_most_specific_answer(house: House) -> None:
    house.tell(NEW, shipping("policy-eu", "2024-06-01", 50, scope={"region": "EU"}))
    recaller = house.recaller()
    european = recaller.recall(query(scope=scope_of({"region": "EU", "customer": "new"})))
    chinese = recaller.recall(query(scope=scope_of({"region": "CN"})))
    assert [one.belief.value for one in european.found] == [50]
    assert [one.belief.value for one in chinese.found] == [200]
    assert "except region: EU" in chinese.found[0].belief.statement


def test_a_conclusion_falls_with_its_premise_before_any_cascade_ran(house: House) -> None:
    premise = shipping("policy-2024-05", "2024-05-20", 200)
    house.tell(premise)
    recaller = house.recaller()
    held = recaller.recall(query()).found[0].belief.id
    derived = Claim(
        entity=Entity("cart"), statement="A cart of 200 yuan ships free", kind="derivation", premises=(held,)
    )
    house.tell(Observation(id="d", bank="shops", source=Source("agent"), observed_at=NOW - 5 * DAY, claims=(derived,)))
    before = recaller.recall(query("cart ships free"))
    house.tell(shipping("policy-2024-06", "2024-06-09", 400))
    after = recaller.recall(query("cart ships free"))
    assert "A cart of 200 yuan ships free" in {one.belief.statement for one in before.found}
    assert {one.belief.value for one in after.found} == {400}


def test_a_retriever_that_fails_is_reported_and_costs_only_its_hits(house: House) -> None:
    def broken(_: Question, __: Sources) -> list[Hit]:
        raise StoreUnavailable("the archive is away")

    house.tell(NEW)
    answer = house.recaller(own={"archive": broken}).recall(query())
    report = next(report for report in answer.reports if report.name == "archive")
    assert (report.state, report.note) == ("failed", "the archive is away")
    assert answer.degraded
    assert [one.belief.value for one in answer.found] == [200]


def test_a_retriever_that_is_late_is_left_out(house: House) -> None:
    released = threading.Event()

    def slow(_: Question, __: Sources) -> list[Hit]:
        released.wait(30)
        return []

    house.tell(NEW)
    answer = house.recaller(own={"semantic": slow}).recall(query(deadline=0.3))
    released.set()
    states = {report.name: report.state for report in answer.reports}
    assert states["semantic"] == "late"
    assert states["keyword"] == "ok"
    assert [one.belief.value for one in answer.found] == [200]


def test_reading_a_bank_for_the_first_time_makes_no_retriever_late(house: House, tmp_path: Path) -> None:
    house.search.close()
    house.search = Unread(tmp_path / "index")
    house.tell(NEW)
    answer = house.recaller().recall(query(deadline=0.3))
    assert not answer.degraded
    assert [one.belief.value for one in answer.found] == [200]


def test_an_index_that_cannot_be_prepared_is_searched_all_the_same(house: House, tmp_path: Path) -> None:
    house.search.close()
    house.search = Unreadable(tmp_path / "index", 26, "letters")
    house.tell(NEW)
    answer = house.recaller().recall(query())
    assert [one.belief.value for one in answer.found] == [200]


def test_without_an_embedder_the_others_answer(house: House) -> None:
    house.tell(NEW)
    recaller = Recaller(house.graph, house.search, None)
    answer = recaller.recall(query())
    recaller.close()
    assert {report.name: report.state for report in answer.reports}["semantic"] == "skipped"
    assert [one.belief.value for one in answer.found] == [200]


def test_a_callers_own_retriever_and_filter_take_part(house: House) -> None:
    house.tell(NEW, turn(1, "We packed the tent"))
    wanted = next(
        one.belief.id for one in house.recaller().recall(query("tent")).found if "tent" in one.belief.statement
    )

    def favourite(_: Question, __: Sources) -> list[Hit]:
        return [Hit(wanted, 1.0)]

    answer = house.recaller(
        own={"favourite": favourite}, filters=(lambda found: found.belief.attribute is None,)
    ).recall(query())
    assert [one.belief.id for one in answer.found] == [wanted]
    assert answer.found[0].scores["favourite"] == 1.0
    assert answer.left_out == {"filter": 1}


def test_a_date_in_the_question_finds_what_was_told_then(house: House) -> None:
    house.tell(turn(1, "We packed the tent"), turn(2, "We sold the boat", day="2023-08-01"))
    answer = house.recaller().recall(query("What went on on 7 May 2023?", retrievers=("temporal",)))
    assert [one.belief.statement for one in answer.found] == ["We packed the tent"]


def test_without_a_date_the_temporal_retriever_is_skipped(house: House) -> None:
    house.tell(NEW)
    answer = house.recaller().recall(query())
    assert {report.name: report.state for report in answer.reports}["temporal"] == "skipped"
    assert not answer.degraded


def test_spreading_finds_what_shares_only_an_entity_with_the_question(house: House) -> None:
    house.tell(turn(1, "It rained all day", about="Lisbon"), turn(2, "We sold the boat"))
    answer = house.recaller().recall(query("Lisbon?", retrievers=("spread",)))
    assert [one.belief.statement for one in answer.found] == ["It rained all day"]


def test_recent_turns_are_the_last_ones_that_the_asker_may_see(house: House) -> None:
    house.tell(turn(1, "We packed the tent"), turn(2, "A secret of bob's", owner="bob"), turn(3, "We left at six"))
    recaller = house.recaller()
    told = {
        who.id: [piece.statement for piece in recaller.recall(query(session="chat", recent=2, principal=who)).recent]
        for who in (ALICE, BOB)
    }
    assert told == {"alice": ["We left at six"], "bob": ["A secret of bob's", "We left at six"]}


def test_a_budget_of_tokens_is_kept_and_told(house: House) -> None:
    house.tell(NEW, turn(1, "Shipping of the tent was free"), turn(2, "Shipping of the boat was not free"))
    whole = house.recaller().recall(query())
    cut = house.recaller().recall(query(max_tokens=whole.tokens - 1))
    assert len(cut.found) == len(whole.found) - 1
    assert cut.left_out["budget"] == 1
    assert cut.tokens < whole.tokens


def test_the_same_question_has_the_same_answer(house: House) -> None:
    house.tell(OLD, NEW)
    first, second = (house.recaller().recall(query()) for _ in range(2))
    assert (first.id, first.found) == (second.id, second.found)


def test_history_tells_every_turn_to_those_who_may_see_it(house: House) -> None:
    house.tell(NEW, OLD, shipping("bob-note", "2024-06-01", 300, owner="bob"))
    recaller = house.recaller()
    asked = (SHOP, "free shipping from")
    days = {who.id: len(recaller.history("shops", asked, who, NOW).turns) for who in (ALICE, BOB)}
    assert days == {"alice": 2, "bob": 3}
    with pytest.raises(NotFound, match="there is no colour of shop"):
        recaller.history("shops", (SHOP, "colour"), ALICE, NOW)


def test_an_unknown_bank_is_refused(house: House) -> None:
    house.tell(NEW)
    with pytest.raises(UnknownBank, match="nowhere"):
        house.recaller().recall(query(bank="nowhere"))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"words": "   "}, "text"),
        ({"words": "a\x00b"}, "text"),
        ({"limit": 0}, "limit"),
        ({"min_confidence": 1.5}, "min_confidence"),
        ({"retrievers": ("psychic",)}, "retrievers"),
        ({"statuses": ()}, "statuses"),
        ({"recent": 3}, "session"),
        ({"deadline": float("nan")}, "deadline"),
        ({"bank": "../etc"}, "bank"),
    ],
)
def test_a_wrong_query_is_refused_by_field(house: House, changed: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        house.recaller().recall(query(**changed))  # type: ignore[arg-type]
    assert refused.value.field == field


def test_a_question_beyond_the_limit_is_too_large(house: House) -> None:
    with pytest.raises(TooLarge):
        house.recaller().recall(query("x" * 10_001))
