"""Intake: what producers write becomes an observation, or is refused by field with what to do."""

import json
from datetime import UTC, datetime

import pytest

from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import InvalidInput, TooLarge
from schemas.instant import HOUR, MINUTE, SECOND, parse_instant
from schemas.intake import observation_from, observation_from_json
from schemas.observation import Observation, Source

NOW = parse_instant("2024-06-10T12:00:00Z", "now")
SHIPPING = {"entity": "shop policy", "attribute": "free shipping threshold", "value": 200}


def taken(data: object, now: int = NOW) -> Observation:
    return observation_from(data, bank="shop", now=now)  # type: ignore[arg-type]


def refusal(data: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        taken(data)
    return caught.value


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


# Refusals


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "text: is empty and there are no claims"),
        ("  ", "text: is empty and there are no claims"),
        ({"claims": []}, "text: is empty and there are no claims"),
        (["x"], "observation: must be an object, not list"),
        (7, "observation: must be an object, not int"),
        ({"text": 7}, "text: must be text, not int"),
        ({"text": "a\x00b"}, "text: holds a NUL character"),
        ({"text": "\ud800"}, "text: holds a lone surrogate"),
        ({"tetx": "x"}, "tetx: is not a known field; did you mean 'text'? Allowed: id, bank, text, claims, source"),
        ({"value": 1}, 'value: belongs to a claim; write it as {"claims": [{"value": …}]}'),
        ({3: "x"}, "3: is not a known field; Allowed: "),
        ({"text": "x", "bank": "other"}, "bank: is 'other', but this message goes to 'shop'"),
        ({"text": "x", "id": " "}, "id: is empty"),
        ({"text": "x", "turn": True}, "turn: is True; it must be a whole number"),
        ({"text": "x", "turn": -1}, "turn: is -1; it must be a whole number"),
        ({"text": "x", "pinned": "yes"}, "pinned: is 'yes'; it must be true or false"),
        ({"text": "x", "weight": "heavy"}, "weight: must be a number, not str"),
        ({"text": "x", "weight": float("nan")}, "weight: is nan; it must lie between 0 and 1000"),
        ({"text": "x", "weight": 10**5000}, "weight: is this int; it must lie between 0 and 1000"),
        ({"text": "x", "kind": "rule"}, "kind: is 'rule'; use one of instruction, observation, derivation"),
        ({"text": "x", "network": 1}, "network: is 1; use one of world, experience, opinion, observation"),
        ({"text": "x", "tier": "top"}, "tier: is 'top'; use one of low, medium, high"),
        ({"text": "x", "observed_at": "soon"}, "observed_at: 'soon' is not a time"),
        ({"text": "x", "entity": ""}, "entity: is empty"),
        ({"text": "x", "entity": {"type": "person"}}, "entity.name: is missing"),
        ({"text": "x", "entity": {"name": "Mei", "kind": "person"}}, "entity.kind: is not a known field"),
        ({"text": "x", "entity": ["Mei"]}, "entity: must be an object, not list"),
        ({"text": "x", "source": {"id": "s", "type": "mail"}}, "source.type: is 'mail'; use one of dialogue, document"),
        ({"text": "x", "source": ""}, "source: is empty"),
        ({"text": "x", "metadata": {"a": [1]}}, "metadata.a: must be text, not list"),
        ({"text": "x", "metadata": {"a": True}}, "metadata.a: must be text, not bool"),
        ({"text": "x", "metadata": "a"}, 'metadata: must be an object such as {"region": "EU"}, not str'),
        ({"text": "x", "claims": {"entity": "x"}}, "claims: must be a list, not dict"),
    ],
)
def test_what_is_wrong_is_refused_by_its_field_with_what_is_allowed(data: object, message: str) -> None:
    assert str(refusal(data)).startswith(message)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("x", "claims[1]: must be an object, not str"),
        ({"attribute": "a", "value": 1}, "claims[1].entity: is missing"),
        ({"entity": "x", "value": 1}, "claims[1].attribute: is missing"),
        ({"entity": "x", "attribute": "", "value": 1}, "claims[1].attribute: is empty"),
        ({"entity": "x"}, "claims[1].statement: is missing"),
        ({"entity": "x", "attribute": "a"}, "claims[1].value: is missing; give one, or stance 'retracts'"),
        ({"entity": "x", "attribute": "a", "value": None, "stance": "refutes"}, "claims[1].value: is missing"),
        ({"entity": "x", "attribute": "a", "value": ""}, "claims[1].value: is empty; use stance 'retracts'"),
        ({"entity": "x", "attribute": "a", "value": [1]}, "claims[1].value: must be a text, a number or a truth value"),
        ({"entity": "x", "attribute": "a", "value": 2**63}, "claims[1].value: is an integer beyond 64 bits"),
        ({"entity": "x", "attribute": "a", "value": float("inf")}, "claims[1].value: is inf; numbers must be finite"),
        ({"entity": "x", "weigth": 1}, "claims[1].weigth: is not a known field; did you mean 'weight'?"),
        ({"entity": "x", "weight": -1}, "claims[1].weight: is -1; it must lie between 0 and 1000"),
        ({"entity": "x", "stance": "denies"}, "claims[1].stance: is 'denies'; use one of supports, refutes, retracts"),
        ({"entity": "x", "value_type": "int"}, "claims[1].value_type: is 'int'; use one of text, number, money"),
        ({"entity": "x", "scope": {"region": ""}, "attribute": "a", "value": {}}, "claims[1].value: must be"),
        ({"entity": "x", "scope": {"": "EU"}}, "claims[1].scope: is empty"),
        ({"entity": "x", "scope": {"region": None}}, "claims[1].scope.region: must be text, not NoneType"),
        ({"entity": "x", "scope": ["EU"]}, "claims[1].scope: must be an object such as"),
        ({"entity": "x", "mentions": ["a", {"name": 1}]}, "claims[1].mentions[1].name: must be text, not int"),
        ({"entity": "x", "premises": "b1"}, "claims[1].premises: must be a list, not str"),
        ({"entity": "x", "premises": ["b1", "The sky"]}, "claims[1].premises[1]: 'The sky' is not the id of a belief"),
    ],
)
def test_what_is_wrong_in_a_claim_is_refused_by_its_place_in_the_list(claim: object, message: str) -> None:
    assert str(refusal({"claims": [SHIPPING, claim]})).startswith(message)


