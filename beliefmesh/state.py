"""The state of a whole bank: every live belief at a time, and its hash; entities that were merged count as one."""

from collections.abc import Callable, Iterable, Iterator

from beliefs.access import public
from beliefs.counting import Fallen
from beliefs.premises import fallen_among
from beliefs.resolve import resolve
from beliefs.revise import fingerprint, view
from recall.foundations import Foundations, apart
from recall.identity import Identity
from schemas.belief import LIVE, Belief
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.reserved import is_same_as
from schemas.slot import StoredSlot
from stores.pages import slot_pages
from stores.ports import GraphStore


def founded_slots(graph: GraphStore, bank: str, now: Instant) -> Iterator[tuple[StoredSlot, Fallen]]:
    """Every slot of a bank, each entity's apart, with those of its premises that are not held at `now`."""
    policy = graph.policy(bank)
    for page in slot_pages(graph, bank):
        fallen = apart(graph, bank, policy, now).fallen({id: stored.evidence for id, stored in page.items()})
        yield from ((stored, fallen_among(fallen, stored.evidence)) for stored in page.values())


def live_beliefs(graph: GraphStore, bank: str, moment: Instant, as_of: Instant | None) -> Iterator[Belief]:
    """Every active or contested belief that the whole bank may see, at a moment, from evidence effective by `as_of`."""

    def of_then(pieces: Iterable[Evidence]) -> list[Evidence]:
        return [piece for piece in pieces if as_of is None or piece.effective_at <= as_of]

    policy = graph.policy(bank)
    for stored, fallen in _joined_slots(graph, bank, policy, moment, of_then):
        evidence = public(of_then(stored.evidence))
        if evidence:
            slot = resolve(evidence, policy, moment, fallen_among(fallen, evidence))
            yield from (belief for belief in slot.beliefs if belief.status in LIVE)


def state_hash(graph: GraphStore, bank: str, now: Instant) -> str:
    """A hash over every slot as its evidence makes it at `now`, and over the ids of that evidence.

    Of merges only what holds counts, so that a merge which was taken back leaves no trace.
    """
    policy = graph.policy(bank)
    parts = []
    for stored, fallen in _joined_slots(graph, bank, policy, now, list):
        state = view(stored.evidence, policy, now, fallen_among(fallen, stored.evidence))
        if is_same_as(stored.slot.attribute):
            held = [belief.id for belief in state.beliefs if belief.status in LIVE]
            parts += [stored.slot.id, *held] if held else []
        else:
            parts += [stored.slot.id, fingerprint(state)]
            parts += [piece.id for piece in stored.evidence]
    return digest(*parts)


def _joined_slots(
    graph: GraphStore,
    bank: str,
    policy: Policy,
    moment: Instant,
    of_then: Callable[[Iterable[Evidence]], list[Evidence]],
) -> Iterator[tuple[StoredSlot, Fallen]]:
    """Every slot of a bank, those of entities that are one joined, at the place of the first of them that exists.

    With each: the premises, of its page, that are not held by the evidence of the time asked about.
    """

    def allowed(pieces: Iterable[Evidence]) -> list[Evidence]:
        return public(of_then(pieces))

    def vouched(pieces: Iterable[Evidence]) -> list[Evidence]:
        return allowed(pieces) or of_then(pieces)

    identity = Identity(graph, bank, policy, moment, allowed)
    for page in slot_pages(graph, bank):
        joined = identity.joined(page) if identity.any() else page
        foundations = Foundations(graph, bank, policy, moment, identity.slots, vouched)
        fallen = foundations.fallen({id: stored.evidence for id, stored in joined.items()})
        for id, stored in joined.items():
            if all(id <= piece.slot for piece in stored.evidence):
                yield stored, fallen
