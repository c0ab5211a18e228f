"""Verbs for who runs a mesh elsewhere: figures, repair, dead letters, trust."""

from collections.abc import Iterable
from typing import Any

from beliefmesh.doctor import DoctorReport
from beliefmesh.gold import golds_of, plain_gold
from beliefmesh.letters import Letters
from beliefmesh.remote_verbs.connected import Connected
from beliefmesh.remote_verbs.sending import segment
from beliefmesh.verbs.listing import MOST_LISTED
from jobs.calibrating import Calibration
from schemas.dead_letter import DeadLetter


class RemoteOperating(Connected):
    """Looking after a mesh."""

    def stats(self, bank: str | None = None) -> dict[str, Any]:
        """Counts of a bank, or of all."""
        found: dict[str, Any] = self._json("GET", "/v1/stats" if bank is None else f"{self._in(bank)}/stats")
        return found

    def doctor(self, fix: bool = False) -> DoctorReport:
        """Compare log, graph and index, and with `fix` repair what differs."""
        return self._post("/v1/doctor", {}, DoctorReport, asked={"fix": "true" if fix else None})

    def calibrate(
        self, gold: Iterable[object] = (), *, bank: str | None = None, feedback: bool = True, dry_run: bool = False
    ) -> Calibration:
        """Learn how far sources are to be trusted, as `Memory.calibrate` does."""
        body = {"gold": [plain_gold(one) for one in golds_of(gold)], "feedback": feedback, "dry_run": dry_run}
        return self._post(f"{self._in(bank)}/calibrate", body, Calibration)

    def dead_letters(self) -> list[DeadLetter]:
        """What was set aside, oldest first."""
        page = self.letters(limit=MOST_LISTED)
        letters = list(page.letters)
        while page.next:
            page = self.letters(limit=MOST_LISTED, after=page.next)
            letters += page.letters
        return letters

    def letters(self, *, limit: int = 100, after: str = "") -> Letters:
        """A page of dead letters, as `Memory.letters` gives it."""
        return self._get("/v1/dead-letters", Letters, asked={"limit": limit, "cursor": after or None})

    def dead_letter(self, id: str) -> DeadLetter:
        """One dead letter."""
        return self._get(_letter(id), DeadLetter)

    def replay_dead_letter(self, id: str) -> None:
        """Send a dead letter's message through again."""
        self._json("POST", f"{_letter(id)}/replay")

    def drop_dead_letter(self, id: str) -> None:
        """Take a dead letter out for good."""
        self._json("POST", f"{_letter(id)}/drop")


def _letter(id: str) -> str:
    return f"/v1/dead-letters/{segment(id, 'id')}"
