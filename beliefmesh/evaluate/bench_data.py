"""Made-up input for the benchmark: people in dated sessions who talk about things; the same for the same seed."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from schemas.claim import Kind
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import DAY, Instant, instant_of
from schemas.observation import Source
from schemas.slot import slot_id

BANK = "bench"
PEOPLE = 2_000
TURNS_A_SESSION = 25

_START = datetime(2023, 1, 1, tzinfo=UTC)
_DAYS = 1_000
_THINGS = 3_000
_SYLLABLES = ("ba", "cor", "den", "fi", "gal", "hem", "lo", "mar", "nis", "or", "pel", "ri", "sun", "ta", "vel", "zo")
_FIRST = (
    "Ada",
    "Ben",
    "Chen",
    "Dora",
    "Emil",
    "Fatima",
    "Goran",
    "Hana",
    "Ivo",
    "Jing",
    "Karim",
    "Lena",
    "Milo",
    "Nora",
)
_SAID = (
    "{who} moved the {one} next to the {two} before the {three} meeting",
    "{who} prefers the {one} over the {two} whenever the {three} is late",
    "{who} told everybody that the {one} broke while the {two} was being repaired",
    "{who} ordered a new {one} and a {two} for the {three} team",
    "{who} has finished the {one} report and will start with the {two} next week",
    "{who} and {other} went to see the {one} exhibition near the {two}",
)
_ASKED = (
    "What did {who} say about the {one}?",
    "Who ordered a new {one} and a {two}?",
    "When did {who} move the {one} next to the {two}?",
    "What happened to the {one} in {month} {year}?",
    "Which team needed the {one} and the {two} in {year}?",
)
_ATTRIBUTES = ("owner", "status", "limit", "region", "version", "priority", "colour", "plan", "contact", "budget")


class World:
    """Names and words drawn by a seed, and what is said with them; common words are far more common than rare ones."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 (data that can be made again, no secret)
        self.people = [f"{first} {self._word().capitalize()}" for first in self._cycle(_FIRST, PEOPLE)]
        self.things = [self._word() for _ in range(_THINGS)]

    def conversations(self, turns: int) -> Iterator[dict[str, object]]:
        """Observations of one statement each, in sessions of two people; every tenth also states an attribute."""
        chance = self._chance
        for number in range(turns):
            session, turn = divmod(number, TURNS_A_SESSION)
            if turn == 0:
                pair = chance.sample(self.people, 2)
                at = _START + timedelta(days=chance.randrange(_DAYS), minutes=chance.randrange(600))
            yield self._turn(number, f"session-{session}", turn, pair, at)

    def claims(self, count: int, each: int = 1) -> Iterator[dict[str, object]]:
        """Observations of `each` structured claims about one person; values compete in the slots of ten attributes."""
        chance = self._chance
        for number in range(0, count, each):
            attributes = chance.sample(_ATTRIBUTES, each)
            agent = f"agent-{chance.randrange(50)}"
            yield {
                "id": f"claim-{each}-{number}",
                "agent": agent,
                "source": {"id": agent, "origin": agent, "type": "tool"},
                "observed_at": _START + timedelta(days=chance.randrange(_DAYS)),
                "entity": {"name": chance.choice(self.people), "type": "person"},
                "claims": [{"attribute": name, "value": f"value {chance.randrange(5)}"} for name in attributes],
            }

    def questions(self, count: int) -> list[str]:
        """Questions in the same words: about a person, about things, about a month."""
        chance = self._chance
        return [
            chance.choice(_ASKED).format(
                who=chance.choice(self.people),
                one=self._thing(),
                two=self._thing(),
                month=chance.choice(("March", "June", "October")),
                year=chance.choice((2023, 2024, 2025)),
            )
            for _ in range(count)
        ]

    def _turn(self, number: int, session: str, turn: int, pair: list[str], at: datetime) -> dict[str, object]:
        chance = self._chance
        speaker, other = pair[turn % 2], pair[1 - turn % 2]
        statement = chance.choice(_SAID).format(
            who=speaker, other=other, one=self._thing(), two=self._thing(), three=self._thing()
        )
        claim: dict[str, object] = {"statement": statement}
        if other in statement:
            claim["mentions"] = [{"name": other, "type": "person"}]
        if number % 5 == 0:
            claim |= {"occurred_start": at - timedelta(days=2), "occurred_end": at - timedelta(days=1)}
        claims = [claim]
        if number % 10 == 0:
            claims.append({"attribute": chance.choice(_ATTRIBUTES), "value": f"value {chance.randrange(5)}"})
        return {
            "id": f"turn-{number}",
            "agent": speaker,
            "source": {"id": speaker, "origin": speaker, "type": "dialogue"},
            "entity": {"name": speaker, "type": "person"},
            "session": session,
            "turn": turn,
            "observed_at": at,
            "claims": claims,
        }

    def _thing(self) -> str:
        """A thing, the first ones far more often than the last (about as words of a language are spread)."""
        return self.things[int(len(self.things) ** self._chance.random()) - 1]

    def _word(self) -> str:
        return "".join(self._chance.choices(_SYLLABLES, k=self._chance.choice((2, 3, 3, 4))))

    def _cycle(self, words: tuple[str, ...], count: int) -> Iterator[str]:
        return (words[number % len(words)] for number in range(count))


def evidence_of_slot(pieces: int, kind: Kind = "observation") -> list[Evidence]:
    """A slot's evidence: so many sources, three days apart, in turn for one of three values."""
    entity = Entity("orders", "service")
    slot = slot_id(BANK, entity, "limit")
    start: Instant = instant_of(_START)
    return [
        Evidence(
            id="e" + digest("bench", str(number)),
            bank=BANK,
            slot=slot,
            entity=entity,
            observation_id=f"o{number}",
            source=Source(f"source-{number}"),
            effective_at=start + number * 3 * DAY,
            observed_at=start + number * 3 * DAY,
            statement="",
            attribute="limit",
            value=f"value {number % 3}",
            kind=kind,
        )
        for number in range(pieces)
    ]
