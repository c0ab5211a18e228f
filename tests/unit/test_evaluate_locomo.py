"""LoCoMo: how its turns, dates and evidence are read, and how a ranking is scored."""

import json

import pytest

from beliefmesh.evaluate.locomo import observation_of, score, summary
from beliefmesh.evaluate.locomo_data import DialogueTurn, Question, read_locomo, session_start, turn_ids
from schemas.errors import InvalidInput
from schemas.instant import format_instant

RAW = [
    {
        "sample_id": "conv-26",
        "conversation": {
            "speaker_a": "Caroline",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Caroline", "dia_id": "D1:1", "text": "I went to a support group yesterday."},
                {"speaker": "Melanie", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a sunset over a lake"},
            ],
            "session_2_date_time": "12:06 am on 11 November, 2023",
            "session_2": [{"speaker": "Caroline", "dia_id": "D2:1", "text": "Hi"}],
            "session_3_date_time": "9:00 am on 12 November, 2023",
        },
        "qa": [
            {"question": "When did she go?", "answer": "7 May", "evidence": ["D1:1"], "category": 2},
            {"question": "Both?", "answer": "x", "evidence": ["D1:2; D2:1"], "category": 1},
            {"question": "Trap?", "answer": "x", "evidence": ["D1:1"], "category": 5},
            {"question": "Nothing?", "answer": "x", "evidence": [], "category": 4},
            {"question": "Elsewhere?", "answer": "x", "evidence": ["D9:9"], "category": 4},
        ],
    }
]


def test_a_conversation_is_read_with_the_questions_that_can_be_scored(tmp_path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(RAW), "utf-8")

    (conversation,) = read_locomo(path)

    assert conversation.id == "conv-26"
    assert [turn.id for turn in conversation.turns] == [(1, 1), (1, 2), (2, 1)]
    assert format_instant(conversation.turns[2].at) == "2023-11-11T00:06:00Z"
    assert [(one.text, one.category, one.evidence) for one in conversation.questions] == [
        ("When did she go?", 2, frozenset({(1, 1)})),
        ("Both?", 1, frozenset({(1, 2), (2, 1)})),
    ]


@pytest.mark.parametrize(
    ("evidence", "turns"),
    [
        ("D1:3", {(1, 3)}),
        ("D8:6; D9:17", {(8, 6), (9, 17)}),
        ("D:11:26", {(11, 26)}),
        ("D", set()),
        ("D1:1 D1:2", {(1, 1), (1, 2)}),
    ],
)
def test_evidence_names_one_or_several_turns(evidence: str, turns: set[tuple[int, int]]) -> None:
    assert turn_ids(evidence) == turns


def test_a_session_date_is_read() -> None:
    assert format_instant(session_start("1:56 pm on 8 May, 2023")) == "2023-05-08T13:56:00Z"


def test_another_date_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not a session's date"):
        session_start("yesterday")


def test_another_format_is_refused_with_the_option_that_named_it(tmp_path) -> None:
    path = tmp_path / "other.json"
    path.write_text('[{"conversation": {"session_1": [{"text": "no speaker"}]}}]', "utf-8")

    with pytest.raises(InvalidInput, match=r"data: is not LoCoMo"):
        read_locomo(path)


def test_a_turn_is_its_speakers_observation_with_the_caption() -> None:
    date = "1:56 pm on 8 May, 2023"
    turn = DialogueTurn(
        id=(1, 2), speaker="Melanie", text="Look.", caption="a sunset", date=date, at=session_start(date)
    )

    assert observation_of(turn, "conv-26") == {
        "id": "D1:2",
        "text": "[1:56 pm on 8 May, 2023] Melanie: Look. (image: a sunset)",
        "agent": "Melanie",
        "entity": {"name": "Melanie", "type": "person"},
        "source": {"id": "Melanie", "origin": "Melanie", "type": "dialogue"},
        "session": "conv-26/1",
        "turn": 2,
        "observed_at": "2023-05-08T13:56:00Z",
        "tier": "medium",
    }


def test_recall_counts_the_evidence_among_the_first_and_mrr_the_first_of_it() -> None:
    question = Question("?", 1, frozenset({(1, 1), (2, 7)}))
    ranked = ["D5:1", "D1:1", *(f"D9:{n}" for n in range(8)), "D2:7"]

    scored = score(question, ranked)

    assert scored.recall == (0.5, 0.5, 1.0)
    assert scored.reciprocal == 0.5


def test_evidence_that_is_not_found_scores_nothing() -> None:
    scored = score(Question("?", 4, frozenset({(1, 1)})), ["D5:1"])

    assert (scored.recall, scored.reciprocal) == ((0.0, 0.0, 0.0), 0.0)


def test_the_summary_is_the_mean_over_questions() -> None:
    one = score(Question("?", 4, frozenset({(1, 1)})), ["D1:1"])
    other = score(Question("?", 4, frozenset({(1, 1)})), [])

    assert summary([one, other]) == {"recall@5": 0.5, "recall@10": 0.5, "recall@20": 0.5, "mrr": 0.5, "questions": 2}
