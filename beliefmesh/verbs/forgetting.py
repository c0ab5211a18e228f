"""The verb that forgets on request."""

from collections.abc import Iterable
from contextlib import nullcontext
from threading import Lock

from beliefmesh.forgettable import wanted_of
from beliefmesh.forgetting import ForgetReport, Progress, complete, forget, unknown_graves
from beliefmesh.home import Home
from beliefmesh.verbs.bound import Bound
from beliefmesh.work import unarchived
from schemas.policy import Policy


class Forgetting(Bound):
    """Erasure on request, for whoever runs the memory."""

    def __init__(self, home: Home, bank: str, policy: Policy | None) -> None:
        super().__init__(home, bank, policy)
        self._forgetting = Lock()
        complete(home, unknown_graves(home))

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
        """Forget observations for good: by id, by a belief's id (what speaks for or against it), by owner, by source.

        They leave log, graph and index, and so does all that is known only from them; what is known from others too
        is decided anew without them. Nothing brings them back: not a replay, not the same observation told again.
        What is archived of the bank is brought back first, so that all that is meant is found. Raises InvalidInput
        where nothing is named, Busy while a job runs on the bank; ids that are unknown are counted.
        """
        name = self._bank(bank)
        wanted = wanted_of(None if ids is None else ids if isinstance(ids, str) else list(ids), owner, source)
        with self._forgetting, nullcontext() if dry_run else unarchived(self.home, name):
            complete(self.home)
            report = forget(self.home, name, wanted, progress, dry_run=dry_run)
            if not dry_run and report.observations:
                self._echoes.clear(name)
        return report
