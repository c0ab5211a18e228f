"""Which names are alike, which entities are proposed as one, and how well on hand-written pairs."""

import pytest

from beliefmesh.evaluate.entities.evaluate import evaluate_entities, pairs
from beliefs.alike_names import jaro_winkler, name_likeness
from beliefs.likeness import WIDEST_BLOCK, Profile, candidate_pairs, proposals, propose
from schemas.entity import Entity


def _profile(name: str, type: str = "person", *facts: tuple[str, str], met: tuple[str, ...] = ()) -> Profile:
    return Profile(
        id=f"{name}/{type}",
        entity=Entity(name, type),
        facts=frozenset(facts),
        single=frozenset(attribute for attribute, _ in facts),
        met=frozenset(met),
    )


def test_jaro_winkler_gives_the_published_figures() -> None:
    assert jaro_winkler("martha", "marhta") == pytest.approx(0.9611, abs=1e-4)
    assert jaro_winkler("dwayne", "duane") == pytest.approx(0.84, abs=1e-4)
    assert jaro_winkler("dixon", "dicksonx") == pytest.approx(0.8133, abs=1e-4)


@pytest.mark.parametrize(
    ("one", "other", "least"),
    [
        ("checkout-service", "Checkout  Service", 1.0),
        ("Tanaka, Hiroshi", "Hiroshi Tanaka", 0.97),
        ("Bob Miller", "Robert Miller", 1.0),
        ("R. Miller", "Robert Miller", 0.85),
        ("IBM", "International Business Machines", 0.85),
        ("王小明", "小明", 0.75),
        ("北京星河科技有限公司", "星河科技", 0.85),
    ],
)
def test_other_spellings_of_one_name_are_alike(one: str, other: str, least: float) -> None:
    assert name_likeness(one, other) >= least
    assert name_likeness(one, other) == name_likeness(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("server-1", "server-2"), ("Carla Ruiz", "Carlo Ruiz"), ("Boston", "Austin"), ("李强", "李刚")]
)
def test_other_names_are_not(one: str, other: str) -> None:
    assert name_likeness(one, other) < 0.5


def test_identifying_values_speak_for_and_against() -> None:
    same = propose(_profile("Omar", "person", ("email", "o@x.org")), _profile("O. H.", "person", ("email", "o@x.org")))
    born = propose(
        _profile("David Stone", "person", ("birth date", "1980-01-02")),
        _profile("David Stone", "author", ("birth date", "1951-07-30")),
    )
    assert same.score > 0.5
    assert born.score < 0.5
    assert any("differ in birth date" in reason for reason in born.reasons)


def test_one_name_and_two_types_is_no_proposal() -> None:
    assert proposals([_profile("Apple", "fruit"), _profile("Apple", "company")]) == []


def test_a_key_that_too_many_share_pairs_nobody() -> None:
    crowd = [_profile(f"node x{number}") for number in range(WIDEST_BLOCK + 1)]
    assert candidate_pairs(crowd) == set()


def test_of_two_the_one_of_whom_less_is_told_is_merged() -> None:
    (found,) = proposals([_profile("Bob Miller"), _profile("Robert Miller", "person", ("employer", "Acme"))])
    assert (found.entity.name, found.into.name) == ("Bob Miller", "Robert Miller")


def test_the_pairs_are_enough_and_stand_in_two_halves() -> None:
    every = pairs()
    assert len(every) >= 60
    assert {(pair.half, pair.language) for pair in every} == {
        (h, t) for h in ("building", "scoring") for t in ("en", "zh")
    }


def test_most_of_the_scoring_half_is_told_apart() -> None:
    for row in evaluate_entities("scoring", None, 0.5, show_misses=False)["rows"]:
        assert row["precision"] >= 0.9, row
        assert row["recall"] >= 0.85, row
