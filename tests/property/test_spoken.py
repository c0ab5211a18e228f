"""Whatever a language model says, it cites only what it was given, and all of what that rests on."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from recall.render import cited, sentences_in, short_id
from recall.spoken import heard
from schemas.errors import ModelFailed

LEADS = tuple("b" + digit * 32 for digit in "123")
RIVAL = "b" + "4" * 32
INVENTED = "b" + "5" * 32
GIVEN = {LEADS[0]: (LEADS[0], RIVAL), LEADS[1]: (LEADS[1],), LEADS[2]: (LEADS[2], LEADS[0])}

names = st.sampled_from([*LEADS, RIVAL, INVENTED]).flatmap(
    lambda one: st.sampled_from([one, short_id(one), one[:9], one.upper(), f" {one}", "last", ""])
)
texts = st.tuples(st.sampled_from(["It rains.", "", "B2 or C4.", "\n"]), st.lists(names, max_size=2)).map(
    lambda told: told[0] + "".join(f" [memory {id}]" for id in told[1])
)
sentences = st.lists(st.fixed_dictionaries({"text": texts, "cites": st.lists(names, max_size=3)}), max_size=5)


@settings(max_examples=300)
@given(sentences, texts)
def test_a_model_that_invents_ids_cites_nothing_that_it_was_not_given(told: list[dict[str, object]], own: str) -> None:
    try:
        spoken = heard(json.dumps({"sentences": told, "opinion": own}), GIVEN)
    except ModelFailed:
        return
    for sentence in spoken.sentences:
        leads = set(LEADS) & set(sentence.beliefs)
        assert leads
        assert set(sentence.beliefs) <= {*LEADS, RIVAL}
        assert "[memory" not in sentence.text.lower()
    assert len(spoken.sentences) + spoken.dropped == len(told)
    assert INVENTED[:9] not in spoken.opinion.lower()


@given(st.lists(st.sampled_from(LEADS), min_size=1, max_size=4))
def test_who_cites_a_memory_cites_all_that_it_rests_on_and_that_can_be_read_back(cites: list[str]) -> None:
    told = {"sentences": [{"text": "B2 or C4.", "cites": [short_id(id) for id in cites]}], "opinion": ""}

    (sentence,) = heard(json.dumps(told), GIVEN).sentences

    assert set(sentence.beliefs) == {id for cite in cites for id in GIVEN[cite]}
    assert sentences_in(cited(sentence), [*LEADS, RIVAL]) == (sentence,)
