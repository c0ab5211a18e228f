"""Verbs for who runs a memory: figures, repair, dead letters, trust."""

from collections.abc import Iterable
from typing import Any

from beliefmesh.doctor import DoctorReport, examine
from beliefmesh.figures import figures
from beliefmesh.gold import golds_of
from beliefmesh.reread import own_sources, read_again
from beliefmesh.verbs.bound import Bound
from beliefmesh.verbs.telling import entry_of, without_forgotten
from jobs.calibrating import Calibration, calibrated
from schemas.dead_letter import DeadLetter
from schemas.errors import InvalidInput
from schemas.intake import observation_from_json
from schemas.limits import check_bank
from stores.ports import Entry
from streams.topics import OBSERVATIONS


class Operating(Bound):
    """Looking after a memory."""

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
        self.home.letters.replay(id, self._entries_of_letter, self.home.topics.name(OBSERVATIONS), self.home.clock())
        if not self.home.streaming:
            self.home.worker.drain()

    def drop_dead_letter(self, id: str) -> None:
        """Take a dead letter out for good."""
        self.home.letters.drop(id)

    def calibrate(
        self, gold: Iterable[object] = (), *, bank: str | None = None, feedback: bool = True, dry_run: bool = False
    ) -> Calibration:
        """Learn how far sources are to be trusted from known answers (`gold.py`) and feedback; decide all slots again.

        What an earlier calibration learned is replaced. Raises InvalidInput where nothing can be checked.
        """
        name = self._bank(bank)
        self._keep_up()
        found = calibrated(
            self.home.graph, name, golds_of(gold), now=self.home.clock(), feedback=feedback, apply=not dry_run
        )
        if found is None:
            raise InvalidInput(
                "gold",
                "names nothing that a source of this bank has stated, nor does feedback; give answers that are known, "
                "and check their entities (with type), attributes and times",
            )
        learned, policy = found
        if not dry_run:
            self.set_policy(policy, bank=name)
        return learned

    def _entries_of_letter(self, letter: DeadLetter) -> list[Entry]:
        bank = letter.headers.get("bank", self.bank)
        now, skew = self.home.clock(), self.home.graph.policy(bank).skew
        if letter.stage == "source":
            own = own_sources(self.home.settings.mesh.folder)
            told = read_again(letter, own, bank, now, skew)
        else:
            told = [observation_from_json(letter.original, bank=bank, now=now, skew=skew)]
        return [entry_of(observation) for observation in without_forgotten(self.home.graph, told)]
