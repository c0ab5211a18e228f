"""Verbs that take a bank out of a mesh elsewhere and bring it back."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import cast

import msgspec

from beliefmesh.backup import Restored, bank_in, is_end, joined
from beliefmesh.http.body import LINES_TYPE
from beliefmesh.packed import Packing, packed, packings, unpacking
from beliefmesh.remote_verbs.connected import Connected
from beliefmesh.verbs.backing import RESTORED_SECONDS
from schemas.errors import StoreUnavailable

_UPLOADED: Packing = "gzip"
"""What every mesh takes."""

_PACKED = {"Content-Type": LINES_TYPE, "Content-Encoding": _UPLOADED, "Transfer-Encoding": "chunked"}


class RemoteBacking(Connected):
    """Backup and restore of single banks."""

    def export(self, bank: str | None = None) -> Iterator[bytes]:
        """The lines of a bank's backup, as `Memory.export` gives them. Raises StoreUnavailable where it is cut off."""
        accepted = {"Accept-Encoding": ", ".join(packings())}
        line = b""
        with self._sender.download(f"{self._in(bank)}/export", accepted) as response:
            packing = cast(Packing, response.headers.get("Content-Encoding", ""))
            with unpacking(response, packing, "what the mesh sent", "backup") as stream:
                for line in stream:
                    yield line.rstrip(b"\n")
        if not is_end(line):
            raise StoreUnavailable(f"the backup that the mesh at {self.url} sent was cut off; ask for it again")

    def import_backup(self, lines: Iterable[bytes], *, bank: str | None = None, wait: bool = True) -> Restored:
        """Bring a backup's bank back, as `Memory.import_backup` does.

        Lines are sent as they come, so what breaks off on the way is not sent again by itself: StoreUnavailable. What
        came until then is kept, and to import the whole again changes nothing.
        """
        rest = iter(lines)
        first = next(rest, b"")
        path = f"{self._in(bank_in(first) if bank is None else bank)}/import-backup"
        body = packed(joined(chain((first,) if first else (), rest)), _UPLOADED)
        done = msgspec.json.decode(self._sender.upload(path, body, _PACKED), type=Restored)
        if wait:
            self.wait(done.token, timeout=RESTORED_SECONDS)
        return done
