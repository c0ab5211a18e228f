"""The state of a whole bank: every live belief at a time, and its hash."""

from collections.abc import Iterator

from beliefs.access import public
from beliefs.resolve import resolve
from beliefs.revise import fingerprint, view
from schemas.belief import LIVE, Belief
from schemas.identity import digest
from schemas.instant import Instant
from schemas.slot import StoredSlot
from stores.ports import GraphStore

_PAGE = 500


def all_slots(graph: GraphStore, bank: str) -> Iterator[StoredSlot]:
    """Every slot of a bank with its evidence, in id order."""
    after = ""
    while ids := graph.scan(bank, after, _PAGE):
        stored = graph.load_slots(bank, ids)
        yield from (stored[id] for id in ids if id in stored)
        after = ids[-1]


def live_beliefs(graph: GraphStore, bank: str, moment: Instant, as_of: Instant | None) -> Iterator[Belief]:
    """Every active or contested belief that the whole bank may see, at a moment, from evidence effective by `as_of`."""
    policy = graph.policy(bank)
    for stored in all_slots(graph, bank):
        evidence = [piece for piece in public(stored.evidence) if as_of is None or piece.effective_at <= as_of]
        if evidence:
            yield from (belief for belief in resolve(evidence, policy, moment).beliefs if belief.status in LIVE)


def state_hash(graph: GraphStore, bank: str, now: Instant) -> str:
    """A hash over every slot as its evidence makes it at `now`, and over the ids of that evidence."""
    policy = graph.policy(bank)
    parts = []
    for stored in all_slots(graph, bank):
        parts += [stored.slot.id, fingerprint(view(stored.evidence, policy, now))]
        parts += [piece.id for piece in stored.evidence]
    return digest(*parts)
