"""What each of the three searches of an index finds first."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from schemas.instant import DAY
from stores.ports import PUBLIC, Hit, IndexFilter, IndexRow, SearchIndex, Vectors

MAY = 1_714_521_600_000_000
EVERYBODY = IndexFilter(bank="acme", readers=(PUBLIC,))
EAST = np.array([1, 0, 0, 0], np.float32)
NORTH = np.array([0, 1, 0, 0], np.float32)

Row = Callable[..., IndexRow]
Put = Callable[..., None]


def toward(degrees: float) -> Vectors:
    """A unit vector that many degrees from EAST toward NORTH."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0, 0], np.float32)


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.belief for hit in hits]


class TestSemantic:
    def test_nearest_come_first_and_the_score_is_the_cosine(self, index: SearchIndex, row: Row, put: Put) -> None:
        for degrees in range(0, 90, 5):
            put(index, row(f"b{degrees}"), vector=toward(degrees))

        hits = index.semantic(EVERYBODY, toward(21), 3)

        assert names(hits) == ["b20", "b25", "b15"]
        assert [hit.score for hit in hits] == pytest.approx(
            [np.cos(np.radians(degrees)) for degrees in (1, 4, 6)], abs=2e-3
        )

    def test_a_belief_comes_once_with_the_score_of_its_best_row(self, index: SearchIndex, row: Row) -> None:
        rows = [row("b1", audience=f"a{at}") for at in range(30)] + [row("b2"), row("b3")]
        index.upsert(rows, np.array([toward(at) for at in range(30)] + [toward(40), toward(50)]))

        hits = index.semantic(EVERYBODY, EAST, 3)

        assert names(hits) == ["b1", "b2", "b3"]
        assert hits[0].score == pytest.approx(1.0, abs=1e-3)

    @pytest.mark.parametrize("limit", [0, -1])
    def test_a_limit_below_one_gives_nothing(self, index: SearchIndex, limit: int, row: Row, put: Put) -> None:
        put(index, row("b1", "word"))
        assert index.semantic(EVERYBODY, EAST, limit) == index.keyword(EVERYBODY, "word", limit) == []
        assert index.by_time(EVERYBODY, MAY, MAY, limit) == []

    def test_it_agrees_with_an_exact_scan_while_rows_come_change_and_go(self, index: SearchIndex, row: Row) -> None:
        random = np.random.default_rng(3)
        vectors = random.standard_normal((400, 4)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        held: dict[str, int] = {}
        for step in range(40):
            chosen = random.choice(400, 10, replace=False).tolist()
            index.upsert([row(f"b{at % 200}") for at in chosen], vectors[chosen])
            held |= {f"b{at % 200}": at for at in chosen}
            if step % 4 == 0:
                gone = sorted(held)[:3]
                index.delete("acme", gone)
                held = {belief: at for belief, at in held.items() if belief not in gone}

            hits = index.semantic(EVERYBODY, vectors[step], 10)

            best = sorted((float(vectors[at] @ vectors[step]) for at in held.values()), reverse=True)[:10]
            assert [hit.score for hit in hits] == pytest.approx(best, abs=3e-3)


class TestKeyword:
    @pytest.mark.parametrize(
        ("text", "question"),
        [
            ("公司规定满200元免运费", "免运费"),
            ("公司规定满200元免运费", "规"),
            ("明日は東京タワーに行きます", "東京"),
            ("서울에서 만나요", "서울"),
            ("Она переехала в Москву летом", "Москва"),
            ("انتقلت المهندسة إلى مدينة القاهرة", "القاهرة"),
            ("ฉันชอบกินข้าวผัด", "ข้าว"),
            ("ភាសាខ្មែរ", "ខ្មែរ"),
            ("मुझे हिन्दी भाषा पसंद है", "हिन्दी"),
            ("meet at the cafe\u0301", "caf\u00e9"),
            ("meet at the caf\u00e9", "cafe\u0301"),
            ("meet at the café", "CAFÉ"),
            ("ＡＢＣ１２３ is the code", "abc123"),
            ("abc123 is the code", "ＡＢＣ１２３"),
            ("Große Straße", "STRASSE"),
            ("the server db-1 runs v2.3.1", "db-1"),
            ("the server db-1 runs v2.3.1", "V2.3.1"),
            ("write to user@x.org", "user@x.org"),
            ("write to user@x.org", "x.org"),
            ("all reports use template_A", "template_a"),
            ("shipping is free from 1,000", "1000"),
            ("she was running", "runs"),
        ],
    )
    def test_a_partial_question_hits_in_every_script(
        self, index: SearchIndex, text: str, question: str, row: Row, put: Put
    ) -> None:
        put(index, row("right", text), row("wrong", "nothing of the kind 其他 другое"))
        assert names(index.keyword(EVERYBODY, question, 10)) == ["right"]

    @pytest.mark.parametrize(
        "question", ["", "   ", "...", 'text:"x', "a AND (b OR", "*", "bank:other", "\x00", "-word +", "?" * 10_000]
    )
    def test_no_question_is_an_error_or_escapes_the_bank(
        self, index: SearchIndex, question: str, row: Row, put: Put
    ) -> None:
        put(index, row("other", "x b a word bank", bank="other"))
        assert index.keyword(EVERYBODY, question, 10) == []

    def test_more_and_rarer_words_score_higher(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(
            index,
            *[row(f"common{at}", "the report is late") for at in range(20)],
            row("rare", "the invoice is late"),
            row("both", "the report and the invoice"),
        )
        assert names(index.keyword(EVERYBODY, "invoice report", 2)) == ["both", "rare"]

    def test_the_score_is_the_sum_over_text_and_keywords(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(
            index,
            row("text", "giraffe", keywords="zebra"),
            row("keywords", "zebra", keywords="giraffe"),
            row("both", "giraffe", keywords="giraffe"),
        )

        scores = {hit.belief: hit.score for hit in index.keyword(EVERYBODY, "giraffe", 10)}

        assert scores["both"] == pytest.approx(scores["text"] + scores["keywords"])

    def test_filters_add_nothing_to_the_score(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1", "giraffe", entities=("n1",), readers=(PUBLIC, "u:ann")))
        narrow = IndexFilter(
            bank="acme",
            readers=(PUBLIC, "u:ann"),
            statuses=("active",),
            networks=("world",),
            entities=("n1",),
            occurred_from=0,
            occurred_to=MAY,
        )
        assert index.keyword(narrow, "giraffe", 1) == index.keyword(EVERYBODY, "giraffe", 1)

    def test_a_belief_comes_once_with_the_score_of_its_best_row(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(
            index,
            *[row("b1", "giraffe giraffe", audience=f"a{at}") for at in range(30)],
            row("b2", "a giraffe among many other animals"),
        )

        hits = index.keyword(EVERYBODY, "giraffe", 2)

        assert names(hits) == ["b1", "b2"]
        assert hits[0].score > hits[1].score


class TestByTime:
    def test_what_occurred_nearest_to_the_middle_comes_first(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(
            index,
            row("middle", occurred=(MAY + 5 * DAY, MAY + 5 * DAY)),
            row("early", occurred=(MAY - 3 * DAY, MAY + DAY)),
            row("late", occurred=(MAY + 9 * DAY, None)),
            row("outside", at=MAY + 5 * DAY, occurred=(MAY + 11 * DAY, MAY + 12 * DAY)),
        )

        hits = index.by_time(EVERYBODY, MAY, MAY + 10 * DAY, 10)

        assert names(hits) == ["middle", "late", "early"]
        assert [hit.score for hit in hits] == pytest.approx([1.0, 1 / (1 + 4 / 10), 1 / (1 + 6 / 10)])
        assert all(first.score > second.score for first, second in pairwise(hits))

    def test_newest_support_counts_where_nothing_occurred(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1", at=MAY), row("b2", at=MAY + DAY))
        assert names(index.by_time(EVERYBODY, MAY, MAY, 10)) == ["b1"]

    def test_rows_without_vectors_are_found(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1", embedded=False))
        assert names(index.by_time(EVERYBODY, MAY, MAY, 10)) == ["b1"]

    def test_an_empty_period_finds_nothing(self, index: SearchIndex, row: Row, put: Put) -> None:
        put(index, row("b1"))
        assert index.by_time(EVERYBODY, MAY + 1, MAY - 1, 10) == []
