"""Verbs that take a bank out of a memory and bring it back."""

from collections.abc import Iterable, Iterator

from beliefmesh.backup import Restored, exported, restored
from beliefmesh.verbs.bound import Bound

_PATIENCE = 3_600.0


class Backing(Bound):
    """Backup and restore of single banks."""

    def export(self, bank: str | None = None) -> Iterator[bytes]:
        """The lines of a bank's backup (`backup.py`): its policy and its observations, as the log has them now."""
        return exported(self.home, self._bank(bank))

    def import_backup(self, lines: Iterable[bytes]) -> Restored:
        """Bring a backup's bank back, recallable on return; over what is there already nothing changes.

        Raises InvalidInput for what is no backup, or only a part of one.
        """
        self.home.require_open()
        done = restored(self.home, lines)
        self.wait(done.token, timeout=_PATIENCE)
        return done
