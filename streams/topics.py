"""The topics, what each is keyed by and how it is kept (design section 5)."""

import re
from collections.abc import Mapping

import msgspec

from schemas.errors import InvalidInput
from schemas.limits import shown
from stores.ports import Log, TopicPlan

OBSERVATIONS = "observations"
CLAIMS = "claims"
CHANGES = "changes"
DEAD_LETTERS = "dead-letters"
RECALL_LOG = "recall-log"
TOMBSTONES = "tombstones"

_GROUP = "beliefmesh"
_PREFIX = re.compile(r"(?!__)[A-Za-z0-9._-]{0,150}")


def check_prefix(prefix: object) -> str:
    """Accept what may stand before the names of topics: up to 150 letters, digits, dots, dashes or underscores.

    Two underscores at its beginning are Kafka's own.
    """
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise InvalidInput(
            "prefix", f"{shown(prefix)} cannot stand before a topic; use up to 150 letters, digits, '.', '-' or '_'"
        )
    return prefix


class Topics(msgspec.Struct, frozen=True):
    """Topic names under a prefix, their partitions, and the space (of graph and index) that the stages fill.

    `days` says how long a topic is kept where that is not for ever.
    """

    prefix: str = ""
    partitions: int = 8
    space: str = ""
    days: Mapping[str, int] = {}

    @property
    def group(self) -> str:
        """The consumer group of the stages; each space reads the topics for itself."""
        return f"{self.prefix}{_GROUP}-{self.space}" if self.space else f"{self.prefix}{_GROUP}"

    def name(self, topic: str) -> str:
        """The full name of a topic."""
        return f"{self.prefix}{topic}"

    def plans(self) -> dict[str, TopicPlan]:
        """How each topic is made, by full name; dead letters, recalls and tombstones keep their order."""
        spread = {topic: TopicPlan(self.partitions, days=self.days.get(topic, 0)) for topic in (OBSERVATIONS, CLAIMS)}
        changes = {CHANGES: TopicPlan(self.partitions, compacted=True)}
        single = {topic: TopicPlan(1, days=self.days.get(topic, 0)) for topic in (DEAD_LETTERS, RECALL_LOG)}
        single[TOMBSTONES] = TopicPlan(1)
        return {self.name(topic): plan for topic, plan in (spread | changes | single).items()}

    def create(self, log: Log) -> None:
        """Make those that are not there."""
        for topic, plan in self.plans().items():
            log.create(topic, plan)
