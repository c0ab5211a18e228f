"""Verbs about what is worth keeping: the value of a belief, the budget of a bank, and learning from use."""

from beliefmesh.ask import principal_of
from beliefmesh.keeping import budget_report, measured, usage_counted, value_files, worth_of
from beliefmesh.verbs.bound import Bound
from jobs.learn_value import learn_value
from schemas.budget import BudgetReport
from schemas.errors import UnknownBank
from schemas.query import Principal
from schemas.worth import LearnedValue, Worth


class Keeping(Bound):
    """Questions of value; none changes what is believed."""

    def value_of(self, belief: str, *, bank: str | None = None, principal: Principal | str | None = None) -> Worth:
        """Every term of what a belief is worth keeping for, and which value is in force. Raises NotFound."""
        name = self._bank(bank)
        self._keep_up()
        return worth_of(self.home, name, belief, principal_of(principal))

    def budget(self, *, bank: str | None = None, measure: bool = False) -> BudgetReport:
        """The bounds of a bank and its use as last measured; with `measure` it is measured now, slot by slot.

        Raises UnknownBank for one that cannot be measured.
        """
        name = self._bank(bank)
        if not measure:
            return budget_report(self.home, name)
        self._keep_up()
        self._require_bank(name)
        return measured(self.home, name)

    def learn_value(self, *, bank: str | None = None, dry_run: bool = False) -> LearnedValue:
        """Learn from recalls and verdicts what is of use; it replaces the heuristic where it ranks better."""
        name = self._bank(bank)
        self._keep_up()
        self._require_bank(name)
        usage_counted(self.home)
        return learn_value(
            self.home.graph, name, self.home.clock(), self.home.usage, value_files(self.home), apply=not dry_run
        )

    def _require_bank(self, name: str) -> None:
        if name not in self.banks():
            raise UnknownBank(f"there is no bank {name!r}; retain something into it first")