@pytest.mark.parametrize(
    ("audience", "message"),
    [
        ({"visibility": "private"}, "owner: is missing"),
        ({"visibility": "group", "owner": "lena"}, "readers: are missing"),
        ({"readers": ["lena"]}, "readers: do not apply to visibility 'bank'"),
        ({"visibility": "private", "owner": "a", "readers": ["b"]}, "readers: do not apply to visibility 'private'"),
        ({"visibility": "group", "readers": ["*"]}, "readers[0]: is not a principal"),
        ({"visibility": "group", "readers": ["lena", "group:"]}, "readers[1]: names no group"),
        ({"visibility": "secret"}, "visibility: is 'secret'; use one of private, group, bank"),
    ],
)
def test_an_audience_that_would_be_nobody_or_more_than_was_said_is_refused(
    audience: dict[str, object], message: str
) -> None:
    assert str(refusal({"text": "x", **audience})).startswith(message)


def test_a_bank_name_that_no_store_could_keep_apart_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^bank: 'a/b' is not a bank name"):
        observation_from("x", bank="a/b", now=NOW)


@pytest.mark.parametrize(
    "data",
    [
        {"text": "x" * 1_048_577},
        {"text": "满" * 349_526},
        {"text": "x", "agent": "a" * 1_025},
        {"claims": [SHIPPING] * 1_001},
        {"text": "x", "metadata": {str(n): "" for n in range(1_001)}},
    ],
)
def test_what_is_over_a_limit_is_refused_as_too_large(data: dict[str, object]) -> None:
    assert isinstance(refusal(data), TooLarge)


def test_the_largest_text_is_taken_whole() -> None:
    assert len(taken({"text": "x" * 1_048_576}).text) == 1_048_576


# JSON


def test_json_of_an_object_or_of_a_text_is_taken() -> None:
    line = json.dumps({"text": "满200元免运费", "claims": [SHIPPING]})

    assert observation_from_json(line, bank="shop", now=NOW) == taken({"text": "满200元免运费", "claims": [SHIPPING]})
    assert observation_from_json(line.encode(), bank="shop", now=NOW).text == "满200元免运费"
    assert observation_from_json(b'"hello"', bank="shop", now=NOW).text == "hello"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"text": "x"} trailing',
        b'{"text": "\xff"}',
        b'{"text": "\\ud800"}',
        b'{"weight": NaN}',
        b'{"turn": ' + b"1" * 5_000 + b"}",
        b'{"claims": ' + b"[" * 100_000,
        '{"text": "\ud800"}',
        b"[]",
        b"null",
        b"7",
    ],
)
def test_what_is_not_json_of_an_observation_is_refused_with_one_error(data: bytes | str) -> None:
    with pytest.raises(InvalidInput):
        observation_from_json(data, bank="shop", now=NOW)
