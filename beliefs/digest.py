"""Which pieces of a belief's evidence may become voices of a digest, and how much they weigh together.

A voice loses its words and nothing else, so the slot is the same to the last bit, then and at any later time, but for
how a belief reads whose every whole piece has fallen silent. Of pieces that say the same, the newest keeps its words.
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
from beliefs.wording import Wording, says_the_same, wording
from schemas.digest import digest_id, shared, wordless
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.wire import dump

LEAST = 3
"""Fewer voices make no digest."""

_LEADERS = 8
"""As many pieces of a gathering may keep their words for others; what says otherwise than all of them stays too."""

Closeness = Callable[[str, str], float]
"""The cosine of the vectors of two texts."""

_IN_ORDER = attrgetter("effective_at", "id")
_NETWORKS = ("world", "experience")


class Gathering(msgspec.Struct, frozen=True):
    """Pieces of one belief that say the same to the same readers, alike but for their words.

    `whole` have words, the newest first; of these `may` lose them, by id. `voices` counts those of the digest that
    there is already.
    """

    id: str
    whole: tuple[Evidence, ...]
    may: frozenset[str]
    voices: int


class Joining(msgspec.Struct, frozen=True):
    """Pieces that become voices of a digest, each with the piece that keeps its words and says what it said."""

    id: str
    pieces: tuple[tuple[Evidence, Evidence], ...]
    voices: int


def gatherings(evidence: Sequence[Evidence], policy: Policy, now: Instant, after: Instant) -> list[Gathering]:
    """The digests that a slot may have, by id; a piece must be older than `after` (microseconds) to lose its words.

    `evidence` is all of one slot. The newest keep their words, and those whose words its beliefs bear now.
    """
    if len(evidence) <= LEAST:
        return []
    groups: dict[bytes, list[Evidence]] = {}
    for piece in evidence:
        if _may_be_voice(piece, now):
            groups.setdefault(dump(shared(piece)), []).append(piece)
    found = [_gathering(pieces, now - after) for pieces in groups.values() if len(pieces) > LEAST]
    open_ones = [each for each in found if _may_be_enough(each)]
    if not open_ones:
        return []
    bear = _bearers(evidence, policy, now)
    kept = (msgspec.structs.replace(each, may=each.may - bear) for each in open_ones)
    return sorted(filter(_may_be_enough, kept), key=attrgetter("id"))


def digests_of(
    evidence: Sequence[Evidence],
    policy: Policy,
    now: Instant,
    after: Instant,
    closeness: Closeness | None = None,
) -> list[Joining]:
    """The digests that a slot gets: of each gathering those pieces that say what a newer one says."""
    return alike(gatherings(evidence, policy, now, after), closeness)


def alike(some: Iterable[Gathering], closeness: Closeness | None = None) -> list[Joining]:
    """The pieces of each gathering that say what a newer one says that keeps its words, as far as enough do.

    From the newest on, each joins the first that says the same, else it keeps its words itself. Without vectors
    (`closeness`) words alone decide.
    """
    found = (Joining(each.id, tuple(_joining(each, closeness)), each.voices) for each in some)
    return [each for each in found if each.pieces and len(each.pieces) + each.voices >= LEAST]


def in_digests(evidence: Sequence[Evidence], digests: Iterable[Joining]) -> list[Evidence]:
    """A slot's evidence once these have their voices, in the order given."""
    going = {piece.id for each in digests for piece, _ in each.pieces}
    return [wordless(piece) if piece.id in going else piece for piece in evidence]


def _joining(gathering: Gathering, closeness: Closeness | None) -> Iterator[tuple[Evidence, Evidence]]:
    leaders: list[tuple[Evidence, Wording]] = []
    for piece in gathering.whole:
        told = wording(piece.statement, piece.observed_at)
        leads = piece.id not in gathering.may
        for leader, said in () if leads else leaders:
            close = closeness and partial(closeness, piece.statement, leader.statement)
            if not piece.statement or (leader.statement and says_the_same(told, said, close)):
                yield piece, leader
                break
        else:
            if len(leaders) < _LEADERS:
                leaders.append((piece, told))


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


def _gathering(pieces: Sequence[Evidence], until: Instant) -> Gathering:
    whole = tuple(sorted((piece for piece in pieces if not piece.digest), key=_IN_ORDER, reverse=True))
    older = frozenset(piece.id for piece in whole[1:] if piece.effective_at <= until)
    return Gathering(digest_id(shared(pieces[0])), whole, older, len(pieces) - len(whole))


def _may_be_enough(gathering: Gathering) -> bool:
    return bool(gathering.may) and len(gathering.may) + gathering.voices >= LEAST


def _bearers(evidence: Sequence[Evidence], policy: Policy, now: Instant) -> set[str]:
    """The pieces whose words stand in a belief, as the whole bank and as everything makes it."""
    seen = public(evidence)
    views = [evidence] if len(seen) == len(evidence) else [evidence, seen]
    return {id for view in views if view for id in _speaking(view, policy, now)}


def _speaking(evidence: Sequence[Evidence], policy: Policy, now: Instant) -> Iterator[str]:
    for candidate in judged(evidence, policy, now)[1].values():
        yield spokesman(candidate).evidence.id
