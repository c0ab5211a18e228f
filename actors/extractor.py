"""Observations in, evidence out; stateless, so any number of them may run."""

from collections.abc import Sequence

from beliefs.attest import attest
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation


class Extractor:
    """Reads what observations claim."""

    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """The evidence of each (observation, time of acceptance), in order."""
        return [attest(observation, ingested_at) for observation, ingested_at in observations]
