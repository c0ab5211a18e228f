"""Bad input of every call of a memory: each its named error, by field, and nothing is written."""

from typing import Any

import pytest
from facts import fact

from beliefmesh.memory import Memory
from schemas.errors import BeliefmeshError, InvalidInput, TooLarge, UnknownBank
from schemas.limits import MAX_TEXT_BYTES
from schemas.query import Principal


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ("", "text"),
        ("   \n", "text"),
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "a\ud800b"}, "text"),
        ({"text": 5}, "text"),
        ({"text": "x", "entity": ""}, "entity"),
        ({"text": "x", "entity": {"type": "person"}}, "entity.name"),
        ({"claims": [{"attribute": "colour", "value": 1}]}, "claims[0].entity"),
        ({"entity": "door", "claims": [{"attribute": "colour", "value": None}]}, "claims[0].value"),
        ({"entity": "door", "claims": [{"attribute": "colour", "value": [1]}]}, "claims[0].value"),
        ({"entity": "door", "claims": [{"attribute": "colour", "value": float("nan")}]}, "claims[0].value"),
        ({"entity": "door", "claims": [{"attribute": "colour", "value": 2**64}]}, "claims[0].value"),
        ({"entity": "door", "claims": [{"attribute": "a\x00", "value": 1}]}, "claims[0].attribute"),
        ({"entity": "door", "claims": [{"attribute": "colour", "value": 1, "kind": "rumour"}]}, "claims[0].kind"),
        ({"entity": "door", "claims": [{"attribute": "colour", "value": 1, "weight": -1}]}, "claims[0].weight"),
        ({"text": "x", "weight": float("nan")}, "weight"),
        ({"text": "x", "weight": float("inf")}, "weight"),
        ({"text": "x", "weight": -0.1}, "weight"),
        ({"text": "x", "weight": "1"}, "weight"),
        ({"text": "x", "kind": "rumour"}, "kind"),
        ({"text": "x", "visibility": "friends"}, "visibility"),
        ({"text": "x", "observed_at": "soon"}, "observed_at"),
        ({"text": "x", "observed_at": "2030-01-01"}, "observed_at"),
        ({"text": "x", "observed_at": "0000-01-01"}, "observed_at"),
        ({"text": "x", "observed_at": "10000-01-01"}, "observed_at"),
        ({"text": "x", "observed_at": 1e300}, "observed_at"),
        ({"text": "x", "observed_at": float("nan")}, "observed_at"),
        ({"text": "x", "observed_at": True}, "observed_at"),
        ({"text": "x", "bank": "other"}, "bank"),
        ({"text": "x", "flavour": 1}, "flavour"),
        ({"text": "x", "metadata": {"a": "\x00"}}, "metadata.a"),
        ({"text": "x", "claims": "none"}, "claims"),
        (5, "observation"),
        (None, "observation"),
        (b"bytes", "observation"),
        ([5], "observation"),
        ([None], "observation"),
        ([b"bytes"], "observation"),
        ([["nested"]], "observation"),
        ({5: "x"}, "5"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_field_and_nothing_is_written(memory: Memory, told: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.retain(told)
    assert refused.value.field == field
    assert memory.home.log.ends("observations") == dict.fromkeys(range(8), 0)


def test_one_bad_message_of_several_is_named_and_none_of_them_is_written(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="weight"):
        memory.retain(["good", {"text": "bad", "weight": -1}, "good too"], agent="ann")
    assert memory.banks() == []


@pytest.mark.parametrize("size", [MAX_TEXT_BYTES + 1, 5_000_000])
def test_a_text_that_is_too_large_is_refused_with_its_size(memory: Memory, size: int) -> None:
    for told in ("x" * size, {"entity": "door", "claims": [{"statement": "x" * size}]}):
        with pytest.raises(TooLarge, match=str(size)):
            memory.retain(told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "a\x00"}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"text": "x" * 20_000}, "text"),
        ({"text": 5}, "text"),
        ({"limit": 0}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"limit": 2**80}, "limit"),
        ({"min_confidence": float("nan")}, "min_confidence"),
        ({"as_of": "soon"}, "as_of"),
        ({"as_of": True}, "as_of"),
        ({"known_at": 1e300}, "known_at"),
        ({"entity": ""}, "entity"),
        ({"entity": 5}, "entity"),
        ({"entity": {"name": "\ud800"}}, "entity.name"),
        ({"principal": "\ud800"}, "principal"),
        ({"principal": "a\x00"}, "principal"),
        ({"principal": 5}, "principal"),
        ({"principal": Principal("\ud800")}, "principal"),
        ({"principal": {"id": "ann", "groups": "staff"}}, "principal"),
        ({"principal": {"id": "a\x00"}}, "principal"),
        ({"statuses": ("alive",)}, "statuses[0]"),
        ({"retrievers": ("psychic",)}, "retrievers"),
        ({"retrievers": "semantic"}, "retrievers"),
        ({"fusion": "magic"}, "fusion"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"recent": 3}, "session"),
        ({"recent": 3, "session": "\ud800"}, "session"),
        ({"session": "\ud800"}, "session"),
        ({"attribute": "\ud800"}, "attribute"),
        ({"attribute": 5}, "attribute"),
        ({"scope": {"region": "\ud800"}}, "scope.region"),
        ({"scope": "EU"}, "scope"),
        ({"scope": {"region": object()}}, "scope.region"),
        ({"deadline": float("nan")}, "deadline"),
        ({"deadline": -1}, "deadline"),
        ({"occurred_from": "2024-06-02", "occurred_to": "2024-06-01"}, "occurred_to"),
        ({"bank": ""}, "bank"),
        ({"bank": "../x"}, "bank"),
        ({"bank": 5}, "bank"),
        ({"flavour": 1}, "flavour"),
        ({"now": 1}, "now"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_by_field(
    memory: Memory, fields: dict[str, Any], field: str
) -> None:
    memory.retain(fact("door", "colour", "red"))
    with pytest.raises(InvalidInput) as refused:
        memory.recall(**({"text": "colour of the door"} | fields))
    assert refused.value.field == field


@pytest.mark.parametrize(
    "id", ["", "b1", "s1", "\x00", "\ud800", "s\ud800", "s\x00", "x" * 5_000, "s" * 5_000, 5, b"b1", ["b1"]]
)
def test_an_id_that_leads_nowhere_is_a_named_error_everywhere(memory: Memory, id: Any) -> None:
    memory.retain(fact("door", "colour", "red"))
    calls = (
        lambda: memory.belief(id),
        lambda: memory.explain(id),
        lambda: memory.history(id),
        lambda: memory.revoke(id, reason="x"),
        lambda: memory.feedback(id, "right"),
        lambda: memory.dead_letter(id),
        lambda: memory.replay_dead_letter(id),
        lambda: memory.drop_dead_letter(id),
    )
    for call in calls:
        with pytest.raises(BeliefmeshError) as refused:
            call()
        assert refused.value.code in ("not_found", "invalid_input", "too_large")


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda memory, held: memory.revoke(held, reason=""), "reason"),
        (lambda memory, held: memory.revoke(held, reason="\x00"), "reason"),
        (lambda memory, held: memory.revoke(held, reason=5), "reason"),
        (lambda memory, held: memory.revoke(held, reason="x", agent="\ud800"), "principal"),
        (lambda memory, held: memory.revoke(held, reason="x", agent=5), "principal"),
        (lambda memory, held: memory.feedback(held, "maybe"), "verdict"),
        (lambda memory, held: memory.feedback(held, "right", agent="a\x00"), "principal"),
        (lambda memory, held: memory.explain(held, as_of="soon"), "as_of"),
        (lambda memory, held: memory.explain(held, principal=5), "principal"),
        (lambda memory, held: memory.history(entity="door"), "slot"),
        (lambda memory, held: memory.history(entity="", attribute="colour"), "entity"),
        (lambda memory, held: memory.history(entity="door", attribute="\ud800"), "attribute"),
        (lambda memory, held: memory.retain("x", bank="a/b"), "bank"),
        (lambda memory, held: memory.retain(["x", "y"], agent="a", expected_version=1), "expected_version"),
        (lambda memory, held: memory.import_lines([], bank="a b"), "bank"),
        (lambda memory, held: memory.stats("a b"), "bank"),
        (lambda memory, held: memory.state_hash("a b"), "bank"),
        (lambda memory, held: list(memory.holders("a b")), "bank"),
    ],
)
def test_every_other_call_refuses_what_it_cannot_take_by_field(memory: Memory, call: Any, field: str) -> None:
    memory.retain(fact("door", "colour", "red"))
    id = memory.recall("colour of the door").found[0].belief.id
    before = memory.state_hash()
    with pytest.raises(InvalidInput) as refused:
        call(memory, id)
    assert refused.value.field == field
    assert memory.state_hash() == before


def test_an_unknown_bank_is_its_own_error(memory: Memory) -> None:
    with pytest.raises(UnknownBank):
        memory.recall("door")


def test_a_closed_memory_says_so(memory: Memory) -> None:
    memory.retain(fact("door", "colour", "red"))
    id = memory.recall("colour of the door").found[0].belief.id
    memory.close()
    memory.close()
    for call in (lambda: memory.recall("door"), lambda: memory.retain("x"), lambda: memory.belief(id), memory.stats):
        with pytest.raises(BeliefmeshError, match="closed"):
            call()
