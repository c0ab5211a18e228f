"""The graph on NebulaGraph 3.8: entities, beliefs, evidence and slots of every bank in one space."""

from collections.abc import Mapping, Sequence

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import Entity
from schemas.evidence import Evidence, observations_by_session
from schemas.identity import normal_name
from schemas.instant import Instant
from schemas.policy import DEFAULT_POLICY, Policy
from schemas.slot import Decision, Slot, StoredSlot
from stores.nebula import graves as tombs
from stores.nebula import reading, upkeep
from stores.nebula import statements as ngql
from stores.nebula.bootstrap import prepare
from stores.nebula.claim import Claims
from stores.nebula.erase import Eraser
from stores.nebula.options import options_of
from stores.nebula.reading import rows_of
from stores.nebula.rows import read, written
from stores.nebula.scan import Scanner
from stores.nebula.script import number, quoted
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import bank_vid, vid
from stores.nebula.write import Clock, Writer


class NebulaGraph:
    """A graph store in one space of a NebulaGraph cluster, for any number of threads and processes.

    A slot's row holds its whole view and moves on at once; evidence is visible with the slot's version that brought
    it. What stands beside (edges, where beliefs are, names) may for a moment be ahead of the slot.
    """

    def __init__(self, url: str) -> None:
        self.sessions = NebulaSessions(options_of(url))
        self._clock = Clock()
        claims = Claims(self.sessions)
        self._eraser = Eraser(self.sessions, claims)
        self._writer = Writer(self.sessions, self._clock, claims, self._eraser)
        self._slots = Scanner(self.sessions, ngql.SLOTS_AFTER, ngql.SLOTS_BETWEEN)
        self._entities = Scanner(self.sessions, ngql.ENTITIES_AFTER, ngql.ENTITIES_BETWEEN)
        try:
            prepare(self.sessions)
        except BaseException:
            self.sessions.close()
            raise

    def banks(self) -> list[str]:
        """Every bank that holds anything or has a policy, sorted."""
        return upkeep.banks(self.sessions)

    def policy(self, bank: str) -> Policy:
        """The bank's policy, else the default one."""
        rows = self.sessions.read(ngql.FETCH_BANKS, vids=quoted(bank_vid(bank)))
        return read(rows[0]["policy"], Policy) if rows and rows[0]["policy"] else DEFAULT_POLICY

    def set_policy(self, bank: str, policy: Policy) -> None:
        """Keep a policy for the bank, making the bank if needed."""
        self.sessions.read(ngql.PUT_POLICY, vid=quoted(bank_vid(bank)), name=bank, policy=written(policy))

    def load_slots(self, bank: str, ids: Sequence[str]) -> dict[str, StoredSlot]:
        """The slots that exist, each with its beliefs and all its evidence in id order."""
        return reading.stored_slots(self.sessions, bank, ids)

    def apply(self, decisions: Sequence[Decision]) -> None:
        """Write decisions, durable on return; raises VersionConflict with nothing written."""
        if decisions:
            self._writer.apply(decisions)

    def beliefs(self, bank: str, ids: Sequence[str]) -> dict[str, Belief]:
        """Beliefs by the id asked for; an id that was merged away leads to the belief that bears its value now."""
        return reading.beliefs(self.sessions, bank, ids)

    def slots(self, bank: str, ids: Sequence[str]) -> dict[str, Slot]:
        """The slots that exist, with their beliefs, without evidence."""
        return reading.slots(self.sessions, bank, ids)

    def slots_of_entity(self, bank: str, entity_id: str, limit: int = 1000) -> list[str]:
        """Ids of the slots of an entity, in id order."""
        rows = self.sessions.read(ngql.SLOTS_ABOUT, vids=quoted(vid(bank, entity_id)), limit=number(limit))
        return [str(row["id"]) for row in rows]

    def evidence(self, bank: str, ids: Sequence[str]) -> dict[str, Evidence]:
        """Evidence by id."""
        return reading.evidence(self.sessions, bank, ids)

    def evidence_of_observations(self, bank: str, observation_ids: Sequence[str]) -> list[Evidence]:
        """All evidence that these observations gave, in id order."""
        return reading.evidence_told(self.sessions, bank, observation_ids)

    def session(self, bank: str, session: str, places: int) -> list[Evidence]:
        """The evidence of the session's last `places`, in session order."""
        return reading.last_of_session(self.sessions, bank, session, places)

    def windows(self, bank: str, around: Sequence[Evidence], reach: int) -> dict[str, list[Evidence]]:
        """By session, its evidence within `reach` places of any of `around` that stands there, in session order."""
        return reading.windows(self.sessions, bank, observations_by_session(around), reach)

    def entities(self, bank: str, names: Sequence[str]) -> list[tuple[str, Entity]]:
        """(id, entity) for every entity, of any type, whose normalised name is among the normalised `names`."""
        keys = sorted({normal_name(name) for name in names})
        rows = rows_of(self.sessions, ngql.ENTITIES_NAMED, bank, keys, "name")
        found = [
            (str(row["id"]), Entity(str(row["name"]), str(row["type"]))) for _, row in rows if row["name"] is not None
        ]
        return sorted(found, key=_by_name)

    def neighbours(self, bank: str, nodes: Sequence[str], limit: int) -> list[Edge]:
        """Edges that touch these nodes in either direction, at most `limit` for each node, strongest first."""
        return reading.neighbours(self.sessions, bank, nodes, limit)

    def dependents(self, bank: str, premises: Sequence[str]) -> list[str]:
        """Ids of the slots that state a `derived_from` edge to any of these beliefs, sorted; one question for all."""
        return reading.dependents(self.sessions, bank, premises)

    def due(self, now: Instant, limit: int) -> list[tuple[str, str]]:
        """(bank, slot) whose `review_at` has come, earliest first."""
        return upkeep.due(self.sessions, now, limit)

    def unindexed(self, limit: int) -> list[tuple[str, str]]:
        """(bank, belief) whose rows in the index are older than the belief, oldest write first."""
        return upkeep.unindexed(self.sessions, limit)

    def behind(self, bank: str, ids: Sequence[str]) -> set[str]:
        """Those of these beliefs whose rows in the index are older than the belief."""
        return upkeep.behind(self.sessions, bank, ids)

    def mark_indexed(self, bank: str, versions: Mapping[str, int]) -> None:
        """Note that these beliefs are in the index at these versions; never lowers a mark."""
        upkeep.mark_indexed(self.sessions, bank, versions)

    def mark_unindexed(self, bank: str) -> int:
        """Forget every mark of the bank, so that the index is rebuilt; returns how many beliefs that are."""
        return upkeep.mark_unindexed(self.sessions, bank, self._clock)

    def scan(self, bank: str, after: str, limit: int) -> list[str]:
        """Slot ids greater than `after`, in order."""
        return [str(row["id"]) for row in self._slots.scan(bank, after, limit)]

    def scan_entities(self, bank: str, after: str, limit: int) -> list[tuple[str, Entity]]:
        """(id, entity) of ids greater than `after`, in order."""
        rows = self._entities.scan(bank, after, limit)
        return [(str(row["id"]), Entity(str(row["name"]), str(row["type"]))) for row in rows]

    def counts(self, bank: str) -> dict[str, int]:
        """Numbers of entities, slots, beliefs, evidence, unindexed beliefs, and of beliefs by every status."""
        return upkeep.counts(self.sessions, bank)

    def erase(self, bank: str, slots: Sequence[str]) -> int:
        """Remove slots for good, with all that came with them; returns how many there were."""
        return self._eraser.erase(bank, slots)

    def bury(self, bank: str, graves: Sequence[str]) -> None:
        """Note for good what was forgotten, durable on return."""
        tombs.bury(self.sessions, bank, graves, self._clock.next())

    def buried(self, bank: str, graves: Sequence[str]) -> set[str]:
        """Those of these graves that were noted."""
        return tombs.buried(self.sessions, bank, graves)

    def burials(self, bank: str) -> int:
        """A number that grows with every `bury` of the bank; 0 while there was none."""
        return tombs.burials(self.sessions, bank)

    def wipe(self) -> None:
        """Does nothing: the servers' files are their own, and lose what was deleted when they are compacted."""

    def close(self) -> None:
        """End every session; later calls raise StoreUnavailable."""
        self.sessions.close()


def _by_name(found: tuple[str, Entity]) -> tuple[str, str, str]:
    id, entity = found
    return normal_name(entity.name), entity.type, id
