"""What a filter lets through, in all three searches of an index alike."""

from collections.abc import Callable

import numpy as np
import pytest

from schemas.belief import Status
from schemas.claim import Network
from schemas.instant import DAY
from stores.ports import PUBLIC, IndexFilter, IndexRow, SearchIndex

MAY = 1_714_521_600_000_000
EVERYBODY = IndexFilter(bank="acme", readers=(PUBLIC,))
EAST = np.array([1, 0, 0, 0], np.float32)
NORTH = np.array([0, 1, 0, 0], np.float32)

Row = Callable[..., IndexRow]
Put = Callable[..., None]
FoundBy = Callable[[SearchIndex, IndexFilter], set[str]]


class TestFilters:
    def test_nothing_crosses_banks(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        for bank in ("acme", "acme2", "ac"):
            put(index, row(f"canary-of-{bank}", "word", bank=bank))
        for bank in ("acme", "acme2", "ac"):
            filter = IndexFilter(bank=bank, readers=(PUBLIC,))
            assert found_by(index, filter) == {f"canary-of-{bank}"}
            others = [f"canary-of-{other}" for other in ("acme", "acme2", "ac")]
            assert index.vectors(bank, others, [PUBLIC]).keys() == {f"canary-of-{bank}"}

    @pytest.mark.parametrize(
        ("readers", "seen"),
        [
            ((PUBLIC,), {"public"}),
            (("u:ann",), {"ann", "both"}),
            (("u:bob", "g:ops"), {"both", "ops"}),
            ((PUBLIC, "u:ann", "g:ops"), {"public", "ann", "both", "ops"}),
            (("u:an",), set()),
            ((), set()),
        ],
    )
    def test_a_row_is_found_by_any_of_its_readers_only(
        self, index: SearchIndex, readers: tuple[str, ...], seen: set[str], row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(
            index,
            row("public", "word"),
            row("ann", "word", readers=("u:ann",)),
            row("both", "word", readers=("u:ann", "u:bob")),
            row("ops", "word", readers=("g:ops",)),
            row("nobody", "word", readers=()),
        )
        assert found_by(index, IndexFilter(bank="acme", readers=readers)) == set(seen)
        beliefs = ["public", "ann", "both", "ops", "nobody"]
        assert index.vectors("acme", beliefs, readers).keys() == seen

    def test_readers_are_applied_inside_the_search_and_cost_no_hit(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, *[row(f"secret{at}", "word word", readers=("u:ann",)) for at in range(60)])
        put(index, *[row(f"open{at}", "word word word", keywords="long " * 30) for at in range(5)], vector=NORTH)

        assert found_by(index, EVERYBODY) == {f"open{at}" for at in range(5)}
        assert len(index.semantic(EVERYBODY, EAST, 5)) == len(index.keyword(EVERYBODY, "word", 5)) == 5

    def test_statuses_filter_any_of(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        statuses: list[Status] = ["active", "contested", "revoked", "stale", "archived"]
        put(index, *[row(status, "word", status=status) for status in statuses])

        filter = IndexFilter(bank="acme", readers=(PUBLIC,), statuses=("active", "contested"))

        assert found_by(index, filter) == {"active", "contested"}
        assert found_by(index, EVERYBODY) == set(statuses)

    def test_a_checked_row_passes_every_status_filter(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, row("b1", "word", status="revoked", checked=True), row("b2", "word", status="revoked"))
        filter = IndexFilter(bank="acme", readers=(PUBLIC,), statuses=("active",))
        assert found_by(index, filter) == {"b1"}

    def test_a_row_no_longer_checked_obeys_its_status(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, row("b1", "word", status="revoked", checked=True))
        put(index, row("b1", "word", status="revoked"))
        filter = IndexFilter(bank="acme", readers=(PUBLIC,), statuses=("active",))
        assert found_by(index, filter) == set()

    def test_networks_filter_any_of(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        networks: list[Network] = ["world", "experience", "opinion", "observation"]
        put(index, *[row(network, "word", network=network) for network in networks])
        filter = IndexFilter(bank="acme", readers=(PUBLIC,), networks=("opinion", "world"))
        assert found_by(index, filter) == {"opinion", "world"}

    def test_entities_filter_any_of(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        put(
            index,
            row("b1", "word", entities=("n1", "n2")),
            row("b2", "word", entities=("n2",)),
            row("b3", "word", entities=("n3",)),
            row("b4", "word"),
        )
        filter = IndexFilter(bank="acme", readers=(PUBLIC,), entities=("n1", "n2", "n9"))
        assert found_by(index, filter) == {"b1", "b2"}

    @pytest.mark.parametrize(
        ("start", "end", "seen"),
        [
            (MAY, None, {"now", "later", "long"}),
            (None, MAY, {"now", "before", "long"}),
            (MAY - 2 * DAY, MAY - DAY, {"before", "long"}),
            (MAY + 20 * DAY, MAY + 30 * DAY, set()),
        ],
    )
    def test_occurred_bounds_keep_what_overlaps_and_use_at_where_nothing_occurred(
        self,
        index: SearchIndex,
        start: int | None,
        end: int | None,
        seen: set[str],
        row: Row,
        put: Put,
        found_by: FoundBy,
    ) -> None:
        put(
            index,
            row("now", "word", at=MAY),
            row("before", "word", occurred=(MAY - 2 * DAY, MAY - DAY)),
            row("later", "word", occurred=(MAY + DAY, None)),
            row("long", "word", at=MAY + 90 * DAY, occurred=(MAY - 10 * DAY, MAY + 10 * DAY)),
        )
        filter = IndexFilter(bank="acme", readers=(PUBLIC,), occurred_from=start, occurred_to=end)
        assert found_by(index, filter) == set(seen)

    def test_of_several_periods_any_lets_a_row_through(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(
            index,
            row("early", "word", at=MAY),
            row("between", "word", at=MAY + 5 * DAY),
            row("late", "word", occurred=(MAY + 9 * DAY, MAY + 11 * DAY)),
            row("hers", "word", at=MAY, readers=("u:ann",)),
        )
        periods = ((MAY - DAY, MAY + DAY), (MAY + 10 * DAY, MAY + 12 * DAY))
        filter = IndexFilter(bank="acme", readers=(PUBLIC,), periods=periods)
        assert found_by(index, filter) == {"early", "late"}

    def test_filters_combine(self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy) -> None:
        put(
            index,
            row("right", "word", network="opinion", entities=("n1",), readers=("g:ops",)),
            row("network", "word", network="world", entities=("n1",), readers=("g:ops",)),
            row("entity", "word", network="opinion", entities=("n2",), readers=("g:ops",)),
            row("status", "word", network="opinion", entities=("n1",), readers=("g:ops",), status="stale"),
            row("reader", "word", network="opinion", entities=("n1",), readers=("g:dev",)),
        )
        filter = IndexFilter(
            bank="acme", readers=("g:ops",), statuses=("active",), networks=("opinion",), entities=("n1",)
        )
        assert found_by(index, filter) == {"right"}

    def test_a_filter_that_keeps_most_rows_lets_no_other_through(
        self, index: SearchIndex, row: Row, put: Put, found_by: FoundBy
    ) -> None:
        put(index, *[row(f"b{at}", "word") for at in range(30)])
        put(index, *[row(f"old{at}", "word", status="revoked") for at in range(5)])
        put(index, *[row(f"hers{at}", "word", readers=("u:ann",)) for at in range(5)])
        put(index, *[row(f"b{at}", "word", bank="other") for at in range(30, 40)])
        active = IndexFilter(bank="acme", readers=(PUBLIC,), statuses=("active",))
        assert found_by(index, active) == {f"b{at}" for at in range(30)}

    def test_a_filter_that_keeps_one_in_a_thousand_loses_no_hit(self, index: SearchIndex, crowd: int, row: Row) -> None:
        random = np.random.default_rng(7)
        vectors = random.standard_normal((crowd, 4)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = [row(f"b{at}", "word", readers=("u:ann",) if at % 1000 == 0 else (PUBLIC,)) for at in range(crowd)]
        for at in range(0, crowd, 5_000):
            index.upsert(rows[at : at + 5_000], vectors[at : at + 5_000])

        ann = IndexFilter(bank="acme", readers=("u:ann",))

        wanted = {f"b{at}" for at in range(0, crowd, 1000)}
        assert {hit.belief for hit in index.semantic(ann, EAST, 20)} == wanted
        assert {hit.belief for hit in index.keyword(ann, "word", 20)} == wanted
        assert {hit.belief for hit in index.by_time(ann, MAY, MAY, 20)} == wanted
