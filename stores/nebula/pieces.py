"""How evidence is read from its rows on NebulaGraph, voices together with their digests.

A voice is written after its digest and a digest deleted after its voices, so that what is there can be read. Who reads
a voice just before it gets its words back, and then finds no digest, looks at the evidence again.
"""

from collections.abc import Iterable, Sequence

from schemas.digest import Shared, joined
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from stores.nebula import statements as ngql
from stores.nebula.fetch import fetch
from stores.nebula.rows import Plain, read
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import vid
from stores.nebula.voices import VoiceBody, voice_in

_LOOKS = 5


def pieces_in(sessions: NebulaSessions, bank: str, bodies: Sequence[Plain]) -> list[Evidence | None]:
    """The evidence of some rows' texts, each in its place; None for what is gone meanwhile."""
    found: list[Evidence | None] = [None] * len(bodies)
    voices: dict[int, VoiceBody] = {}
    for place, body in enumerate(bodies):
        voice = voice_in(body)
        if voice is not None:
            voices[place] = voice
        elif body is not None:
            found[place] = read(body, Evidence)
    for _ in range(_LOOKS):
        if not voices:
            return found
        digests = _digests(sessions, bank, {voice.digest for voice in voices.values()})
        lost = {}
        for place, voice in voices.items():
            if voice.digest in digests:
                found[place] = joined(voice.digest, digests[voice.digest], voice.own)
            else:
                lost[place] = voice
        voices = _again(sessions, bank, lost, found)
    lacking = sorted({voice.digest for voice in voices.values()})
    raise StoreUnavailable(f"the graph has voices of digests that it lacks ({', '.join(lacking[:3])}); try again")


def _digests(sessions: NebulaSessions, bank: str, ids: Iterable[str]) -> dict[str, Shared]:
    ends = {vid(bank, id): id for id in ids}
    rows = fetch(sessions, ngql.FETCH_DIGESTS, list(ends))
    return {ends[end]: read(row["body"], Shared) for end, row in rows.items()}


def _again(
    sessions: NebulaSessions, bank: str, lost: dict[int, VoiceBody], found: list[Evidence | None]
) -> dict[int, VoiceBody]:
    """Look at the rows of voices again whose digest was not there; returns those that are voices still."""
    ends = {place: vid(bank, voice.own.id) for place, voice in lost.items()}
    rows = fetch(sessions, ngql.FETCH_EVIDENCE, list(set(ends.values())))
    voices = {}
    for place, end in ends.items():
        body = rows[end]["body"] if end in rows else None
        voice = voice_in(body)
        if voice is not None:
            voices[place] = voice
        elif body is not None:
            found[place] = read(body, Evidence)
    return voices
