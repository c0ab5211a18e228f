"""One ranking from several."""

import pytest

from recall.fuse import RRF_K, WEIGHTS, fuse
from stores.ports import Hit

KEYWORD = [Hit("a", 12.0), Hit("b", 9.0), Hit("c", 6.0)]
SEMANTIC = [Hit("b", 0.9), Hit("a", 0.8), Hit("c", 0.7), Hit("d", 0.8)]


def test_the_worked_example_of_the_module_holds() -> None:
    fused = fuse({"keyword": KEYWORD, "semantic": SEMANTIC}, "zscore", depth=3)
    assert [(one.belief, round(one.score, 3)) for one in fused] == [
        ("b", 1.716),
        ("a", 1.508),
        ("d", -0.905),
        ("c", -2.319),
    ]


def test_the_order_in_which_retrievers_come_changes_nothing() -> None:
    one = fuse({"keyword": KEYWORD, "semantic": SEMANTIC}, "zscore", depth=100)
    other = fuse({"semantic": SEMANTIC, "keyword": KEYWORD}, "zscore", depth=100)
    assert one == other


def test_every_score_by_retriever_is_kept() -> None:
    fused = fuse({"keyword": KEYWORD, "semantic": SEMANTIC}, "zscore", depth=100)
    assert fused[0].scores == {"keyword": 9.0, "semantic": 0.9}


def test_a_single_keyword_hit_counts_for_more_than_being_missed() -> None:
    hits = {"keyword": [Hit("b", 3.0)], "semantic": [Hit("a", 0.8), Hit("b", 0.8), Hit("c", 0.8)]}
    fused = fuse(hits, "zscore", depth=100)
    assert [one.belief for one in fused] == ["b", "a", "c"]


def test_beyond_a_full_list_a_belief_is_not_taken_for_worthless() -> None:
    full = fuse({"keyword": KEYWORD, "semantic": SEMANTIC}, "zscore", depth=3)
    whole = fuse({"keyword": KEYWORD, "semantic": SEMANTIC}, "zscore", depth=100)
    missed = [next(one.score for one in fused if one.belief == "d") for fused in (full, whole)]
    assert missed[0] > missed[1]


def test_equal_scores_are_not_told_apart_by_rounding() -> None:
    fused = fuse({"semantic": [Hit("b", 0.1 + 0.2), Hit("a", 0.3)]}, "zscore", depth=100)
    assert [(one.belief, one.score) for one in fused] == [("a", 0.0), ("b", 0.0)]


def test_reciprocal_ranks_ignore_scores() -> None:
    fused = fuse({"keyword": KEYWORD, "semantic": [Hit("b", 0.9), Hit("d", 0.8)]}, "rrf", depth=100)
    assert [one.belief for one in fused] == ["b", "a", "d", "c"]
    assert fused[0].score == pytest.approx(1 / (RRF_K + 2) + 1 / (RRF_K + 1))


def test_a_light_retriever_does_not_overturn_the_first_two() -> None:
    hits = {"keyword": KEYWORD, "semantic": [Hit("a", 0.9), Hit("b", 0.8), Hit("c", 0.7)]}
    fused = fuse({**hits, "spread": [Hit("c", 1.0), Hit("b", 0.5), Hit("a", 0.1)]}, "zscore", depth=100)
    assert [one.belief for one in fused] == ["a", "b", "c"]
    assert WEIGHTS["spread"] < WEIGHTS["keyword"]


def test_no_hits_give_no_candidates() -> None:
    assert fuse({}, "zscore", depth=100) == []
    assert fuse({"keyword": []}, "rrf", depth=100) == []
