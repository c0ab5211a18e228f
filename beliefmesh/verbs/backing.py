"""Verbs that take a bank out of a memory and bring it back."""

from collections.abc import Iterable, Iterator

from beliefmesh.backup import Restored, exported, restored
from beliefmesh.verbs.bound import Bound

RESTORED_SECONDS = 3_600.0
"""For so long what was brought back is waited for."""


class Backing(Bound):
    """Backup and restore of single banks."""

    def export(self, bank: str | None = None) -> Iterator[bytes]:
        """The lines of a bank's backup (`backup.py`): its policy and its observations, as the log has them now."""
        return exported(self.home, self._bank(bank))

    def import_backup(self, lines: Iterable[bytes], *, bank: str | None = None, wait: bool = True) -> Restored:
        """Bring a backup's bank back, with `wait` recallable on return; over what is there already nothing changes.

        Raises InvalidInput for what is no backup, or only a part of one, and for one of another bank than `bank`.
        """
        self.home.require_open()
        done = restored(self.home, lines, bank)
        if wait:
            self.wait(done.token, timeout=RESTORED_SECONDS)
        return done
