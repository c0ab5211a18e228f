"""JSON Schema: whatever intake accepts is a message that fits it."""

from typing import get_args

import msgpack
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from schemas.claim import Kind, Network, Stance, Tier, ValueType
from schemas.errors import InvalidInput
from schemas.intake import observation_from
from schemas.json_schema import message_schema
from schemas.observation import SourceType, Visibility
from schemas.wire import pack

MESSAGE = Draft202012Validator(message_schema("observation"))
TEXT = st.text(max_size=12)
NAME = st.text(min_size=1, max_size=8)
TIME = st.integers(min_value=-(2**40), max_value=2**40)
NUMBER = st.integers(min_value=-(2**63), max_value=2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
ENTITY = NAME | st.fixed_dictionaries({"name": NAME}, optional={"type": NAME})


def one_of(literal: object) -> st.SearchStrategy[str]:
    return st.sampled_from(get_args(literal))


SHARED: dict[str, st.SearchStrategy[object]] = {
    "entity": ENTITY,
    "kind": one_of(Kind),
    "network": one_of(Network),
    "tier": one_of(Tier),
    "weight": st.floats(min_value=0, max_value=1_000),
    "effective_at": TIME,
    "valid_until": TIME,
}
CLAIM = st.fixed_dictionaries(
    {},
    optional={
        "attribute": NAME,
        "value": TEXT | NUMBER | st.booleans(),
        "value_type": one_of(ValueType),
        "scope": st.dictionaries(NAME, TEXT | NUMBER, max_size=2),
        "stance": one_of(Stance),
        "statement": TEXT,
        "mentions": st.lists(ENTITY, max_size=2),
        "premises": st.lists(NAME | st.from_regex("b[0-9a-f]{32}", fullmatch=True), max_size=2),
        **SHARED,
    },
)
TOLD = st.fixed_dictionaries(
    {"text": TEXT, "entity": ENTITY},
    optional={
        "id": NAME,
        "claims": st.lists(CLAIM, max_size=2),
        "source": NAME | st.fixed_dictionaries({"id": NAME}, optional={"origin": TEXT, "type": one_of(SourceType)}),
        "agent": TEXT,
        "session": TEXT,
        "turn": st.integers(min_value=0, max_value=2**40),
        "pinned": st.booleans(),
        "owner": TEXT,
        "visibility": one_of(Visibility),
        "readers": st.lists(NAME, max_size=2),
        "metadata": st.dictionaries(NAME, TEXT, max_size=2),
        **{name: values for name, values in SHARED.items() if name != "entity"},
    },
)


@given(TOLD)
def test_what_intake_accepts_fits_the_schema(told: dict[str, object]) -> None:
    try:
        observation = observation_from(told, bank="shop", now=1_716_163_200_000_000)
    except InvalidInput:
        assume(False)

    MESSAGE.validate(msgpack.unpackb(pack(observation, observation.id)))
