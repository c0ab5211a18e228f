"""Whatever a language model answers: claims that the log takes, or a refusal; and no text is lost by it."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from beliefs.attest import attest
from beliefs.prompted import claims_from, question_about
from schemas.errors import InvalidInput
from schemas.observation import Observation, Source
from streams.screen import screen

TEXT = "Alice leads the sales team. The price is 20 euros! 两百元起免运费。"
WORDS = st.sampled_from(
    ["", " ", "Alice", "sales team", "price", "20", "两百", "é\u0301", "x" * 3_000, "a\x00b", "\ud800"]
)
VALUES = st.one_of(
    WORDS,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=2),
)
CLAIMS = st.fixed_dictionaries(
    {"sentence": st.one_of(st.integers(-2, 5), VALUES), "subject": WORDS, "attribute": WORDS, "value": VALUES},
    optional={
        "stance": st.sampled_from(["supports", "refutes", "retracts", "maybe"]),
        "kind": st.sampled_from(["observation", "instruction", "derivation"]),
        "scope": st.lists(st.fixed_dictionaries({"name": WORDS, "value": WORDS}), max_size=3),
        "effective_at": st.sampled_from(["", "2024-02-31", "2024-05-01", "0000-00-00", "99999-01-01", None, "1e9"]),
        "valid_until": st.sampled_from(["2024-05-02", "1999-01-01", None]),
        "weight": st.just(99),
    },
)
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
ANSWERS = st.one_of(
    st.text(max_size=60),
    JSON.map(json.dumps),
    st.lists(CLAIMS, max_size=4).map(lambda claims: json.dumps({"claims": claims})),
)


@given(answer=ANSWERS)
def test_any_answer_gives_evidence_that_the_log_takes_or_is_refused(answer: str) -> None:
    observation = Observation(id="o1", bank="b", source=Source("chat"), observed_at=1_714_521_600_000_000, text=TEXT)
    try:
        claims = claims_from(answer, observation, "llm:1:m")
    except InvalidInput:
        return
    evidence = attest(observation, 0, claims)
    for piece in evidence:
        screen(piece)
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(piece), type=type(piece)) == piece
        assert (piece.weight, piece.bank, piece.visibility) == (1.0, "b", "bank")
        assert piece.statement in TEXT
    said = " ".join(piece.statement for piece in evidence)
    assert all(sentence in said for sentence in ("Alice leads the sales team.", "两百元起免运费。"))


@given(text=st.text(max_size=400))
def test_any_text_is_asked_about_as_one_object_or_not_at_all(text: str) -> None:
    observation = Observation(id="o1", bank="b", source=Source("chat"), observed_at=0, text=text)
    question = question_about(observation)
    if question:
        assert set(json.loads(question)) == {"about", "observed_on", "sentences", "names"}
