"""Failures that users of memory systems reported, with the right value here; numbered as in the list of field cases."""

import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from beliefmesh.memory import Memory
from schemas.errors import BeliefmeshError, InvalidInput, TooLarge, UnknownBank
from schemas.instant import parse_instant
from schemas.limits import MAX_TEXT_BYTES
from schemas.policy import AttributeRule, Policy
from schemas.query import Principal


def values(memory: Memory, question: str, **fields: Any) -> list[object]:
    return [one.belief.value for one in memory.recall(question, **fields).found]


def statements(memory: Memory, question: str, **fields: Any) -> list[str]:
    return [one.belief.statement for one in memory.recall(question, **fields).found]


def fact(entity: str, attribute: str, value: object, day: str = "2024-06-01", **more: Any) -> dict[str, Any]:
    claim = {"attribute": attribute, "value": value}
    return {"entity": entity, "agent": "ann", "observed_at": day, "claims": [claim], **more}


def evidence_count(memory: Memory) -> int:
    return int(memory.stats(memory.bank)["banks"][memory.bank]["evidence"])


# 1
def test_of_two_names_told_one_after_the_other_one_is_active_and_the_other_in_the_history(memory: Memory) -> None:
    memory.retain("My name is Tom.", agent="u1", observed_at="2024-06-01")
    memory.retain("My name is Robert.", agent="u1", observed_at="2024-06-02")
    (held,) = memory.recall("What is my name?", attribute="name").found
    assert held.belief.value == "Robert"
    told = memory.history(held.belief.id)
    assert {belief.value: belief.status for belief in told.beliefs} == {"Robert": "active", "Tom": "revoked"}
    assert [len(turn.evidence) for turn in told.turns] == [1, 1]


# 2
@pytest.mark.parametrize("days", [("2024-06-01", "2024-06-01"), ("2024-06-01", "2024-06-02")])
def test_a_contradiction_leaves_something_believed_and_both_pieces_of_evidence(
    memory: Memory, days: tuple[str, str]
) -> None:
    memory.retain(fact("office", "city", "Paris", days[0], agent="ann"))
    memory.retain(fact("office", "city", "Lyon", days[1], agent="bob"))
    found = memory.recall("Which city is the office in?").found
    assert {one.belief.status for one in found} <= {"active", "contested"}
    assert "Lyon" in [one.belief.value for one in found]
    assert evidence_count(memory) == 2


# 3
@pytest.mark.parametrize("again", [{}, {"id": "second", "agent": "ann"}, {"id": "third", "agent": "bob"}])
def test_the_identical_text_again_keeps_one_belief_no_less_sure(memory: Memory, again: dict[str, str]) -> None:
    text = "The kiln is fired on Mondays."
    memory.retain(text, agent="ann", observed_at="2024-06-01", entity="kiln")
    before = memory.recall("When is the kiln fired?").found
    memory.retain({"text": text, "entity": "kiln", "observed_at": "2024-06-01", "agent": "ann"} | again)
    after = memory.recall("When is the kiln fired?").found
    assert [one.belief.id for one in after] == [one.belief.id for one in before]
    assert after[0].confidence >= before[0].confidence
    assert evidence_count(memory) == (2 if again else 1)
    assert memory.home.worker.counts["duplicates"] == (0 if again else 1)


# 4
def test_a_sentence_that_mentions_a_person_retires_nothing_else_about_them(memory: Memory) -> None:
    memory.retain(fact("Mei", "employer", "Lumen", "2024-05-01"))
    memory.retain(fact("Mei", "city", "Oslo", "2024-05-02"))
    memory.retain("Mei no longer likes tea, says her brother.", agent="bob", observed_at="2024-06-02")
    memory.retain("I met Mei's new manager.", agent="bob", observed_at="2024-06-03", entity="Mei")
    assert values(memory, "Where does Mei work?", attribute="employer") == ["Lumen"]
    assert values(memory, "Where does Mei live?", attribute="city") == ["Oslo"]
    assert memory.history(entity="Mei", attribute="employer").beliefs[0].refutes == 0


# 5
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_an_older_fact_that_arrives_late_does_not_win(memory: Memory, order: tuple[int, ...]) -> None:
    told = [
        fact("shop", "free shipping from", amount, day, kind="instruction")
        for amount, day in ((50, "2024-01-01"), (100, "2024-03-01"), (200, "2024-05-20"))
    ]
    for place in order:
        memory.retain(told[place])
    assert values(memory, "From what amount is shipping free?") == [200]
    assert values(memory, "From what amount is shipping free?", as_of="2024-04-01") == [100]


