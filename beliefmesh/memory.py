"""The client library: a memory in a folder, five lines from install to answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, get_args

import msgspec
import structlog

from actors.recaller import Extension
from beliefmesh.again import decide_again
from beliefmesh.ask import principal_of, query_of, slot_name
from beliefmesh.audience import audience_of
from beliefmesh.calibrate import Calibration, calibrated
from beliefmesh.doctor import DoctorReport, examine
from beliefmesh.echo import Echoes
from beliefmesh.figures import figures
from beliefmesh.goback import asks_back, gone_back
from beliefmesh.gold import golds_of
from beliefmesh.home import Home, system_clock
from beliefmesh.letters import unreadable
from beliefmesh.policy_file import read_policy
from beliefmesh.receipt import Imported, Receipt, Told, chunks_of, several
from beliefmesh.remote import RemoteMemory
from beliefmesh.settings import Settings, load_settings
from beliefmesh.state import live_beliefs, state_hash
from recall.judge import Filter
from recall.question import Retriever
from schemas.answer import Answer, Explanation, History
from schemas.belief import Belief
from schemas.dead_letter import DeadLetter
from schemas.entity import Entity
from schemas.errors import Busy, InvalidInput, StoreUnavailable, VersionConflict
from schemas.instant import Instant, parse_instant
from schemas.intake import ANONYMOUS, observation_from, observation_from_json
from schemas.limits import MAX_NAME_BYTES, check_bank, check_name, check_text
from schemas.observation import Observation, observation_key
from schemas.policy import Policy, check_policy
from schemas.query import Principal
from schemas.recall_record import Feedback, Usefulness
from schemas.slot import slot_id
from schemas.wire import pack
from stores.ports import Entry
from streams.bundles import bundled
from streams.freshness import offsets_of, token_of, wait_for
from streams.topics import OBSERVATIONS

_LINES_AT_ONCE = 1_000
_PATIENCE = 30.0
_VERDICTS = get_args(Usefulness)

log_events = structlog.get_logger("beliefmesh")


class Memory:
    """A belief memory in a folder, in this process; for several threads.

    `folder` defaults to the settings' (`.beliefmesh`). Everything accepted is in the log before `retain` returns.
    `retrievers` of your own run beside ours (`recall/question.py` has their signature); `filters` refuse finds.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        bank: str | None = None,
        settings: Settings | None = None,
        clock: Callable[[], Instant] = system_clock,
        retrievers: Mapping[str, Retriever] | None = None,
        filters: Sequence[Filter] = (),
    ) -> None:
        chosen = settings or load_settings().settings
        if settings is None and not chosen.mesh.address:
            inline = msgspec.structs.replace(chosen.mesh, runtime="inline")
            chosen = msgspec.structs.replace(chosen, mesh=inline)
        if folder is not None:
            chosen = msgspec.structs.replace(chosen, mesh=msgspec.structs.replace(chosen.mesh, folder=str(folder)))
        self.bank = check_bank(chosen.mesh.bank if bank is None else bank)
        self._policy = read_policy(Path(chosen.policy.file)) if chosen.policy.file else None
        self.home = Home(chosen, clock, Extension(retrievers or {}, tuple(filters)))
        self._echoes = Echoes()
        for name in {self.bank, *self.home.graph.banks()} if self._policy else ():
            self._adopt_policy(name)

    @staticmethod
    def connect(url: str, *, bank: str = "default") -> RemoteMemory:
        """A client of a mesh that runs elsewhere and serves HTTP at `url`."""
        return RemoteMemory(url, bank=bank)

    def retain(
        self,
        observations: Told | Sequence[Told],
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
        """Keep observations written as JSON, one a line; a line that cannot be used becomes a dead letter."""
        name = self._bank(bank)
        self._adopt_policy(name)
        accepted = dead = 0
        places: list[tuple[int, int]] = []
        for chunk in chunks_of(lines, _LINES_AT_ONCE):
            good, letters = self._parse(chunk, name)
            places += self._log_observations(good)
            if letters:
                self.home.letters.add(letters, self.home.clock())
            accepted += len(good)
            dead += len(letters)
            if not self.home.streaming:
                self.home.worker.drain()
            if progress:
                progress(len(chunk))
        return Imported(accepted, dead, token_of(places))

    def recall(self, text: str, *, bank: str | None = None, wait_for: str = "", **fields: object) -> Answer:
        """Ask. `fields` are those of a Query (schemas/query.py); times may be ISO text, `principal` a name.

        `wait_for` takes the token of a receipt and answers once that is recallable; Busy if it takes too long.
        """
        self.wait(wait_for)
        self._keep_up()
        query = query_of(text, self._bank(bank), self.home.clock(), self.home.settings.recall, fields)
        answer = self.home.mesh.recall(query)
        self.home.recalls.note(query, answer)
        self._echoes.returned(query, answer)
        return answer

    def wait(self, token: str, timeout: float = _PATIENCE) -> None:
        """Return once what the token names is recallable. Raises Busy after `timeout` seconds."""
        if not offsets_of(token):
            return
        if not self.home.streaming:
            self.home.worker.drain()
        if not wait_for(self.home.log, self.home.topics, token, timeout):
            raise Busy(f"not recallable after {timeout:g} s; the stream is behind, try again later")

    def explain(
        self, belief: str, *, bank: str | None = None, principal: Principal | str | None = None, as_of: object = None
    ) -> Explanation:
        """Every term of a belief's confidence, now or as of a time. Raises NotFound."""
        past = None if as_of is None else parse_instant(as_of, "as_of")
        moment = self.home.clock() if past is None else past
        return self.home.mesh.explain(self._bank(bank), belief, principal_of(principal), moment, past)

    def history(
        self,
        of: str | None = None,
        *,
        entity: str | Mapping[str, object] | Entity | None = None,
        attribute: str | None = None,
        bank: str | None = None,
        principal: Principal | str | None = None,
    ) -> History:
        """Every turn of a slot: by the id of the slot or of one of its beliefs, or by entity and attribute."""
        asked = check_name(of, "slot") if of else slot_name(entity, attribute)
        return self.home.mesh.history(self._bank(bank), asked, principal_of(principal), self.home.clock())

    def belief(self, id: str, *, bank: str | None = None, principal: Principal | str | None = None) -> Belief:
        """One belief as it is now. Raises NotFound."""
        return self.home.mesh.belief(self._bank(bank), id, principal_of(principal), self.home.clock())

    def revoke(
        self,
        belief: str,
        *,
        reason: str,
        agent: str = "",
        principal: Principal | str | None = None,
        bank: str | None = None,
        expected_version: int | None = None,
        wait: bool = True,
    ) -> Receipt:
        """End a belief from now on by an instruction that retracts its value in its scope; history keeps it.

        `principal` is whose sight counts, the agent's unless given. Raises NotFound for what they cannot see.
        """
        check_text(reason, "reason", empty=False)
        sight = principal_of(agent if principal is None else principal)
        held = self.belief(belief, bank=bank, principal=sight)
        if expected_version is not None and held.version != expected_version:
            raise VersionConflict([held.slot])
        return self._speak(held, "retracts", "instruction", reason, agent, sight, wait)

    def feedback(
        self,
        belief: str,
        verdict: Usefulness,
        *,
        agent: str = "",
        principal: Principal | str | None = None,
        bank: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Say how a recalled belief did: `right` supports it, `wrong` refutes it, `used` is only noted.

        `principal` is whose sight counts, the agent's unless given. Raises NotFound for what they cannot see.
        """
        if verdict not in _VERDICTS:
            raise InvalidInput("verdict", f"is {verdict!r}; use one of {', '.join(_VERDICTS)}")
        sight = principal_of(agent if principal is None else principal)
        held = self.belief(belief, bank=bank, principal=sight)
        agent = check_text(agent, "agent", limit=MAX_NAME_BYTES)
        self.home.recalls.note_feedback(Feedback(held.bank, held.id, held.version, verdict, agent, self.home.clock()))
        if verdict == "used":
            return Receipt((), "")
        stance = "supports" if verdict == "right" else "refutes"
        return self._speak(held, stance, "observation", f"feedback: {verdict}", agent, sight, wait)

    def stats(self, bank: str | None = None) -> dict[str, Any]:
        """Counts of a bank (or of all), what waits at each stage, up to when all is recallable, what was done here."""
        return figures(self.home, None if bank is None else check_bank(bank))

    def doctor(self, fix: bool = False) -> DoctorReport:
        """Compare log, graph and index, and with `fix` repair what differs."""
        return examine(self.home, fix=fix)

    def dead_letters(self) -> list[DeadLetter]:
        """What was set aside, oldest first."""
        return self.home.letters.all()

    def dead_letter(self, id: str) -> DeadLetter:
        """One dead letter. Raises NotFound."""
        return self.home.letters.get(id)

    def replay_dead_letter(self, id: str) -> None:
        """Send a dead letter's message through again. Raises InvalidInput if it still cannot be read."""
        self.home.letters.replay(id, self._entry_of_letter, self.home.topics.name(OBSERVATIONS), self.home.clock())
        if not self.home.streaming:
            self.home.worker.drain()

    def drop_dead_letter(self, id: str) -> None:
        """Take a dead letter out for good."""
        self.home.letters.drop(id)

    def holders(self, bank: str | None = None, as_of: Instant | None = None) -> Iterator[Belief]:
        """Every belief of a bank that is active or contested, now or as of a time, slot by slot."""
        moment = self.home.clock() if as_of is None else as_of
        return live_beliefs(self.home.graph, self._bank(bank), moment, as_of)

    def state_hash(self, bank: str | None = None, now: Instant | None = None) -> str:
        """A hash of everything that a bank believes at a time; equal for equal evidence, whatever the way there."""
        return state_hash(self.home.graph, self._bank(bank), self.home.clock() if now is None else now)

    def set_policy(self, policy: Policy, *, bank: str | None = None) -> None:
        """Give a bank a policy and decide all its slots again by it. Raises InvalidInput for senseless numbers."""
        name = self._bank(bank)
        self.home.graph.set_policy(name, check_policy(policy))
        decide_again(self.home, name)

    def calibrate(
        self, gold: Iterable[object] = (), *, bank: str | None = None, feedback: bool = True, dry_run: bool = False
    ) -> Calibration:
        """Learn how far sources are to be trusted from known answers (`gold.py`) and feedback; decide all slots again.

        What an earlier calibration learned is replaced. Raises InvalidInput where nothing can be checked.
        """
        name = self._bank(bank)
        self._keep_up()
        learned, policy = calibrated(
            self.home.graph, name, golds_of(gold), now=self.home.clock(), feedback=feedback, apply=not dry_run
        )
        if not dry_run:
            self.set_policy(policy, bank=name)
        return learned

    def banks(self) -> list[str]:
        """The banks that hold anything."""
        return self.home.graph.banks()

    def close(self) -> None:
        """Finish what is in hand and give the folder up."""
        self.home.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _keep_up(self) -> None:
        """Without a background worker, let what waits in the log, and what is due, have its effect before a question.

        Only what the stores hold answers; so where this fails, the question is asked all the same.
        """
        if not self.home.streaming:
            try:
                self.home.worker.drain(wait=False)
            except (StoreUnavailable, VersionConflict) as error:
                log_events.warning("memory.behind", reason=str(error))

    def _bank(self, bank: str | None) -> str:
        """The bank that a call is about; raises StoreUnavailable once this memory is closed."""
        self.home.require_open()
        return self.bank if bank is None else check_bank(bank)

    def _adopt_policy(self, bank: str) -> None:
        """Give a bank the policy of the settings' file, if there is one and the bank has another.

        What the bank has learned of its sources stays with it.
        """
        if self._policy is not None:
            held = self.home.graph.policy(bank)
            wanted = msgspec.structs.replace(self._policy, trust=held.trust)
            if held != wanted:
                self.set_policy(wanted, bank=bank)

    def _read(self, told: object, bank: str, skew: Instant, fields: Mapping[str, object]) -> Observation:
        data = {"text": told} if isinstance(told, str) else told
        if not isinstance(data, Mapping):
            raise InvalidInput("observation", f"must be a text or an object, not {type(data).__name__}")
        observation = observation_from({**fields, **data}, bank=bank, now=self.home.clock(), skew=skew)
        return self._echoes.marked(observation)

    def _parse(self, lines: Sequence[bytes], bank: str) -> tuple[list[Observation], list[DeadLetter]]:
        good: list[Observation] = []
        letters = []
        now = self.home.clock()
        skew = self.home.graph.policy(bank).skew
        for line in lines:
            if not line.strip():
                continue
            try:
                good.append(self._echoes.marked(observation_from_json(line, bank=bank, now=now, skew=skew)))
            except InvalidInput as error:
                letters.append(unreadable(line, bank, error, now))
        return good, letters

    def _append(self, taken: Sequence[Observation], wait: bool) -> Receipt:
        token = token_of(self._log_observations(taken))
        if wait:
            self.wait(token)
        return Receipt(tuple(observation.id for observation in taken), token)

    def _log_observations(self, taken: Sequence[Observation]) -> list[tuple[int, int]]:
        entries = bundled(_entry(observation) for observation in taken)
        return self.home.log.append(self.home.topics.name(OBSERVATIONS), entries, self.home.clock())

    def _require_version(self, taken: Sequence[Observation], expected: int) -> None:
        claims = [(observation, claim) for observation in taken for claim in observation.claims]
        if len(claims) != 1:
            raise InvalidInput("expected_version", "goes with exactly one structured claim")
        observation, claim = claims[0]
        id = slot_id(observation.bank, claim.entity, claim.attribute, claim.statement)
        slot = self.home.graph.slots(observation.bank, [id]).get(id)
        if (slot.version if slot else 0) != expected:
            raise VersionConflict([id])

    def _speak(
        self, held: Belief, stance: str, kind: str, reason: str, agent: str, sight: Principal, wait: bool
    ) -> Receipt:
        """Say something about a belief, as a claim on its own slot, scope and value, to those who may see it."""
        claim: dict[str, object] = {
            "entity": {"name": held.entity.name, "type": held.entity.type},
            "stance": stance,
            "kind": kind,
            "statement": held.statement if held.attribute is None else reason,
            "scope": dict(held.scope),
        }
        if held.attribute is not None:
            claim |= {"attribute": held.attribute, "value": held.value, "value_type": held.value_type}
        voice = agent or ANONYMOUS
        source = {"id": voice, "origin": voice, "type": "feedback"}
        told: dict[str, object] = {"text": reason, "claims": [claim], "agent": agent, "source": source}
        audience = audience_of(self.home.mesh, held, sight, self.home.clock())
        return self.retain(told | audience, bank=held.bank, wait=wait)

    def _entry_of_letter(self, letter: DeadLetter) -> Entry:
        bank = letter.headers.get("bank", self.bank)
        skew = self.home.graph.policy(bank).skew
        return _entry(observation_from_json(letter.original, bank=bank, now=self.home.clock(), skew=skew))


def _entry(observation: Observation) -> Entry:
    return Entry(observation_key(observation), pack(observation, observation.id))
