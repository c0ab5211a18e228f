"""The verb that forgets in a memory that another process holds."""

from abc import abstractmethod
from collections.abc import Iterable

from beliefmesh.forgetting import ForgetReport, Progress


class RemoteForgetting:
    """Forgetting, asked of another process."""

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

    @abstractmethod
    def _in(self, bank: str | None) -> str:
        """The path of a bank."""

    @abstractmethod
    def _post(self, path: str, body: object, kind: type[ForgetReport], principal: None = None) -> ForgetReport:
        """Send a body and get a struct."""
