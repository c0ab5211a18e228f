"""How slots are erased on NebulaGraph: first they are no slots any more, then all that came with them goes.

What is to go is noted in the slot's own row until it is gone, so that an erasure that was cut short is completed by
the next erasure or the next writer of the slot.
"""

from collections.abc import Sequence

from schemas.entity import Entity, entity_id
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.slot import Slot
from stores.nebula import statements as ngql
from stores.nebula.claim import Claims, batches
from stores.nebula.edges import delete_edges, evidence_edges, name_edge, slot_edges
from stores.nebula.errors import NebulaRefused
from stores.nebula.fetch import by_vid, read_heads
from stores.nebula.pieces import pieces_in
from stores.nebula.plan import NOTHING, Head, Loose, Wanted, delete_loose
from stores.nebula.rows import written
from stores.nebula.schema import NEVER, SLOT
from stores.nebula.script import Script, name, number, quoted, vids
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import vid


class Erasure(Wanted, frozen=True, kw_only=True):
    """A slot to erase, or one of which an erasure was cut short, and all that goes with it.

    What goes is noted only when the slot is none any more: a writer removes whatever it finds noted.
    """

    goes: Loose
    was_there: bool


class Eraser:
    """Erases slots, from any number of threads."""

    def __init__(self, sessions: NebulaSessions, claims: Claims) -> None:
        self._sessions = sessions
        self._claims = claims

    def erase(self, bank: str, slots: Sequence[str]) -> int:
        """Remove slots for good, with all that came with them; returns how many there were.

        Raises StoreUnavailable with some erased; to repeat the call erases the others.
        """
        asked = [(bank, id) for id in dict.fromkeys(slots)]
        with self._claims.token() as token:
            erasures = self._claims.hold(
                token,
                lambda: [head for head in read_heads(self._sessions, asked) if head.version or head.loose != NOTHING],
                lambda heads: [self.erasure(head) for head in heads],
            )
            try:
                self.finish(bank, erasures, token)
            except BaseException:
                self._claims.release(erasures, token)
                raise
        return sum(one.was_there for one in erasures)

    def finish(self, bank: str, erasures: Sequence[Erasure], token: str) -> None:
        """Erase slots of a bank that are claimed under this token."""
        self._take_down(erasures, token)
        self._delete(bank, erasures)

    def erasure(self, head: Head) -> Erasure:
        """What goes with a slot."""
        slot = head.slot()
        if slot is None:
            return Erasure(head=head, intent=head.loose, goes=head.loose, was_there=False)
        rows = self._sessions.read(ngql.HELD_EVIDENCE, vids=quoted(head.vid))
        pieces = pieces_in(self._sessions, slot.bank, [row["body"] for row in rows])
        own = [piece for piece in pieces if piece is not None and piece.slot == slot.id]
        goes = _all_of(slot, own).with_all(head.loose)
        return Erasure(head=head, intent=head.loose, goes=goes, was_there=True)

    def _take_down(self, erasures: Sequence[Erasure], token: str) -> None:
        """Let the slots be none to any reader, with the claim still on."""
        for some in batches(erasures):
            script = Script()
            for one in some:
                script.add(
                    ngql.COMMIT_SLOT,
                    vid=quoted(one.head.vid),
                    bank="",
                    id="",
                    version=0,
                    review_at=NEVER,
                    body="",
                    token=token,
                    loose=written(one.goes),
                    claim=token,
                )
            script.add(ngql.FETCH_TOKENS, vids=vids(one.head.vid for one in some))
            try:
                found = by_vid(self._sessions.write(script))
            except NebulaRefused as error:
                raise StoreUnavailable("another process erases the same slots; try again") from error
            if any(found[one.head.vid]["claim"] != token for one in some):
                raise StoreUnavailable("another process took the slots that are being erased; try again")

    def _delete(self, bank: str, erasures: Sequence[Erasure]) -> None:
        script = Script()
        for one in erasures:
            delete_loose(script, bank, one.goes)
        self._sessions.write(script)
        self.delete_entities(bank, {id: entity for one in erasures for id, entity in one.goes.entities.items()})
        script = Script()
        for some in batches(erasures):
            script.add(ngql.DELETE_ROWS, tag=name(SLOT.name), vids=vids(one.head.vid for one in some))
        self._sessions.write(script)

    def delete_entities(self, bank: str, entities: dict[str, Entity]) -> None:
        """Delete those that no slot is about and no edge touches."""
        script = Script()
        for id, entity in entities.items():
            end = quoted(vid(bank, id))
            about = self._sessions.read(ngql.SLOTS_ABOUT, vids=end, limit=number(1))
            if not about and not self._sessions.read(ngql.LINKS_OF, vids=end, limit=number(1)):
                script.add(ngql.DELETE_ROWS, tag=name("entity"), vids=end)
                delete_edges(script, name_edge(bank, id, entity))
        self._sessions.write(script)


def _all_of(slot: Slot, evidence: Sequence[Evidence]) -> Loose:
    named = {slot.entity, *(entity for piece in evidence for entity in piece.mentions)}
    edges = [*slot_edges(slot), *(key for piece in evidence for key in evidence_edges(piece, 0))]
    return Loose(
        edges=tuple(sorted(edges)),
        evidence=tuple(sorted(piece.id for piece in evidence)),
        beliefs=tuple(sorted(belief.id for belief in slot.beliefs)),
        aliases=tuple(sorted({*slot.aliases, *(belief.id for belief in slot.beliefs)})),
        entities={entity_id(slot.bank, entity): entity for entity in named},
        digests=tuple(sorted({piece.digest for piece in evidence if piece.digest})),
    )
