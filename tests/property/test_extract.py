"""What holds of extraction for every text: it never fails, never forgets, never depends on anything else."""

from hypothesis import given
from hypothesis import strategies as st

from beliefs.extract import extract
from beliefs.sentences import LONGEST, sentence_spans
from beliefs.values import cluster, magnitude, normal_value
from schemas.observation import Observation, Source

FRAGMENTS = (
    "the rate limit is 100 yuan . no longer use template A for all reports , except from 20 May on ! I prefer 3 "
    "pm v1.2.0 changed to must not can be combined 满 200元 免运费 。 自5月20日起 不再 可以 叠加 我 喜欢 对 "
    "过敏 把 主题 设为 深色 29 February 30 2月30日 $ 1,000.5k % 99999999999999999999 昨天 = : ; ? 's my never "
    "取消 改为 are allergic to called and in the region set save as PDF 所有 报表 使用 模板 的 是 恢复 原来的 "
    "设置 revert previous - * 1. more than"
)
PARTS = st.sampled_from([*FRAGMENTS.split(), "\n", "\n\n"])
TEXTS = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=300),
    st.lists(PARTS, max_size=25).map(" ".join),
    st.lists(PARTS, max_size=25).map("".join),
)
MOMENTS = st.integers(min_value=-62_135_000_000_000_000, max_value=253_402_000_000_000_000)
VALUES = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=40), PARTS
)
TYPES = st.sampled_from(["text", "number", "money", "date", "time", "version", "boolean", "enum", "name", "code", None])


def observation(text: str, moment: int) -> Observation:
    return Observation(id="o1", bank="b", source=Source("s"), observed_at=moment, text=text)


@given(TEXTS, MOMENTS)
def test_every_sentence_is_kept_in_a_statement_that_the_text_contains(text: str, moment: int) -> None:
    claims = extract(observation(text, moment))

    assert all(claim.statement and claim.statement in text for claim in claims)
    assert all(any(text[start:end] in claim.statement for claim in claims) for start, end in sentence_spans(text))


@given(TEXTS, MOMENTS)
def test_the_same_text_gives_the_same_claims(text: str, moment: int) -> None:
    assert extract(observation(text, moment)) == extract(observation(text, moment))


@given(TEXTS, st.integers(min_value=1, max_value=40))
def test_sentences_lose_no_character_but_white_space(text: str, times: int) -> None:
    long = text * times

    spans = sentence_spans(long)

    assert "".join("".join(long[start:end].split()) for start, end in spans) == "".join(long.split())
    assert all(0 < end - start <= LONGEST for start, end in spans)


@given(TEXTS, MOMENTS)
def test_a_claim_with_an_attribute_has_a_value_and_names_its_rule(text: str, moment: int) -> None:
    for claim in extract(observation(text, moment)):
        assert (claim.attribute is None) == (claim.value is None)
        assert claim.entity.name
        assert claim.extractor == "free" or claim.extractor.startswith("rule:")


@given(VALUES, TYPES)
def test_a_key_is_a_value_with_the_same_key(value: object, type: object) -> None:
    kind, key = normal_value(value, type, None)  # type: ignore[arg-type]

    assert normal_value(key, kind, None) == (kind, key)
    size = magnitude(value, type)  # type: ignore[arg-type]
    assert size is None or abs(size) < float("inf")


@given(
    st.dictionaries(
        st.text(alphabet="abc", min_size=1, max_size=3),
        st.tuples(st.one_of(st.none(), st.integers(0, 20).map(float)), st.integers(1, 3)),
    ),
    st.sampled_from([0.0, 1.0, 2.5]),
)
def test_clusters_depend_only_on_the_set_and_keep_within_tolerance(
    values: dict[str, tuple[float | None, int]], tolerance: float
) -> None:
    anchors = cluster(values, tolerance)

    assert anchors == cluster(dict(reversed(values.items())), tolerance)
    assert all(anchors[anchor] == anchor for anchor in anchors.values())
    for key, anchor in anchors.items():
        if key != anchor:
            own, other = values[key][0], values[anchor][0]
            assert own is not None
            assert other is not None
            assert abs(own - other) <= tolerance