# 6
def test_a_setting_that_was_removed_is_not_on_today_and_was_on_then(memory: Memory) -> None:
    memory.retain(fact("app", "dark mode", True, "2024-06-01", kind="instruction"))
    removed = {"attribute": "dark mode", "stance": "retracts", "kind": "instruction"}
    memory.retain({"entity": "app", "agent": "ann", "observed_at": "2024-06-02", "claims": [removed]})
    assert values(memory, "Is dark mode on in the app?", attribute="dark mode") == []
    assert values(memory, "Is dark mode on?", attribute="dark mode", as_of="2024-06-01T12:00:00Z") == [True]
    assert list(memory.holders()) == []


# 7
def test_two_subjects_and_two_values_are_never_merged(memory: Memory) -> None:
    memory.retain(["Alice is the CEO.", "Sarah is the CTO."], agent="ann", observed_at="2024-06-01")
    memory.retain(
        [fact("Acme", "office", "San Francisco", agent="ann"), fact("Acme", "office", "New York", agent="bob")]
    )
    people = " ".join(statements(memory, "Who is the CEO and who is the CTO?"))
    assert "Alice is the CEO." in people
    assert "Sarah is the CTO." in people
    offices = memory.history(entity="Acme", attribute="office").beliefs
    assert {belief.value: belief.supports for belief in offices} == {"San Francisco": 1, "New York": 1}


# 8
def test_the_same_twenty_facts_told_ten_times_stay_twenty_beliefs(memory: Memory) -> None:
    for batch in range(10):
        memory.retain(
            [
                fact(f"machine {n}", "speed", f"{n} rpm", f"2024-05-{batch + 1:02}", agent=f"agent {batch}", text=words)
                for n in range(20)
                for words in (f"Batch {batch}: machine {n} runs at {n} rpm",)
            ]
        )
    counts = memory.stats("default")["banks"]["default"]
    assert (counts["beliefs"], counts["evidence"], counts["entities"]) == (20, 200, 20)


# 9
def test_what_was_recalled_and_is_stored_again_adds_no_support(memory: Memory) -> None:
    memory.retain("The kiln is fired on Mondays.", agent="ann", observed_at="2024-06-01", entity="kiln")
    for _ in range(5):
        (found,) = memory.recall("When is the kiln fired?", principal="bob").found
        memory.retain(found.belief.statement, agent="bob", entity="kiln")
    (now,) = memory.recall("When is the kiln fired?").found
    assert now.belief.supports == 1
    assert now.confidence == found.confidence
    assert len(list(memory.holders())) == 1


def test_recalled_text_pasted_into_a_prompt_and_stored_adds_no_support(memory: Memory) -> None:
    memory.retain(fact("kiln", "day", "Monday"))
    (found,) = memory.recall("kiln day").found
    pasted = f"[memory {found.belief.id}] {found.belief.statement}"
    memory.retain(pasted, agent="bob", entity="kiln")
    (kept,) = memory.home.graph.evidence_of_observations(
        "default", memory.retain(pasted, agent="cid", entity="kiln").ids
    )[:1]
    assert kept.source.type == "recall"
    assert values(memory, "kiln day", attribute="day") == ["Monday"]
    assert all("[memory" not in belief.statement for belief in memory.holders())


# 10
def test_different_attributes_of_one_thing_never_conflict(memory: Memory) -> None:
    memory.retain([fact("interface", "theme", "dark"), fact("interface", "font size", "one size larger", "2024-06-02")])
    found = memory.recall("What does the interface look like?").found
    assert {one.belief.value: (one.belief.status, one.rivals) for one in found} == {
        "dark": ("active", ()),
        "one size larger": ("active", ()),
    }


# 16
def test_a_retry_after_a_timeout_has_one_effect(memory: Memory) -> None:
    told = fact("door", "colour", "red")
    first = memory.retain(told, wait=False)
    assert memory.retain(told).ids == first.ids
    assert memory.retain({**told, "id": "mine"}).ids == memory.retain({**told, "id": "mine"}).ids == ("mine",)
    assert evidence_count(memory) == 2


