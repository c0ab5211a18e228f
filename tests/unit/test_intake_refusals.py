"""Intake: what cannot be taken is refused by field with what to do."""

import pytest
from intakes import NOW, SHIPPING, refusal

from schemas.errors import InvalidInput, TooLarge
from schemas.intake import observation_from, observation_from_json


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
