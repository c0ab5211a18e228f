"""What the meta service keeps: spaces, tags, edge types, indexes, jobs; and who knows them when (section 7).

Everything new is in the meta service at once, in graphd's cache after one heartbeat and in storaged's after two, the
time that the reference tells clients to allow. Dropping is at once for all.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from ngql_tree import Field

ONLINE_HOST = ("storaged0", 9779)


@dataclass(frozen=True)
class Version:
    """The fields of a tag or an edge type, and from when on graphd and storaged know them."""

    fields: tuple[Field, ...]
    cached_at: float
    stored_at: float


@dataclass
class Schema:
    """A tag or an edge type with all its versions, the newest last."""

    kind: str
    name: str
    comment: str
    versions: list[Version] = field(default_factory=list)

    @property
    def newest(self) -> tuple[Field, ...]:
        """The fields as the meta service has them, which DESCRIBE shows."""
        return self.versions[-1].fields

    def cached(self, now: float) -> dict[str, Field] | None:
        """The fields that graphd knows, by name; None when it does not know the schema yet."""
        known = [version for version in self.versions if version.cached_at <= now]
        return {each.name: each for each in known[-1].fields} if known else None

    def stored(self, now: float) -> bool:
        """Whether storaged knows it."""
        return self.versions[0].stored_at <= now


@dataclass(frozen=True)
class Index:
    """An index; it holds the rows that were written since `stored_at`, and others once rebuilt."""

    id: int
    kind: str
    name: str
    on: str
    columns: tuple[tuple[str, int], ...]
    cached_at: float
    stored_at: float


@dataclass
class Job:
    """A background job, done one heartbeat after it was submitted; its work is done by then, not before."""

    id: int
    command: str
    done_at: float
    work: Callable[[], None]
    finished: bool = False


@dataclass
class Space:
    """A space and what is in it."""

    id: int
    name: str
    partitions: int
    replicas: int
    vid_bytes: int
    comment: str
    cached_at: float
    stored_at: float
    tags: dict[str, Schema] = field(default_factory=dict)
    edges: dict[str, Schema] = field(default_factory=dict)
    indexes: dict[tuple[str, str], Index] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    stats: list[tuple[str, str, int]] | None = None

    def schemas(self, kind: str) -> dict[str, Schema]:
        """The tags or the edge types."""
        return self.tags if kind == "tag" else self.edges

    def schema(self, name: str) -> Schema | None:
        """The tag or edge type of a name; the two may not share one."""
        return self.tags.get(name) or self.edges.get(name)

    def indexes_on(self, kind: str, name: str) -> list[Index]:
        """All indexes of a tag or an edge type."""
        return [index for index in self.indexes.values() if (index.kind, index.on) == (kind, name)]


class Catalog:
    """All spaces; whoever uses it holds the cluster's lock."""

    def __init__(self, clock: Callable[[], float], heartbeat: float) -> None:
        self._clock = clock
        self.heartbeat = heartbeat
        self.spaces: dict[str, Space] = {}
        self._ids = itertools.count(1)

    @property
    def now(self) -> float:
        """The time of the cluster's clock."""
        return self._clock()

    def next_id(self) -> int:
        """A number that nothing else has."""
        return next(self._ids)

    def known_from(self) -> tuple[float, float]:
        """When graphd and storaged will know what is made now."""
        now = self.now
        return now + self.heartbeat, now + 2 * self.heartbeat

    def cached_space(self, name: str) -> Space | None:
        """A space, if graphd knows it."""
        space = self.spaces.get(name)
        return space if space and space.cached_at <= self.now else None

    def submit(self, space: Space, command: str, work: Callable[[], None]) -> Job:
        """Queue a job."""
        job = Job(self.next_id(), command, self.now + self.heartbeat, work)
        space.jobs[job.id] = job
        return job

    def finish_jobs(self) -> None:
        """Do the work of every job whose time has come."""
        for space in list(self.spaces.values()):
            for job in space.jobs.values():
                if not job.finished and job.done_at <= self.now:
                    job.finished = True
                    job.work()
