"""Intake: what producers write becomes an observation, with an id that a retry has too."""

import json
from datetime import UTC, datetime

import pytest
from intakes import NOW, SHIPPING, refusal, taken

from schemas.claim import Claim
from schemas.entity import Entity
from schemas.instant import HOUR, MINUTE, SECOND
from schemas.intake import observation_from, observation_from_json
from schemas.observation import Observation, Source


def test_a_plain_text_is_an_anonymous_observation_of_now() -> None:
    observation = taken("Orders from 200 yuan ship free.")

    assert observation.text == "Orders from 200 yuan ship free."
    assert observation.bank == "shop"
    assert observation.observed_at == NOW
    assert observation.source == Source("anonymous")
    assert observation.id.startswith("o")


def test_every_field_arrives_where_its_name_says() -> None:
    observation = taken(
        {
            "id": "o-7",
            "bank": "shop",
            "source": {"id": "doc-7", "origin": "policy office", "type": "document"},
            "observed_at": "2024-05-20T17:00:00+08:00",
            "agent": "policy-sync",
            "text": "满200元免运费",
            "entity": {"name": "shop policy", "type": "policy"},
            "session": "s1",
            "turn": 3,
            "kind": "instruction",
            "network": "world",
            "tier": "high",
            "weight": 2,
            "pinned": True,
            "effective_at": "2024-05-20",
            "valid_until": "2025-05-20",
            "occurred_start": datetime(2024, 5, 20, 9),
            "occurred_end": datetime(2024, 5, 20, 10, tzinfo=UTC),
            "owner": "policy office",
            "visibility": "group",
            "readers": ["lena", "group:support"],
            "metadata": {"page": 4, "file": "shipping.pdf"},
            "claims": [
                {
                    "entity": {"name": "shop policy", "type": "policy"},
                    "attribute": "free shipping threshold",
                    "value": 200,
                    "value_type": "money",
                    "scope": {"year": 2024, "region": "CN"},
                    "stance": "supports",
                    "statement": "Free shipping from 200 yuan.",
                    "kind": "instruction",
                    "network": "world",
                    "tier": "high",
                    "weight": 2.5,
                    "effective_at": 1_716_163_200,
                    "valid_until": None,
                    "mentions": ["yuan", {"name": "shop", "type": "place"}],
                    "premises": ["b1"],
                    "extractor": "by hand",
                }
            ],
        }
    )

    assert observation == Observation(
        id="o-7",
        bank="shop",
        source=Source("doc-7", "policy office", "document"),
        observed_at=1_716_195_600 * SECOND,
        agent="policy-sync",
        text="满200元免运费",
        entity=Entity("shop policy", "policy"),
        session="s1",
        turn=3,
        kind="instruction",
        network="world",
        tier="high",
        weight=2.0,
        pinned=True,
        effective_at=1_716_163_200 * SECOND,
        valid_until=1_747_699_200 * SECOND,
        occurred_start=1_716_195_600 * SECOND,
        occurred_end=1_716_199_200 * SECOND,
        owner="policy office",
        visibility="group",
        readers=("lena", "group:support"),
        metadata={"page": "4", "file": "shipping.pdf"},
        claims=(
            Claim(
                entity=Entity("shop policy", "policy"),
                attribute="free shipping threshold",
                value=200,
                value_type="money",
                scope=(("region", "CN"), ("year", "2024")),
                statement="Free shipping from 200 yuan.",
                kind="instruction",
                network="world",
                tier="high",
                weight=2.5,
                effective_at=1_716_163_200 * SECOND,
                mentions=(Entity("yuan"), Entity("shop", "place")),
                premises=("b1",),
                extractor="by hand",
            ),
        ),
    )


def test_the_intake_takes_every_field_that_an_observation_and_a_claim_have() -> None:
    listed = refusal({"nonsense": 1}).problem
    listed_of_claims = refusal({"claims": [{"nonsense": 1}]}).problem

    assert set(listed.split("Allowed: ")[1].split(", ")) == set(Observation.__struct_fields__)
    assert set(listed_of_claims.split("Allowed: ")[1].split(", ")) == set(Claim.__struct_fields__)


# Defaults
def test_the_source_defaults_to_the_agent_and_its_origin_to_nothing() -> None:
    assert taken({"text": "x", "agent": "triage-bot"}).source == Source("triage-bot")
    assert taken({"text": "x", "agent": "triage-bot", "source": "T-1"}).source == Source("T-1")
    assert taken({"text": "x", "agent": "a", "source": {"type": "log"}}).source == Source("a", type="log")


def test_a_claim_without_an_entity_is_about_the_entity_of_its_observation() -> None:
    observation = taken({"entity": "checkout", "claims": [{"attribute": "state", "value": "up"}]})

    assert observation.claims[0].entity == Entity("checkout")


