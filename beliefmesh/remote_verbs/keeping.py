"""The verbs about what is worth keeping in a mesh elsewhere, and about forgetting there."""

from collections.abc import Iterable

from beliefmesh.forgetting import ForgetReport, Progress
from beliefmesh.remote_verbs.connected import Connected
from beliefmesh.remote_verbs.sending import Asker
from schemas.budget import BudgetReport
from schemas.worth import LearnedValue, Worth


class RemoteKeeping(Connected):
    """Value, budget, learning and erasure on request."""

    def value_of(self, belief: str, *, bank: str | None = None, principal: Asker = None) -> Worth:
        """Every term of what a belief is worth keeping for."""
        return self._get(f"{self._belief(bank, belief)}/value", Worth, principal)

    def budget(self, *, bank: str | None = None, measure: bool = False) -> BudgetReport:
        """The bounds of a bank and its use as last measured, or as measured now."""
        path = f"{self._in(bank)}/budget"
        return self._post(path, {}, BudgetReport) if measure else self._get(path, BudgetReport)

    def learn_value(self, *, bank: str | None = None, dry_run: bool = False) -> LearnedValue:
        """Learn from recalls and verdicts what is of use."""
        return self._post(f"{self._in(bank)}/learn-value", {"dry_run": dry_run}, LearnedValue)

    def forget(
        self,
        *,
        ids: Iterable[str] | None = None,
        owner: str | None = None,
        source: str | None = None,
        bank: str | None = None,
        dry_run: bool = False,
        progress: Progress = lambda *_: None,
    ) -> ForgetReport:
        """Forget observations for good, as `Memory.forget` does; `progress` hears of the beginning and the end."""
        progress("forgetting", 0, 1)
        named = ids if ids is None or isinstance(ids, str) else list(ids)
        body = {"ids": named, "owner": owner, "source": source, "dry_run": dry_run}
        report = self._post(f"{self._in(bank)}/forget", body, ForgetReport)
        progress("forgetting", 1, 1)
        return report
