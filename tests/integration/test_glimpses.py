"""Recall judges most candidates by what is stored of them, and reads whole only what it tells."""

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from actors.recaller import Recaller
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from beliefs.rulebook import rulebook
from recall.seen import Seen, Sight
from schemas.answer import Answer
from schemas.instant import DAY, Instant, parse_instant
from schemas.policy import AttributeRule, Policy, Reliability, Trust
from schemas.query import Principal, Query
from schemas.slot import StoredSlot
from stores.local.index import LocalIndex
from stores.sqlite.graph import SqliteGraph

NOON = parse_instant("2024-06-10T12:00:00Z", "at")
STATES = ("up", "down", "degraded")


class Noting(SqliteGraph):
    """The embedded graph, which notes of which slots the evidence was read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.read: list[str] = []

    def load_slots(self, bank: str, ids: Sequence[str]) -> dict[str, StoredSlot]:
        self.read += ids
        return super().load_slots(bank, ids)


def settings(folder: Path) -> Settings:
    return Settings(mesh=MeshSettings(folder=str(folder), runtime="inline"), stores=StoreSettings(embedder="none:"))


def told(number: int, dice: random.Random) -> dict[str, object]:
    """A sighting of one of forty services, some of them private, dated ahead, or to expire."""
    observation: dict[str, object] = {
        "id": f"o{number}",
        "text": "",
        "entity": f"service {dice.randrange(40)}",
        "agent": dice.choice(("anna", "ben", "carl")),
        "observed_at": f"2024-06-{dice.randrange(1, 10):02}T08:00:00Z",
        "claims": [
            {
                "attribute": "state",
                "value": dice.choice(STATES),
                "stance": dice.choice(("supports",) * 6 + ("refutes",)),
            }
        ],
    }
    match dice.randrange(8):
        case 0:
            observation |= {"visibility": "private", "owner": observation["agent"]}
        case 1:
            observation["effective_at"] = f"2024-06-{dice.randrange(11, 20)}T08:00:00Z"
        case 2:
            observation["valid_until"] = f"2024-06-{dice.randrange(11, 20)}T08:00:00Z"
    return observation


def answers(folder: Path, now: Instant, whole: bool) -> list[Answer]:
    """What is answered at a time; a filter, even one that admits everything, has every candidate read whole."""
    filters = [lambda found: True] if whole else []
    with Memory(settings=settings(folder), clock=lambda: now, filters=filters) as memory:
        asked = ("What is the state of service 7?", "Which service is down?")
        return [memory.recall(text, principal=who, limit=8) for text in asked for who in ("", "anna", "carl")]


def remember(folder: Path, dice: random.Random) -> None:
    """Two hundred sightings, a merge and a conclusion."""
    with Memory(settings=settings(folder), clock=lambda: NOON) as memory:
        memory.retain([told(number, dice) for number in range(200)])
        memory.merge({"name": "service 1"}, {"name": "service 2"})
        premise = memory.recall("What is the state of service 7?").found[0].belief.id
        memory.retain(
            {
                "text": "",
                "entity": "service 7",
                "claims": [{"statement": "Service 7 needs care.", "kind": "derivation", "premises": [premise]}],
            }
        )


@pytest.mark.parametrize("days", [0, 3, 9, 40])
def test_a_glimpse_changes_no_answer(tmp_path: Path, days: int) -> None:
    remember(tmp_path, random.Random(days))

    glimpsed, whole = (answers(tmp_path, NOON + days * DAY, each) for each in (False, True))

    for one, other in zip(glimpsed, whole, strict=True):
        assert one.found
        assert _bare(one) == _bare(other)


@pytest.mark.parametrize("days", [0, 3, 9, 40])
def test_what_is_stored_of_a_slot_stands_only_where_it_is_what_resolving_gives(tmp_path: Path, days: int) -> None:
    remember(tmp_path, random.Random(days))
    graph = SqliteGraph(tmp_path / "graph.db")
    ids = graph.scan("default", "", 1_000)

    for who in ("", "anna", "carl"):
        now, asked = NOON + days * DAY, Principal(who)
        stored = Seen(graph, graph.policy("default"), Sight(bank="default", principal=asked, moment=now))
        # Who asks what was known at a time has every slot resolved.
        anew = Seen(graph, graph.policy("default"), Sight(bank="default", principal=asked, moment=now, known_at=now))
        assert {id: (one.slot.beliefs, one.evidence) for id, one in stored.slots(ids).items()} == {
            id: (one.slot.beliefs, one.evidence) for id, one in anew.slots(ids).items()
        }
    graph.close()


@pytest.mark.parametrize(
    "policy",
    [
        Policy(attributes=(AttributeRule(pattern="size", type="number", tolerance=5.0),)),
        Policy(state_half_life_days=3.0),
        Policy(trust=Trust(version=1, outcomes=60, weights=(Reliability("scale 2", "size", 0.1, 60),))),
        Policy(stale_below=0.9),
    ],
)
def test_slots_that_are_not_decided_again_yet_are_told_by_the_policy_in_force(tmp_path: Path, policy: Policy) -> None:
    """Whoever changes a policy decides the slots again one after the other, and may be killed before the last."""
    with Memory(settings=settings(tmp_path), clock=lambda: NOON) as memory:
        memory.retain(
            [
                {
                    "text": "",
                    "entity": "crate",
                    "observed_at": f"2024-06-{7 + n:02}",
                    "source": {"id": f"scale {n}"},
                    "claims": [{"attribute": "size", "value": 10 + n}],
                }
                for n in range(3)
            ]
        )
        memory.home.graph.set_policy("default", policy)
        asked = {"statuses": ("active", "contested", "stale", "revoked")}

        half_way = memory.recall("What is the size of the crate?", **asked)
        memory.set_policy(policy)

        assert _shown(half_way) == _shown(memory.recall("What is the size of the crate?", **asked))
        graph = memory.home.graph
        (slot,) = graph.slots("default", graph.scan("default", "", 9)).values()
        assert slot.settled_by == rulebook(graph.policy("default")).name


def test_the_evidence_of_what_is_told_is_read_and_no_other(tmp_path: Path) -> None:
    with Memory(settings=settings(tmp_path), clock=lambda: NOON) as memory:
        memory.retain(
            [
                {"text": "", "entity": f"service {n}", "claims": [{"attribute": "state", "value": "up"}]}
                for n in range(60)
            ]
        )
    graph = Noting(tmp_path / "graph.db")
    index = LocalIndex(tmp_path / "index", 1, "none")
    recaller = Recaller(graph, index, None)

    answer = recaller.recall(Query(bank="default", text="What is the state of service 7?", now=NOON, limit=5))

    assert len(answer.found) == 5
    assert sorted(graph.read) == sorted(found.belief.slot for found in answer.found)
    recaller.close()
    index.close()
    graph.close()


def _shown(answer: Answer) -> list[tuple[object, ...]]:
    return [
        (one.belief.value, one.belief.status, one.confidence, sum(term.log_odds for term in one.evidence))
        for one in answer.found
    ]


def _bare(answer: Answer) -> Answer:
    """Without how long each retriever took."""
    return msgspec.structs.replace(answer, reports=())
