"""The verbs about what is worth keeping, of a memory that another process holds."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from schemas.budget import BudgetReport
from schemas.query import Principal
from schemas.worth import LearnedValue, Worth

Result = TypeVar("Result", bound=msgspec.Struct)


class RemoteKeeping:
    """Value, budget and learning, as `Memory` has them."""

    def value_of(self, belief: str, *, bank: str | None = None, principal: Principal | str | None = None) -> Worth:
        """Every term of what a belief is worth keeping for."""
        return self._get(f"{self._belief(bank, belief)}/value", Worth, principal)

    def budget(self, *, bank: str | None = None, measure: bool = False) -> BudgetReport:
        """The bounds of a bank and its use as last measured, or as measured now."""
        path = f"{self._in(bank)}/budget"
        return self._post(path, {}, BudgetReport) if measure else self._get(path, BudgetReport)

    def learn_value(self, *, bank: str | None = None, dry_run: bool = False) -> LearnedValue:
        """Learn from recalls and verdicts what is of use."""
        return self._post(f"{self._in(bank)}/learn-value", {"dry_run": dry_run}, LearnedValue)

    @abstractmethod
    def _in(self, bank: str | None) -> str:
        """The path of a bank."""

    @abstractmethod
    def _belief(self, bank: str | None, id: str) -> str:
        """The path of a belief."""

    @abstractmethod
    def _get(
        self,
        path: str,
        kind: type[Result],
        principal: Principal | str | None = None,
        asked: Mapping[str, object] | None = None,
    ) -> Result:
        """Ask for a struct."""

    @abstractmethod
    def _post(
        self,
        path: str,
        body: object,
        kind: type[Result],
        principal: None = None,
        asked: Mapping[str, object] | None = None,
    ) -> Result:
        """Send a body and get a struct."""
