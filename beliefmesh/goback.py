"""What "back to the previous setting" does when it is told: one slot goes back, or the asker is asked which.

It is decided once, before the log: the observation is logged with the claim that was meant, so that replaying the log
needs no guess either; of what is told in one call together, nothing is history yet. Where several slots may be meant
it is logged as it is, a free statement that changes nothing.
"""

import re
from collections.abc import Iterator

import msgspec

from beliefs.access import public
from beliefs.reversal import WayBack, meant, reverted, ways_back
from schemas.observation import Observation
from stores.pages import all_slots
from stores.ports import GraphStore

_MAY_ASK = re.compile(
    r"(?i)\b(?:previous|original|old|former|earlier|last|default)\b|恢复|还原|[回到用]|之前|以前|原来|原先"
)
_LONGEST = 240


def asks_back(observation: Observation) -> str | None:
    """The attribute that an observation asks to set back ("" for whichever it is); None where it asks no such thing."""
    text = observation.text
    if observation.claims or not 0 < len(text) <= _LONGEST or not _MAY_ASK.search(text):
        return None
    return reverted(observation)


def gone_back(graph: GraphStore, observation: Observation) -> tuple[Observation, tuple[str, ...]]:
    """The observation with what it sets back as its claim; else as it is, with the slots it may mean, one a line."""
    attribute = asks_back(observation)
    if attribute is None:
        return observation, ()
    ways = meant(_ways(graph, observation, attribute), observation)
    if len(ways) == 1:
        return msgspec.structs.replace(observation, claims=(ways[0].claim,)), ()
    return observation, tuple(sorted(way.told() for way in ways))


def _ways(graph: GraphStore, observation: Observation, attribute: str) -> Iterator[WayBack]:
    policy = graph.policy(observation.bank)
    for stored in all_slots(graph, observation.bank):
        yield from ways_back(public(stored.evidence), policy, observation, attribute)
