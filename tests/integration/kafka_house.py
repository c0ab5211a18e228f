"""Workers of Kafka over a real broker with the embedded stores behind them, and what tests tell them."""

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from actors.inline import InlineMesh
from schemas.claim import Claim
from schemas.entity import Entity, entity_id
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation, Source, observation_key
from schemas.slot import Change
from schemas.wire import pack
from stores.kafka.driver import KafkaAdminClient
from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions
from stores.local.index import LocalIndex
from stores.ports import Entry
from stores.sqlite.graph import SqliteGraph
from streams.dead_letters import DeadLetters
from streams.freshness import lag
from streams.kafka import KafkaWorker
from streams.topics import Topics

NOW: Instant = 1_718_020_800_000_000
NAMES = ("ada", "ben", "chen", "dora", "emil", "fatima", "goran", "hana", "ivo", "jing", "karim", "lena")
QUICK = KafkaOptions(session_timeout=6.0, drain_timeout=20.0)


class Gated(InlineMesh):
    """The real mesh; `decide` fails while `failing` holds an error, and waits while the gate is closed."""

    def __init__(self, *stores: object) -> None:
        super().__init__(*stores)  # type: ignore[arg-type]
        self.failing: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.waiting = threading.Event()

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: Instant) -> dict[int, list[Change] | Exception]:
        self.waiting.set()
        self.gate.wait(60)
        if self.failing is not None:
            return dict.fromkeys(batches, self.failing)
        return super().apply(batches, now)


class Stumbling(KafkaLog):
    """The real log, which fails the first times that the worker asks it what was forgotten."""

    stumbles = 3

    def forgotten(self, topic: str) -> frozenset[tuple[int, int]]:
        if self.stumbles:
            self.stumbles -= 1
            raise StoreUnavailable("the broker is away")
        return super().forgotten(topic)


class House:
    """Workers of one group over a real broker, with the embedded graph and index behind them."""

    def __init__(self, address: str, folder: Path, log: type[KafkaLog] = KafkaLog) -> None:
        self.url = f"kafka://{address}"
        self.topics = Topics(f"t{secrets.token_hex(6)}-", 4)
        self.log = log(self.url, QUICK)
        self.graph = SqliteGraph(folder / "graph.db")
        self.index = LocalIndex(folder / "index", 1, "none")
        self.mesh = Gated(self.graph, self.index, None)
        self.letters = DeadLetters(self.log, self.topics)
        self.workers: list[KafkaWorker] = []

    def worker(self, options: KafkaOptions = QUICK) -> KafkaWorker:
        now, due = (lambda: NOW), self.graph.due
        self.workers.append(KafkaWorker(self.log, self.mesh, self.topics, now, due, 100, url=self.url, options=options))
        return self.workers[-1]

    def members(self) -> list[str | None]:
        """The names of the group's workers, as the broker knows them."""
        admin = KafkaAdminClient(bootstrap_servers=self.url.removeprefix("kafka://"))
        (group,) = admin.describe_groups([self.topics.group]).values()
        admin.close()
        return [member["group_instance_id"] for member in group["members"]]

    def started(self) -> KafkaWorker:
        worker = self.worker()
        worker.start()
        return worker

    def tell(self, *names: str) -> None:
        self.put(*(told(name) for name in names))

    def put(self, *entries: Entry) -> None:
        self.log.append(self.topics.name("observations"), entries, NOW)

    def held(self) -> set[str]:
        slots = self.graph.slots("b", self.graph.scan("b", "", 10_000))
        return {belief.entity.name for slot in slots.values() for belief in slot.beliefs}

    def values(self, name: str) -> set[object]:
        slots = self.graph.slots("b", self.graph.slots_of_entity("b", entity_id("b", Entity(name)))).values()
        return {belief.value for slot in slots for belief in slot.beliefs}

    def waiting(self) -> dict[str, int]:
        return {stage: sum(partitions.values()) for stage, partitions in lag(self.log, self.topics).items()}

    def close(self) -> None:
        self.mesh.gate.set()
        for worker in self.workers:
            worker.stop()
        self.mesh.close()
        self.index.close()
        self.graph.close()
        self.log.close()


def told(name: str, value: object = "red", **fields: object) -> Entry:
    observation = Observation(
        id=f"o-{name}-{value}",
        bank="b",
        source=Source("cam"),
        observed_at=NOW,
        entity=Entity(name),
        claims=(Claim(entity=Entity(name), attribute="colour", value=value),),
        **fields,
    )
    return Entry(observation_key(observation), pack(observation, observation.id))


def until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Wait for what another thread brings about."""
    waited = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if condition():
            return True
        waited.wait(0.05)
    return False