def test_a_retry_of_what_bears_no_date_has_one_effect_although_time_has_passed(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    told = {"entity": "door", "text": "The door is red", "agent": "ann"}
    first = memory.retain(told)
    clock.set("2024-06-10T12:00:30Z")
    assert memory.retain(told).ids == first.ids
    assert evidence_count(memory) == 1


# 18
def test_concurrent_banks_keep_to_themselves(memory: Memory) -> None:
    memory.home.start()
    tokens = [
        memory.retain(fact("door", "colour", f"{bank}-{n}", agent=f"a{n}"), bank=bank, wait=False).token
        for n in range(10)
        for bank in ("north", "south")
    ]
    for token in tokens:
        memory.wait(token)
    for bank in ("north", "south"):
        stored = memory.home.graph.load_slots(bank, memory.home.graph.scan(bank, "", 100))
        assert {piece.bank for slot in stored.values() for piece in slot.evidence} == {bank}
        assert {str(piece.value)[:5] for slot in stored.values() for piece in slot.evidence} == {bank}


# 21: tests/integration/test_doctor.py. 22, 36: test_freshness.py. 13, 14: test_concurrency.py. 15: no compaction yet.
# 17: test_pipeline.py. 32: test_access.py.


# 25
def test_an_id_once_returned_is_valid_after_the_value_moved_and_after_a_restart(open_memory) -> None:
    memory = open_memory()
    memory.retain(fact("door", "colour", "red"))
    id = memory.recall("colour of the door").found[0].belief.id
    memory.retain(fact("door", "colour", "blue", "2024-06-05", kind="instruction"))
    memory.revoke(memory.recall("colour of the door").found[0].belief.id, reason="wrong", agent="ann")
    memory.close()
    again = open_memory(at="2025-06-10")
    assert again.belief(id).value == "red"
    assert again.explain(id).belief.id == id
    assert again.history(id).turns


def test_an_id_whose_value_was_merged_with_a_close_one_leads_to_it(memory: Memory) -> None:
    memory.home.graph.set_policy(
        "default", Policy(attributes=(AttributeRule(pattern="departure", type="time", tolerance=600.0),))
    )
    memory.retain(fact("UA 1", "departure", "18:07", agent="b"))
    id = memory.recall("departure of UA 1").found[0].belief.id
    memory.retain([fact("UA 1", "departure", "18:05", agent="a"), fact("UA 1", "departure", "18:05", agent="c")])
    found = memory.recall("departure of UA 1").found
    assert len(found) == 1
    assert memory.belief(id).id == found[0].belief.id
    assert memory.belief(id).supports == 3


# 27
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("这家商店满二百元免运费", "免运费"),
        ("서울역에서 만나요 내일", "서울역"),
        ("Поезд отправляется из Москвы", "Москвы"),
        ("القطار يغادر من القاهرة", "القاهرة"),
        ("รถไฟออกจากกรุงเทพ", "กรุงเทพ"),
        ("Wir treffen uns im Café Größenwahn", "café"),
        ("Treffpunkt ist die Straße der Freiheit", "STRASSE"),
        ("東京駅で会いましょう", "東京駅"),
        ("הרכבת יוצאת מתל אביב", "אביב"),
        ("Το τρένο φεύγει από την Αθήνα", "Αθήνα"),
    ],
)
def test_a_part_of_a_sentence_finds_it_in_every_script_and_form(memory: Memory, text: str, part: str) -> None:
    memory.retain(text, agent="ann")
    memory.retain(["Nothing of interest here", "其他无关内容", "Совсем другое"], agent="bob")
    for form in ("NFC", "NFD", "NFKC"):
        asked = unicodedata.normalize(form, part)
        assert statements(memory, asked, retrievers=("keyword",))[0] == text


def test_full_width_and_composed_forms_name_one_entity_and_one_value(memory: Memory) -> None:
    memory.retain(fact("Café", "name", "ＡＢＣ", agent="ann"))
    memory.retain(fact("Cafe\u0301", "name", "abc", agent="bob"))
    (found,) = memory.recall("café", retrievers=("keyword",)).found
    assert found.belief.supports == 2


# 28
@pytest.mark.parametrize(
    "moment",
    [
        "2024-06-01T12:00:00Z",
        "2024-06-01T12:00:00",
        "2024-06-01T14:00:00+02:00",
        datetime(2024, 6, 1, 12, tzinfo=UTC),
        datetime(2024, 6, 1, 12),
        datetime(2024, 6, 1, 14, tzinfo=timezone(timedelta(hours=2))),
        1_717_243_200,
        1_717_243_200.0,
    ],
)
def test_aware_and_naive_times_mix_and_naive_means_utc(memory: Memory, moment: object) -> None:
    memory.retain(fact("door", "colour", "green", "2024-06-01T11:59:59Z", kind="instruction"))
    receipt = memory.retain({**fact("door", "colour", "red", kind="instruction"), "observed_at": moment})
    (kept,) = memory.home.graph.evidence_of_observations("default", receipt.ids)
    assert kept.effective_at == parse_instant("2024-06-01T12:00:00Z", "")
    assert values(memory, "colour of the door", as_of=moment) == ["red"]


