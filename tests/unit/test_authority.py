"""Who may instruct: by agent, group, kind of source, attribute and type of entity."""

from collections.abc import Callable
from typing import Any

import pytest

from beliefs.rulebook import rulebook
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.policy import Authority, Policy, check_policy

Said = Callable[..., Evidence]
CLOSED = Authority(may_instruct=False)


@pytest.mark.parametrize(
    ("entry", "who", "may"),
    [
        (Authority(agent="boss"), {"agent": "boss"}, True),
        (Authority(agent="boss"), {"agent": "Boss"}, False),
        (Authority(agent="boss-*"), {"agent": "boss-2"}, True),
        (Authority(group="staff"), {"agent": "ann"}, True),
        (Authority(group="staff"), {"agent": "bot-7"}, True),
        (Authority(group="staff"), {"agent": "mallory"}, False),
        (Authority(source_type="ticket"), {"source_type": "ticket"}, True),
        (Authority(source_type="ticket"), {"source_type": "dialogue"}, False),
        (Authority(attribute="TEMPLATE"), {"agent": "x"}, True),
        (Authority(attribute="price*"), {"agent": "x"}, False),
        (Authority(entity_type="Rule"), {"agent": "x"}, True),
        (Authority(entity_type="person"), {"agent": "x"}, False),
        (Authority(agent="boss", source_type="ticket"), {"agent": "boss", "source_type": "log"}, False),
    ],
)
def test_an_entry_speaks_for_whoever_matches_all_that_it_names(
    said: Said, entry: Authority, who: dict[str, Any], may: bool
) -> None:
    policy = Policy(authorities=(entry, CLOSED), groups={"staff": ("ann", "bot-*")})

    assert rulebook(policy).authority(said("a", 1, "A", **who)).may_instruct is may


def test_the_first_entry_that_matches_decides(said: Said) -> None:
    book = rulebook(Policy(authorities=(Authority(agent="ann", may_instruct=False), Authority(agent="a*"), CLOSED)))

    assert not book.authority(said("a", 1, "A", agent="ann")).may_instruct
    assert book.authority(said("b", 1, "A", agent="abe")).may_instruct


@pytest.mark.parametrize(
    ("authority", "told"),
    [
        (Authority(group="staf"), r"policy\.authorities\[0\]\.group: is 'staf'.*listed: staff"),
        (Authority(source_type="tickets"), r"policy\.authorities\[0\]\.source_type: is 'tickets'.*ticket"),
        (Authority(agent=""), r"policy\.authorities\[0\]\.agent: is empty"),
    ],
)
def test_an_authority_that_can_match_nobody_is_refused_by_name(authority: Authority, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        check_policy(Policy(authorities=(authority,), groups={"staff": ("ann",)}))
