"""Who may write a slot: a writer claims all slots of a call before it writes, and a claim that stands still is taken.

The claim is a token in the slot's row, set by compare and swap. While it stands nobody else writes the slot, so a
writer that loses has written nothing, and readers see the slot and its evidence as of one version.
"""

import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from schemas.errors import StoreUnavailable
from stores.nebula import statements as ngql
from stores.nebula.errors import NebulaRefused
from stores.nebula.fetch import by_vid
from stores.nebula.plan import Head, Wanted
from stores.nebula.rows import Row, written
from stores.nebula.script import Script, quoted, vids
from stores.nebula.session import NebulaSessions, pause

SLOTS_AT_ONCE = 200


Item = TypeVar("Item")
Work = TypeVar("Work", bound=Wanted)


class Claims:
    """The claims of one store.

    A claim that has stood for `claim_timeout` with nothing moving is taken over, and whoever had it notices when it
    commits; a claim of this store's own that no call uses any more is taken at once.
    """

    def __init__(self, sessions: NebulaSessions) -> None:
        self._sessions = sessions
        self._owner = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._live: set[str] = set()

    @contextmanager
    def token(self) -> Iterator[str]:
        """A token for one call; the same for every repeat of a statement."""
        token = f"{self._owner}-{next(self._numbers)}"
        self._live.add(token)
        try:
            yield token
        finally:
            self._live.discard(token)

    def hold(
        self, token: str, look: Callable[[], Sequence[Head]], plan: Callable[[Sequence[Head]], list[Work]]
    ) -> list[Work]:
        """Look at slots, plan what to do with them, claim them; again until nobody else has one in between.

        Waits for other writers, but never while it holds a claim. Raises what `look` raises, or StoreUnavailable.
        """
        seen: dict[str, tuple[str, float]] = {}
        options = self._sessions.options
        longest = 2 * options.claim_timeout + 3 * options.timeout
        deadline = time.monotonic() + longest
        attempt = 0
        while time.monotonic() < deadline:
            attempt += 1
            heads = look()
            if not self._busy(heads, seen):
                work = plan(heads)
                if self._take(work, token):
                    return work
            pause(min(attempt, 3))
        raise StoreUnavailable(f"other writers hold slots of this call for over {longest:g} s; try again")

    def release(self, held: Sequence[Wanted], token: str) -> None:
        """Give up what is claimed under this token; at worst a claim stands until it is taken for dead."""
        with suppress(StoreUnavailable, NebulaRefused):
            for some in batches(held):
                found = by_vid(self._sessions.read(ngql.FETCH_TOKENS, vids=vids(one.head.vid for one in some)))
                script = Script()
                for vid, row in found.items():
                    if row["claim"] == token:
                        script.add(ngql.RELEASE_SLOT, vid=quoted(vid), token=token)
                self._sessions.write(script)

    def _busy(self, heads: Iterable[Head], seen: dict[str, tuple[str, float]]) -> bool:
        """Whether a living writer has one of these slots; `seen` is when this call first saw which claim."""
        now = time.monotonic()
        busy = False
        for head in heads:
            claim, since = seen.get(head.vid, ("", now))
            if claim != head.claim:
                seen[head.vid] = (head.claim, now)
                since = now
            ours_and_over = head.claim.startswith(self._owner) and head.claim not in self._live
            if head.claim and not ours_and_over and now - since < self._sessions.options.claim_timeout:
                busy = True
        return busy

    def _take(self, wanted: Sequence[Wanted], token: str) -> bool:
        """Claim every slot, or none: what was claimed is released if another has one or has moved one on."""
        for some in batches(wanted):
            script = Script()
            for one in some:
                script.add(
                    ngql.CLAIM_SLOT,
                    vid=quoted(one.head.vid),
                    token=token,
                    loose=written(one.intent),
                    version=one.head.version,
                    held=one.head.claim,
                    last=one.head.claimed,
                )
            script.add(ngql.FETCH_TOKENS, vids=vids(one.head.vid for one in some))
            found = by_vid(self._sessions.write(script))
            if not all(_is_ours(found.get(one.head.vid), one.head, token) for one in some):
                self.release(wanted, token)
                return False
        return True


def batches(some: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """As many slots as are claimed or committed in one request."""
    for start in range(0, len(some), SLOTS_AT_ONCE):
        yield some[start : start + SLOTS_AT_ONCE]


def _is_ours(row: Row | None, head: Head, token: str) -> bool:
    return row is not None and row["claim"] == token and row["version"] == head.version