def test_a_date_is_the_beginning_of_its_utc_day(memory: Memory) -> None:
    memory.retain({**fact("door", "colour", "red"), "observed_at": date(2024, 6, 1)})
    assert memory.history(entity="door", attribute="colour").turns[0].at == parse_instant("2024-06-01T00:00:00Z", "")


# 29
def test_yesterday_is_relative_to_the_question_and_to_the_observation(memory: Memory) -> None:
    for day in ("2024-03-04", "2024-03-05", "2024-06-09"):
        memory.retain(f"We packed the tent of {day}", agent=f"ann {day}", observed_at=f"{day}T09:00:00Z")
    found = statements(
        memory, "What did we pack yesterday?", question_time="2024-03-06T08:00:00Z", retrievers=("temporal",)
    )
    assert found == ["We packed the tent of 2024-03-05"]
    assert statements(memory, "What did we pack yesterday?", retrievers=("temporal",)) == [
        "We packed the tent of 2024-06-09"
    ]


# 30
def test_a_document_within_the_limit_is_kept_whole_and_one_over_it_is_refused(memory: Memory) -> None:
    sentence = "Paragraph {n} of the handbook says that valve {n} is opened slowly. "
    document = "".join(sentence.format(n=n) for n in range(14_000))[: MAX_TEXT_BYTES - 10].rsplit(". ", 1)[0] + ". "
    receipt = memory.retain(document, agent="ann", entity="handbook")
    pieces = memory.home.graph.evidence_of_observations("default", receipt.ids)
    told = "".join(sorted((piece.statement for piece in pieces), key=document.index))
    assert len(told.replace(" ", "")) == len(document.replace(" ", ""))
    assert "valve 13000 " in " ".join(statements(memory, "valve 13000"))
    with pytest.raises(TooLarge, match="at most 1048576"):
        memory.retain("x" * 5_000_000)


# 31
ODD = [
    'it\'s "quoted" and `ticked`',
    "line one\nline two\r\n\ttabbed",
    "🙂👩\u200d👩\u200d👧 and 🇳🇴",
    "用户喜欢喝茶；價格是：一百元。",
    "a OR b AND NOT (c) [d TO e] {f} ^2 ~3 * ? : \\ / + - ! | & # @ $ %",
    "'; DROP TABLE evidence; --",
    'MATCH (v) WHERE id(v) == "x" RETURN v | YIELD $-.id',
    "<script>alert(1)</script>",
    "%s %d {0} {{x}} ${HOME}",
    "../../etc/passwd",
    "null",
    "\u202eright to left\u202c and \ufeffBOM and \u200bzero width",
    "x" * 65_536,
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_texts_are_kept_and_given_back_exactly(open_memory, odd: str) -> None:
    memory = open_memory()
    told = {"entity": "box", "agent": "ann", "claims": [{"statement": odd}, {"attribute": "label", "value": odd}]}
    receipt = memory.retain(told)
    free, valued = sorted(
        memory.home.graph.evidence_of_observations("default", receipt.ids), key=lambda e: str(e.attribute)
    )
    free, valued = (valued, free) if free.attribute else (free, valued)
    assert (free.statement, valued.value) == (odd, odd)
    assert values(memory, "label of the box", attribute="label") == [odd]
    asked = memory.recall(odd[:5_000], entity="box")
    assert odd in [one.belief.statement for one in asked.found]
    assert asked.question == odd[:5_000]
    memory.close()
    again = open_memory()
    assert odd in [belief.statement for belief in again.holders()]


@pytest.mark.parametrize("odd", [text for text in ODD if len(text) <= 1_024], ids=str)
def test_odd_names_are_kept_apart_and_given_back_exactly(memory: Memory, odd: str) -> None:
    told = {
        "entity": {"name": odd, "type": odd},
        "agent": odd,
        "session": odd,
        "id": odd,
        "source": {"id": odd, "origin": odd},
        "claims": [{"attribute": odd, "value": 1, "scope": {odd: odd}}],
        "metadata": {odd: odd},
        "visibility": "private",
    }
    memory.retain(told)
    memory.retain(fact("plain", "thing", 2))
    (found,) = memory.recall("one", entity={"name": odd, "type": odd}, principal=odd, scope={odd: odd}).found
    assert (found.belief.entity.name, found.belief.attribute, found.belief.scope) == (odd, odd, ((odd, odd),))
    assert found.evidence[0].evidence.observation_id == odd
    assert memory.history(entity={"name": odd, "type": odd}, attribute=odd, principal=odd).turns
    assert [one.belief.entity.name for one in memory.recall("thing", principal="other").found] == ["plain"]
    memory.recall(odd, session=odd, recent=3)


# The bad input of the issue: each its named error, by field.
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
