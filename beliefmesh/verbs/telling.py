"""Verbs that tell the memory something: observations, one by one or by the file."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from beliefmesh.goback import asks_back, gone_back
from beliefmesh.letters import unreadable
from beliefmesh.receipt import Importable, Imported, Receipt, Tellable, chunks_of, fields_of, line_of, several, written
from beliefmesh.verbs.bound import Bound, log_events
from schemas.dead_letter import DeadLetter
from schemas.errors import Busy, InvalidInput, VersionConflict
from schemas.instant import Instant
from schemas.intake import observation_from, observation_from_json
from schemas.observation import Observation, observation_key
from schemas.slot import slot_id
from schemas.tombstone import grave
from schemas.wire import pack
from stores.ports import Entry, GraphStore
from stores.tracing.events import INFO, wanted
from stores.tracing.spans import carried, span
from streams.bundles import bundled_by_bank
from streams.events import acceptance, dead_lettered
from streams.freshness import token_of
from streams.topics import OBSERVATIONS

_LINES_AT_ONCE = 1_000
_MOST_ASKING = 100
"""Of the lines read at once, so many may go back to a setting: each one looks through the history of the bank."""


class Telling(Bound):
    """Retain and import."""

    def retain(
        self,
        /,
        observations: Tellable | Sequence[Tellable],
        *,
        bank: str | None = None,
        wait: bool = True,
        expected_version: int | None = None,
        **fields: object,
    ) -> Receipt:
        """Keep what was observed: texts or mappings of observation fields; `fields` apply to each that lacks them.

        With `wait` it returns when everything is recallable, else as soon as the log has it. `expected_version` is
        the version of the one slot that the (single) structured claim is about; VersionConflict if it has moved on.
        """
        many = several(observations)
        name = self._bank(bank)
        self._adopt_policy(name)
        skew = self.home.graph.policy(name).skew
        taken = [self._read(told, name, skew, fields) for told in many]
        if expected_version is not None:
            self._require_version(taken, expected_version)
        unclear: tuple[str, ...] = ()
        if len(taken) == 1 and asks_back(taken[0]) is not None:
            self._keep_up()
            taken[0], unclear = gone_back(self.home.graph, taken[0])
        return msgspec.structs.replace(self._append(taken, wait), clarification=unclear)

    def import_lines(
        self, lines: Iterable[bytes | str], *, bank: str | None = None, progress: Callable[[int], None] | None = None
    ) -> Imported:
        """Keep observations written as JSON, one a line; a line that cannot be used becomes a dead letter.

        Lines that go back to the previous setting are decided a thousand lines at a time, after all others of these.
        """
        return self._import(map(line_of, lines), bank, progress)

    def import_fields(self, rows: Iterable[Mapping[str, object]], *, bank: str | None = None) -> Imported:
        """Keep observations, each as the fields that its JSON would have; one that cannot be used is set aside.

        As `import_lines`, for who has read something else; a row must stay as it is until a thousand are read.
        """
        return self._import(map(fields_of, rows), bank, None)

    def _import(self, told: Iterable[Importable], bank: str | None, progress: Callable[[int], None] | None) -> Imported:
        name = self._bank(bank)
        self._adopt_policy(name)
        accepted = dead = unclear = 0
        places: list[tuple[int, int]] = []
        for chunk in chunks_of(told, _LINES_AT_ONCE):
            good, letters = self._parse(chunk, name)
            asking = [observation for observation in good if asks_back(observation) is not None][:_MOST_ASKING]
            places += self._log_observations([observation for observation in good if observation not in asking])
            if letters:
                self.home.letters.add(letters, self.home.clock())
                for letter in letters if wanted(log_events, INFO) else ():
                    log_events.info("record.dead_lettered", **dead_lettered(letter))
            accepted += len(good)
            dead += len(letters)
            if not self.home.streaming:
                self.home.worker.drain()
            unclear += self._go_back(asking, places)
            if progress:
                progress(len(chunk))
        return Imported(accepted, dead, token_of(places), unclear)

    def _go_back(self, asking: Sequence[Observation], places: list[tuple[int, int]]) -> int:
        """Log those that ask to go back, each as what it means by then; returns how many may mean several things."""
        unclear = 0
        for told in sorted(asking, key=lambda observation: observation.observed_at):
            observation = told
            try:
                self.wait(token_of(places))
                observation, ways = gone_back(self.home.graph, told)
                unclear += bool(ways)
            except Busy:
                unclear += 1
            places += self._log_observations([observation])
            if not self.home.streaming:
                self.home.worker.drain()
        return unclear

    def _read(self, told: object, bank: str, skew: Instant, fields: Mapping[str, object]) -> Observation:
        data = {"text": told} if isinstance(told, str) else told
        if not isinstance(data, Mapping):
            raise InvalidInput("observation", f"must be a text or an object, not {type(data).__name__}")
        observation = observation_from({**fields, **data}, bank=bank, now=self.home.clock(), skew=skew)
        return self._echoes.marked(observation)

    def _parse(self, told: Sequence[Importable], bank: str) -> tuple[list[Observation], list[DeadLetter]]:
        good: list[Observation] = []
        letters = []
        now = self.home.clock()
        skew = self.home.graph.policy(bank).skew
        for each in told:
            try:
                if isinstance(each, Mapping):
                    observation = observation_from(each, bank=bank, now=now, skew=skew)
                elif each.strip():
                    observation = observation_from_json(each, bank=bank, now=now, skew=skew)
                else:
                    continue
                good.append(self._echoes.marked(observation))
            except InvalidInput as error:
                original = written(each) if isinstance(each, Mapping) else each
                letters.append(unreadable(original, bank, error, now))
        return good, letters

    def _append(self, taken: Sequence[Observation], wait: bool) -> Receipt:
        token = token_of(self._log_observations(taken))
        if wait:
            self.wait(token)
        return Receipt(tuple(observation.id for observation in taken), token)

    def _log_observations(self, taken: Sequence[Observation]) -> list[tuple[int, int]]:
        topic = self.home.topics.name(OBSERVATIONS)
        kept = without_forgotten(self.home.graph, taken)
        with span("append", observations=len(kept)):
            context = carried()
            entries = (entry_of(observation, context) for observation in kept)
            partitions = self.home.log.partitions(topic)
            places = self.home.log.append(topic, bundled_by_bank(entries, partitions), self.home.clock())
        for bank, some in Counter(observation.bank for observation in kept).items():
            self.home.tally.took_in(bank, some)
        if kept and wanted(log_events, INFO):
            log_events.info("observations.accepted", **acceptance(kept, places))
        return places

    def _require_version(self, taken: Sequence[Observation], expected: int) -> None:
        claims = [(observation, claim) for observation in taken for claim in observation.claims]
        if len(claims) != 1:
            raise InvalidInput("expected_version", "goes with exactly one structured claim")
        observation, claim = claims[0]
        network = claim.network or observation.network or "world"
        id = slot_id(observation.bank, claim.entity, claim.attribute, claim.statement, network)
        slot = self.home.graph.slots(observation.bank, [id]).get(id)
        if (slot.version if slot else 0) != expected:
            raise VersionConflict([id])


def without_forgotten(graph: GraphStore, taken: Sequence[Observation]) -> list[Observation]:
    """What may be logged: what was forgotten on request is not even written down again."""
    buried: set[str] = set()
    for bank in {observation.bank for observation in taken}:
        if graph.burials(bank):
            graves = [grave(bank, observation.id) for observation in taken if observation.bank == bank]
            buried |= graph.buried(bank, graves)
    return [each for each in taken if not buried or grave(each.bank, each.id) not in buried]


def entry_of(observation: Observation, context: Mapping[str, str] | None = None) -> Entry:
    """An observation as it stands in the log, with the trace context that it came in."""
    return Entry(observation_key(observation), pack(observation, observation.id), dict(context or {}))
