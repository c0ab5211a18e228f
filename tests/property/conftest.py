"""How the evidence of one slot and a policy for it are drawn; tests ask with `st.from_type`."""

from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from schemas.claim import EVERYWHERE, Stance, scope_of
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR, Instant
from schemas.observation import Source, SourceType
from schemas.policy import UNTAUGHT, AttributeRule, Authority, Policy, Reliability, Trust
from schemas.slot import slot_id

settings.register_profile("house", deadline=None, max_examples=100)
settings.load_profile("house")

SHOP = Entity("shop", "policy")
SCOPES = (
    EVERYWHERE,
    scope_of({"region": "EU"}),
    scope_of({"region": "US"}),
    scope_of({"report": "financial"}),
    scope_of({"region": "EU", "report": "financial"}),
)
LEARNED = Trust(
    version=3,
    outcomes=40,
    weights=(
        Reliability("*", "returns window", 0.5, 40),
        Reliability("handbook", "returns window", 7.25, 8),
        Reliability("wiki", "returns window", 0.02, 12),
        Reliability("mail", "*", 3.0, 20),
    ),
)
HALF_LIVES = st.sampled_from([None, 0.0, 1 / 24, 1.0, 180.0, 365.0])
EVENTUALITIES = st.binary(min_size=9, max_size=9).map(int.from_bytes)

_T = TypeVar("_T")


class _Digits:
    """Choices read off one large number, which is drawn far faster than thirty small ones and shrinks as well."""

    def __init__(self, number: int) -> None:
        self._left = number

    def pick(self, *choices: _T) -> _T:
        self._left, place = divmod(self._left, len(choices))
        return choices[place]

    def up_to(self, high: int) -> int:
        self._left, place = divmod(self._left, high)
        return place


def evidence_from(number: int) -> Evidence:
    """Anything that may be said of one slot, crowded into few values, origins and times, so that it collides."""
    digits = _Digits(number)
    id = digits.up_to(1_000)
    at: Instant = digits.up_to(12) * DAY + digits.pick(0, 0, digits.up_to(24)) * HOUR
    origin = digits.pick("handbook", "wiki", "mail")
    agent = digits.pick("boss", "intern")
    stance: Stance = digits.pick("supports", "supports", "supports", "supports", "supports", "refutes", "retracts")
    value = digits.pick(10, 12, 14, "red", "Red")
    source_type: SourceType = digits.pick(*["document"] * 9, "recall")  # type: ignore[arg-type]
    return Evidence(
        id=f"e{id}",
        bank="shop",
        slot=slot_id("shop", SHOP, "returns window"),
        entity=SHOP,
        observation_id=f"o{id}",
        source=Source(origin, origin, source_type),
        effective_at=at,
        observed_at=at,
        statement=digits.pick("", f"e{id} says so."),
        attribute=digits.pick("returns window", "Returns  window"),
        value=value if stance == "supports" or digits.pick(True, False) else None,
        scope=digits.pick(EVERYWHERE, EVERYWHERE, EVERYWHERE, *SCOPES),
        stance=stance,
        kind=digits.pick("observation", "observation", "instruction"),
        network=digits.pick("world", "world", "world", "experience"),
        weight=digits.pick(1.0, 1.0, 2.0, 0.0, 0.1, 0.5, 0.7, 3.0),
        agent=agent,
        scheduled=digits.pick(False, True),
        valid_until=digits.pick(None, None, at + (1 + digits.up_to(200)) * HOUR),
        occurred_end=digits.pick(None, None, None, at),
        pinned=digits.pick(False, False, False, True),
        owner=agent,
        visibility=digits.pick("bank", "bank", "bank", "bank", "private", "group"),
        readers=("group:staff",),
        mentions=digits.pick((), (), (Entity("customer"),)),
    )


def policies() -> st.SearchStrategy[Policy]:
    """Policies that differ in all that the rules of a slot depend on."""
    rule = st.builds(
        AttributeRule,
        pattern=st.just("returns*"),
        cardinality=st.sampled_from(["one", "one", "one", "many"]),
        tolerance=st.sampled_from([0.0, 0.0, 2.0]),
        half_life_days=HALF_LIVES,
        specific_survives=st.booleans(),
    )
    authorities = st.sampled_from(
        [
            (),
            (Authority(agent="boss", rank=1), Authority(agent="intern", may_instruct=False)),
            (Authority(group="staff", source_type="document", entity_type="pol*"), Authority(may_instruct=False)),
        ]
    )
    trust = st.sampled_from([UNTAUGHT, UNTAUGHT, LEARNED])
    learned = st.sampled_from([(), (Reliability("wiki", "returns window", 0.25), Reliability("mail", "other", 3.0))])
    return st.builds(
        Policy,
        attributes=rule.map(lambda one: (one,)),
        authorities=authorities,
        reliabilities=learned,
        groups=st.just({"staff": ("intern", "clerk*")}),
        trust=trust,
    )


st.register_type_strategy(Evidence, EVENTUALITIES.map(evidence_from))
st.register_type_strategy(Policy, policies())
