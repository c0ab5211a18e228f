"""The topics and what each is keyed by (design section 5)."""

import msgspec

OBSERVATIONS = "observations"
CLAIMS = "claims"
CHANGES = "changes"
DEAD_LETTERS = "dead-letters"
RECALL_LOG = "recall-log"


class Topics(msgspec.Struct, frozen=True):
    """Topic names under a prefix, and their partition counts."""

    prefix: str = ""
    partitions: int = 8

    def name(self, topic: str) -> str:
        """The full name of a topic."""
        return f"{self.prefix}{topic}"

    def all(self) -> dict[str, int]:
        """Every topic with its partition count; dead letters and the recall log keep their order in one."""
        spread = {self.name(topic): self.partitions for topic in (OBSERVATIONS, CLAIMS, CHANGES)}
        return spread | {self.name(topic): 1 for topic in (DEAD_LETTERS, RECALL_LOG)}
