"""Observations in, evidence out; any number of them may run, since what a language model said is recorded.

The order of the design, section 4: claims that are stated or mapped stay as they are, else a language model reads the
text, if there is one, else the rules do, and they stand in whenever the model fails.
"""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import structlog

from beliefs.attest import attest
from beliefs.extract import extract
from beliefs.prompted import PROMPT_VERSION, SCHEMA, SYSTEM, by_rules, claims_from, question_about
from schemas.claim import Claim
from schemas.errors import InvalidInput, ModelFailed
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import Instant
from schemas.observation import Observation
from stores.language.endpoint import open_language
from stores.language.record import LanguageRecord, ModelOutcome, TextKey, open_record
from stores.ports import LanguageModel, StoreUrls

PIECE = 64
"""Observations that are read at a time; a call over an actor boundary carries no more."""

_PATIENCE_SECONDS = 240.0
_TRIES = 2
_MANY = frozenset({"budget", "resting", "late"})
"""Reasons that hold for very many observations in a row, each of which names it in its evidence."""

log_events = structlog.get_logger("actors")


class Extractor:
    """Reads what observations claim. With a model it has a record, which it closes; a record alone is read only.

    `counts` tells of texts whose reading by a model was recorded and not, and of those that the rules read instead.
    """

    def __init__(
        self, model: LanguageModel | None = None, record: LanguageRecord | None = None, *, concurrency: int = 4
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._model = model
        self._record = record
        self._pool = ThreadPoolExecutor(concurrency, "language") if model else None

    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """The evidence of each (observation, time of acceptance), in order. Raises StoreUnavailable for the record."""
        if self._record is None:
            return [attest(observation, ingested_at) for observation, ingested_at in observations]
        return [
            evidence
            for at in range(0, len(observations), PIECE)
            for evidence in self._piece(observations[at : at + PIECE], self._record)
        ]

    def close(self) -> None:
        """End the threads, close the record."""
        if self._pool is not None:
            self._pool.shutdown()
        if self._record is not None:
            self._record.close()

    def _piece(
        self, observations: Sequence[tuple[Observation, Instant]], record: LanguageRecord
    ) -> list[tuple[Evidence, ...]]:
        questions = [question_about(observation) for observation, _ in observations]
        told = [_told(observation) for observation, _ in observations]
        asked = [one for one, question in zip(told, questions, strict=True) if question]
        known = record.outcomes(asked)
        self.counts.update({"cache.readings.hit": len(known), "cache.readings.miss": len(set(asked)) - len(known)})
        known |= self._asked(
            {
                one: (observation, question)
                for (observation, _), question, one in zip(observations, questions, told, strict=True)
                if question and one not in known
            },
            record,
        )
        return [
            attest(observation, ingested_at, _claims(observation, known.get(one)))
            for (observation, ingested_at), one in zip(observations, told, strict=True)
        ]

    def _asked(
        self, unread: dict[TextKey, tuple[Observation, str]], record: LanguageRecord
    ) -> dict[TextKey, ModelOutcome]:
        """What the model says of those that nothing is recorded of; equal questions are asked once."""
        if self._pool is None or self._model is None:
            return {}
        model, until = self._model, time.monotonic() + _PATIENCE_SECONDS
        keys = {one: digest(model.model_id, SYSTEM, question) for one, (_, question) in unread.items()}
        first = {keys[one]: asked for one, asked in reversed(unread.items())}
        asking = {
            key: self._pool.submit(_ask, model, record, key, observation, question, until)
            for key, (observation, question) in first.items()
        }
        return record.keep({one: (keys[one], asking[keys[one]].result()) for one in unread})


def open_extractor(urls: StoreUrls, model: LanguageModel | None = None) -> Extractor:
    """The extractor that the URLs describe; with a model that is open already, it shares that."""
    model = model or open_language(urls.language)
    record = open_record(urls.record, wanted=model is not None)
    return Extractor(model, record, concurrency=urls.language.concurrency)


def _told(observation: Observation) -> TextKey:
    entity = observation.entity
    said = digest(observation.text, entity.name if entity else "")
    return TextKey(observation.bank, observation.id, said)


def _ask(
    model: LanguageModel, record: LanguageRecord, key: str, observation: Observation, question: str, until: float
) -> ModelOutcome:
    """An answer that can be used, from the record or the model, else the reason why there is none."""
    if found := record.answered(key):
        return found
    extractor = f"llm:{PROMPT_VERSION}:{model.model_id.rpartition('#')[2]}"
    reason, problem = "late", f"{PIECE} observations took longer than {_PATIENCE_SECONDS:g} s"
    for _ in range(_TRIES):
        if time.monotonic() > until:
            break
        try:
            answer = model.complete(SYSTEM, question, SCHEMA)
            claims_from(answer, observation, extractor)
        except ModelFailed as error:
            return _failed(observation, error.reason, str(error))
        except InvalidInput as error:
            reason, problem = "malformed", str(error)
        else:
            return ModelOutcome(answer, extractor)
    return _failed(observation, reason, problem)


def _failed(observation: Observation, reason: str, problem: str) -> ModelOutcome:
    note = log_events.debug if reason in _MANY else log_events.warning
    note("extract.by_rules", bank=observation.bank, observation=observation.id, reason=reason, problem=problem[:500])
    return ModelOutcome(failed=reason)


def _claims(observation: Observation, outcome: ModelOutcome | None) -> tuple[Claim, ...] | None:
    """The claims of what was recorded; None where nobody asked a model, so that the rules read alone."""
    if outcome is None:
        return None
    if not outcome.failed:
        try:
            return claims_from(outcome.answer, observation, outcome.extractor)
        except InvalidInput:
            return by_rules(extract(observation), "malformed")
    return by_rules(extract(observation), outcome.failed)