def test_a_free_claim_says_the_text_of_its_observation() -> None:
    observation = taken({"text": "Mei likes tea.", "claims": [{"entity": "Mei"}]})

    assert observation.claims == (Claim(entity=Entity("Mei"), statement="Mei likes tea."),)


def test_null_means_absent() -> None:
    assert taken({"text": "x", "turn": None, "claims": None, "source": None, "observed_at": None}).observed_at == NOW


def test_a_retraction_needs_no_value() -> None:
    observation = taken({"claims": [{"entity": "coupons", "attribute": "combinable", "stance": "retracts"}]})

    assert observation.claims[0].value is None


@pytest.mark.parametrize("value", ["18:05", 0, -(2**63), 2**63 - 1, 3.5, False])
def test_a_value_keeps_its_type(value: object) -> None:
    kept = taken({"claims": [{"entity": "x", "attribute": "y", "value": value}]}).claims[0].value

    assert kept == value
    assert type(kept) is type(value)


def test_the_owner_of_a_private_observation_defaults_to_the_agent() -> None:
    assert taken({"text": "x", "agent": "triage-bot", "visibility": "private"}).owner == "triage-bot"
    assert taken({"text": "x", "agent": "triage-bot"}).owner == ""


# The id
def test_a_retry_without_a_time_has_the_same_id_whenever_it_arrives() -> None:
    message = {"text": "满200元免运费", "agent": "policy-sync", "claims": [SHIPPING]}

    assert taken(message).id == taken(message, now=NOW + HOUR).id


def test_two_ways_to_write_one_message_have_one_id() -> None:
    first = {"text": "x", "observed_at": "2024-05-20", "metadata": {"a": "1", "b": "2"}, "source": "s"}
    second = {"metadata": {"b": 2, "a": "1"}, "source": {"id": "s"}, "observed_at": 1_716_163_200, "text": "x"}

    assert taken(first).id == taken(second).id


@pytest.mark.parametrize(
    "change",
    [
        {"text": "y"},
        {"agent": "b"},
        {"source": "s2"},
        {"session": "s"},
        {"turn": 2},
        {"observed_at": "2024-05-21"},
        {"observed_at": None},
        {"claims": [{"entity": "x", "attribute": "y", "value": 1}]},
        {"effective_at": "2024-05-20"},
        {"visibility": "private"},
    ],
)
def test_whatever_is_said_otherwise_gives_another_id(change: dict[str, object]) -> None:
    message = {"text": "x", "agent": "a", "observed_at": "2024-05-20", "turn": 1}

    assert taken(message).id != taken({**message, **change}).id


def test_the_same_message_in_another_bank_has_another_id() -> None:
    assert observation_from("x", bank="a", now=NOW).id != observation_from("x", bank="b", now=NOW).id


def test_the_hash_of_a_message_never_changes_from_release_to_release() -> None:
    assert (
        taken({"text": "满200元免运费", "agent": "policy-sync", "claims": [SHIPPING]}).id
        == "o76f8fafc176273824e35b1d626a498ba"
    )


# Times
def test_a_clock_that_is_a_little_ahead_is_believed_and_one_far_ahead_refused() -> None:
    assert taken({"text": "x", "observed_at": "2024-06-10T12:10:00Z"}).observed_at == NOW + 10 * MINUTE
    assert "use effective_at" in str(refusal({"text": "x", "observed_at": "2024-06-10T12:10:01Z"}))


def test_what_holds_from_a_later_date_is_taken() -> None:
    assert taken({"text": "x", "effective_at": "2025-01-01"}).effective_at == 1_735_689_600 * SECOND


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"effective_at": "2024-05-20", "valid_until": "2024-05-20"}, "valid_until"),
        (
            {"valid_until": "2024-05-01", "claims": [{**SHIPPING, "effective_at": "2024-05-20"}]},
            "claims[0].valid_until",
        ),
        ({"occurred_start": "2024-05-20", "occurred_end": "2024-05-19"}, "occurred_end"),
        ({"occurred_end": "2024-05-19"}, "occurred_start"),
        ({"occurred_start": "2024-05-20", "claims": [{**SHIPPING, "occurred_end": 0}]}, "claims[0].occurred_end"),
    ],
)
def test_a_period_that_ends_before_it_begins_is_refused(data: dict[str, object], field: str) -> None:
    assert refusal({"text": "x", **data}).field == field


def test_the_largest_text_is_taken_whole() -> None:
    assert len(taken({"text": "x" * 1_048_576}).text) == 1_048_576


# JSON
def test_json_of_an_object_or_of_a_text_is_taken() -> None:
    line = json.dumps({"text": "满200元免运费", "claims": [SHIPPING]})

    assert observation_from_json(line, bank="shop", now=NOW) == taken({"text": "满200元免运费", "claims": [SHIPPING]})
    assert observation_from_json(line.encode(), bank="shop", now=NOW).text == "满200元免运费"
    assert observation_from_json(b'"hello"', bank="shop", now=NOW).text == "hello"
