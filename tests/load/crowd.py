"""Many clients at once, that tell and ask a mesh over HTTP for some time, and what came of it."""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from beliefmesh.remote import RemoteMemory
from schemas.errors import BeliefmeshError, Busy

TELLING = 0.3
"""Share of the calls that tell; the others ask."""
THINGS = 500
"""What is told is about so many things: the beliefs are bounded, the evidence for them is not."""
STATES = ("up", "down", "degraded", "in maintenance")


@dataclass
class Outcome:
    """What clients saw: seconds of each call that was answered, what failed, and the ids that were accepted.

    `turned_away` are calls that were told to come later (429) for longer than a client's patience; `degraded` answers
    lack what a retriever that was late or failed would have found.
    """

    told: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    turned_away: int = 0
    degraded: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    accepted: list[str] = field(default_factory=list)


class Crowd:
    """Clients of one mesh, each in a thread, that call again as soon as they are answered."""

    def __init__(self, url: str, bank: str, clients: int) -> None:
        self._memory = RemoteMemory(url, bank=bank)
        self._end = threading.Event()
        self._telling = TELLING
        self._outcomes = [Outcome() for _ in range(clients)]
        self._threads = [
            threading.Thread(target=self._live, args=(number, outcome), name=f"client-{number}")
            for number, outcome in enumerate(self._outcomes)
        ]

    def start(self) -> None:
        """Let all of them begin, once the bank is there to ask."""
        self._memory.retain([_observation("first", random.Random(0), 0)])
        for thread in self._threads:
            thread.start()

    def hush(self) -> None:
        """Let all of them only ask from now on."""
        self._telling = 0.0

    def stop(self) -> Outcome:
        """Let each finish its call; returns what all saw."""
        self._end.set()
        for thread in self._threads:
            thread.join()
        whole = Outcome()
        for one in self._outcomes:
            whole.told += one.told
            whole.asked += one.asked
            whole.turned_away += one.turned_away
            whole.degraded += one.degraded
            whole.failed += one.failed
            whole.accepted += one.accepted
        return whole

    def accepted(self) -> int:
        """How many observations were accepted so far."""
        return sum(len(one.accepted) for one in self._outcomes)

    def _live(self, number: int, outcome: Outcome) -> None:
        dice = random.Random(number)
        count = 0
        while not self._end.is_set():
            count += 1
            telling = dice.random() < self._telling
            started = time.perf_counter()
            try:
                if telling:
                    self._tell(f"client-{number}-{count}", dice, number, outcome)
                else:
                    question = f"What is the state of service {dice.randrange(THINGS)}?"
                    outcome.degraded += self._memory.recall(question, limit=5).degraded
            except Busy:
                outcome.turned_away += 1
            except BeliefmeshError as error:
                outcome.failed[f"{'retain' if telling else 'recall'}: {error}"] += 1
            else:
                (outcome.told if telling else outcome.asked).append(time.perf_counter() - started)

    def _tell(self, id: str, dice: random.Random, number: int, outcome: Outcome) -> None:
        self._memory.retain([_observation(id, dice, number)], wait=False)
        outcome.accepted.append(id)


def _observation(id: str, dice: random.Random, number: int) -> dict[str, object]:
    return {
        "id": id,
        "text": "",
        "entity": f"service {dice.randrange(THINGS)}",
        "agent": f"monitor {number}",
        "claims": [{"attribute": "state", "value": dice.choice(STATES)}],
    }
