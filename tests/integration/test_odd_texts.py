"""Texts, names and times of every kind are kept and found as they were told; numbered as in the list of field cases."""

import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from facts import fact, statements, values

from beliefmesh.memory import Memory
from schemas.errors import TooLarge
from schemas.instant import parse_instant
from schemas.limits import MAX_TEXT_BYTES


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
