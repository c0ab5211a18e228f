"""What was recalled and comes back as an observation: it is marked, so that it adds no support (field case 9)."""

import threading

import msgspec

from schemas.answer import Answer
from schemas.identity import digest, normal_name
from schemas.observation import Observation, Source
from schemas.query import Query

_REMEMBERED = 20_000


class Echoes:
    """The statements that were lately returned to whom; bounded, oldest forgotten first."""

    def __init__(self) -> None:
        self._returned: dict[str, str] = {}
        self._lock = threading.Lock()

    def returned(self, query: Query, answer: Answer) -> None:
        """Remember what this answer told to its principal."""
        if not query.principal.id:
            return
        keys = [digest(query.bank, query.principal.id, normal_name(found.belief.statement)) for found in answer.found]
        with self._lock:
            for key in keys:
                self._returned.pop(key, None)
                self._returned[key] = query.bank
            while len(self._returned) > _REMEMBERED:
                del self._returned[next(iter(self._returned))]

    def clear(self, bank: str) -> None:
        """Remember nothing of a bank, since some of it was forgotten on request."""
        with self._lock:
            self._returned = {key: of for key, of in self._returned.items() if of != bank}

    def marked(self, observation: Observation) -> Observation:
        """The observation, its source marked as recall if an agent says in its own name what it was told by us."""
        told_itself = observation.agent and observation.source.id == observation.agent and not observation.claims
        if (
            not told_itself
            or digest(observation.bank, observation.agent, normal_name(observation.text)) not in self._returned
        ):
            return observation
        source = Source(observation.source.id, observation.source.origin, "recall")
        return msgspec.structs.replace(observation, source=source)
