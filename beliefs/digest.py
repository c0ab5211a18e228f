"""Which pieces of a belief's evidence may become voices of a digest, and how much they weigh together.

A voice loses its words and nothing else, so the slot is the same to the last bit, then and at any later time, but for
how a belief reads whose every whole piece has fallen silent. One piece of them keeps its words and stands for the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter

import msgspec

from beliefs.access import public
from beliefs.compaction import may_stand
from beliefs.confidence import decay
from beliefs.counting import hear
from beliefs.resolve import judged, spokesman
from beliefs.rulebook import rulebook
from beliefs.wording import says_the_same, wording
from schemas.digest import digest_id, shared, wordless
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.wire import dump

LEAST = 3
"""Fewer voices make no digest."""

Closeness = Callable[[str, str], float]
"""The cosine of the vectors of two texts."""

_IN_ORDER = attrgetter("effective_at", "id")
_NETWORKS = ("world", "experience")


class Gathering(msgspec.Struct, frozen=True):
    """Pieces of one belief that say the same to the same readers, alike but for their words.

    `standing` is the newest that has words; they stay. `pieces` may lose theirs. `voices` counts those of the digest
    that there is already.
    """

    id: str
    standing: Evidence
    pieces: tuple[Evidence, ...]
    voices: int


def gatherings(evidence: Sequence[Evidence], policy: Policy, now: Instant, after: Instant) -> list[Gathering]:
    """The digests that a slot may have, by id; a piece must be older than `after` (microseconds) to lose its words.

    `evidence` is all of one slot. The pieces whose words its beliefs bear now keep them.
    """
    if len(evidence) <= LEAST:
        return []
    groups: dict[bytes, list[Evidence]] = {}
    for piece in evidence:
        if _may_be_voice(piece, now):
            groups.setdefault(dump(shared(piece)), []).append(piece)
    found = [_gathering(pieces, now - after) for pieces in groups.values() if len(pieces) > LEAST]
    open_ones = [each for each in found if each is not None]
    if not open_ones:
        return []
    bear = _bearers(evidence, policy, now)
    kept = (
        msgspec.structs.replace(each, pieces=tuple(piece for piece in each.pieces if piece.id not in bear))
        for each in open_ones
    )
    return sorted(filter(_is_enough, kept), key=attrgetter("id"))


def digests_of(
    evidence: Sequence[Evidence],
    policy: Policy,
    now: Instant,
    after: Instant,
    closeness: Closeness | None = None,
) -> list[Gathering]:
    """The digests that a slot gets: of each gathering those pieces that say what the standing one says."""
    return alike(gatherings(evidence, policy, now, after), closeness)


def alike(some: Iterable[Gathering], closeness: Closeness | None = None) -> list[Gathering]:
    """The gatherings with those pieces alone that say what the standing one says, as far as enough do.

    Without vectors (`closeness`) words alone decide.
    """
    found = (msgspec.structs.replace(each, pieces=tuple(_alike(each, closeness))) for each in some)
    return [each for each in found if _is_enough(each)]


def in_digests(evidence: Sequence[Evidence], digests: Sequence[Gathering]) -> list[Evidence]:
    """A slot's evidence once these have their voices, in the order given."""
    going = {piece.id for each in digests for piece in each.pieces}
    return [wordless(piece) if piece.id in going else piece for piece in evidence]


def _alike(gathering: Gathering, closeness: Closeness | None) -> Iterator[Evidence]:
    standing = gathering.standing
    stands = wording(standing.statement, standing.observed_at)
    for piece in gathering.pieces:
        close = closeness and partial(closeness, piece.statement, standing.statement)
        if not piece.statement or says_the_same(wording(piece.statement, piece.observed_at), stands, close):
            yield piece


def mass(evidence: Sequence[Evidence], ids: set[str], policy: Policy, now: Instant) -> float:
    """The log-odds that those of a slot's pieces add to their beliefs now; what does not count adds nothing."""
    voices = hear(evidence, rulebook(policy), now).voices
    return sum(
        voice.weight * decay(now - voice.at, voice.half_life)
        for voice in voices
        if voice.counts and voice.evidence.id in ids
    )


def _may_be_voice(piece: Evidence, now: Instant) -> bool:
    """Whether its words are but a way to say its value; those of free statements and in sessions are more."""
    return (
        may_stand(piece, now)
        and piece.attribute is not None
        and piece.network in _NETWORKS
        and not piece.session
        and not piece.pinned
    )


def _gathering(pieces: Sequence[Evidence], until: Instant) -> Gathering | None:
    """The standing piece of a group, and those that may lose their words; None where all are voices already."""
    whole = sorted((piece for piece in pieces if not piece.digest), key=_IN_ORDER)
    if not whole:
        return None
    older = tuple(piece for piece in whole[:-1] if piece.effective_at <= until)
    return Gathering(digest_id(shared(whole[-1])), whole[-1], older, len(pieces) - len(whole))


def _is_enough(gathering: Gathering) -> bool:
    return bool(gathering.pieces) and len(gathering.pieces) + gathering.voices >= LEAST


def _bearers(evidence: Sequence[Evidence], policy: Policy, now: Instant) -> set[str]:
    """The pieces whose words stand in a belief, as the whole bank and as everything makes it."""
    seen = public(evidence)
    views = [evidence] if len(seen) == len(evidence) else [evidence, seen]
    return {id for view in views if view for id in _speaking(view, policy, now)}


def _speaking(evidence: Sequence[Evidence], policy: Policy, now: Instant) -> Iterator[str]:
    for candidate in judged(evidence, policy, now)[1].values():
        yield spokesman(candidate).evidence.id
