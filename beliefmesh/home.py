"""An opened mesh: its folder, stores, actors and worker, put together from the settings."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache

import structlog

from actors.choose import inline_mesh, ray_is_installed, ray_mesh
from actors.extractor import open_extractor
from actors.mesh import Mesh
from actors.recaller import NO_EXTENSION, Extension
from actors.shared import Placement
from beliefmesh.folder import Folder
from beliefmesh.settings import MeshSettings, Settings
from beliefmesh.space import current_space, place_of, url_in
from beliefmesh.tally import VerbCounts
from schemas.errors import InvalidSetting, StoreUnavailable
from schemas.instant import Instant
from stores.archive import Archive
from stores.embedders import open_embedder
from stores.language.endpoint import open_language
from stores.ledger import open_ledger
from stores.open import is_kafka, open_graph, open_index, open_log
from stores.plans import Plans
from stores.ports import Embedder, GraphStore, LanguageModel, SearchIndex, StoreUrls
from stores.shelf import open_shelf, suffix_of
from stores.sqlite.replies import Replies
from stores.sqlite.usage import UsageFile
from stores.tracing.spans import spanned, traced
from streams.choose import open_worker
from streams.dead_letters import DeadLetters
from streams.recall_log import RecallLog
from streams.tombstones import Tombstones
from streams.topics import CLAIMS, OBSERVATIONS, RECALL_LOG, Topics
from streams.worker import Worker

log_events = structlog.get_logger("home")

_NO_VECTORS = 1
_BATCH_OF_A_MODEL = 256


def system_clock() -> Instant:
    """The time now."""
    return time.time_ns() // 1_000


class Home:
    """Everything that one process needs to run a mesh. Opens all of it, or nothing.

    `runtime` is `inline` (the actors are called in this process) or `ray` (they are Ray actors: its own, or those at
    `mesh.address`, which it shares with other processes, and then it shares the folder too).
    With `inline` this process owns the local index; with `ray` an actor does, and `index` is None. `language` is the
    model of the settings, if any; `embedder` opens theirs, once, if they name one.
    """

    def __init__(
        self, settings: Settings, clock: Callable[[], Instant] = system_clock, own: Extension = NO_EXTENSION
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.tally = VerbCounts()
        self.runtime = _runtime(settings.mesh)
        with ExitStack() as opened:
            opened.enter_context(traced(settings.tracing))
            self.folder = Folder(settings.mesh.folder, shared=bool(settings.mesh.address))
            opened.callback(self.folder.close)
            self.space = current_space(settings, self.folder)
            self.urls = store_urls(settings, self.folder, self.space)
            self.log = spanned(open_log(self.urls.log, settings.kafka), "log")
            opened.callback(self.log.close)
            self.graph = spanned(open_graph(self.urls.graph), "graph")
            opened.callback(self.graph.close)
            self.ledger = open_ledger(url_in(self.folder, self.space, "sqlite", "jobs.db"))
            opened.callback(self.ledger.close)
            self.archive = self._archive()
            self.plans = Plans(self.ledger)
            self.topics = topics_of(settings, self.space)
            self.language = open_language(settings.llm)
            self.embedder = cache(self._opened_embedder)
            self.index: SearchIndex | None = None
            self.mesh = self._mesh(own)
            if self.index is not None:
                opened.callback(self.index.close)
            opened.callback(self.mesh.close)
            self.worker = self._worker()
            self.usage = UsageFile(self.folder.path / "usage.db")
            opened.callback(self.usage.close)
            self.replies = Replies(self.folder.path / "replies.db")
            opened.callback(self.replies.close)
            self.letters = DeadLetters(self.log, self.topics)
            self.tombstones = Tombstones(self.log, self.topics)
            self.recalls = RecallLog(self.log, self.topics, clock)
            opened.callback(self.recalls.close)
            opened.callback(self.worker.stop)
            self._opened = opened.pop_all()
        self._closed = False
        if is_kafka(self.urls.log):
            self.worker.start()

    @property
    def streaming(self) -> bool:
        """Whether the worker runs in the background; otherwise each retain drains the log itself."""
        return self.worker.running

    def start(self) -> None:
        """Let the worker run in the background until `close`."""
        self.worker.start()

    def require_open(self) -> None:
        """Raises StoreUnavailable once it was closed."""
        if self._closed:
            raise StoreUnavailable(f"the memory in {self.folder.path} is closed; open it again")

    def close(self) -> None:
        """Finish the batch in hand, stop actors, close stores, give the folder up; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._opened.close()

    def _opened_embedder(self) -> Embedder | None:
        return spanned(open_embedder(self.urls.embedder, self.urls.embedder_key), "embedder")

    def _archive(self) -> Archive:
        """Where the settings say, else beside the stores of the space."""
        jobs = self.settings.jobs
        beside = str(place_of(self.folder, self.space) / "archive")
        shelf = open_shelf(jobs.archive, self.space) if jobs.archive else open_shelf(beside)
        return Archive(shelf, self.ledger, suffix_of(jobs.archive_packing))

    def _worker(self) -> Worker:
        """What moves records from the log through the mesh."""
        return open_worker(
            self.urls.log,
            self.settings.kafka,
            here=self.settings.streams.worker == "here",
            log=self.log,
            mesh=self.mesh,
            topics=self.topics,
            clock=self.clock,
            due=self.graph.due,
            batch=batch_of(self.settings),
        )

    def _mesh(self, own: Extension) -> Mesh:
        """As `runtime` says; where nobody asked for Ray, and it does not start, in this process."""
        chosen = self.settings.mesh
        if self.runtime == "ray":
            if own != NO_EXTENSION:
                raise InvalidSetting("mesh.runtime: retrievers and filters of your own run with inline only")
            try:
                return ray_mesh(
                    self.urls,
                    shards=chosen.shards,
                    shard_cache_mb=chosen.shard_cache_mb,
                    address=chosen.address,
                    placement=placement_of(chosen),
                )
            except StoreUnavailable as error:
                if chosen.runtime != "auto" or chosen.address:
                    raise
                log_events.warning("mesh.inline", reason=str(error))
                self.runtime = "inline"
        self.index, mesh = index_and_mesh(
            self.urls, self.graph, self.embedder(), chosen.shard_cache_mb, own, self.language
        )
        return mesh


def index_and_mesh(
    urls: StoreUrls,
    graph: GraphStore,
    embedder: Embedder | None,
    shard_cache_mb: int,
    own: Extension = NO_EXTENSION,
    language: LanguageModel | None = None,
) -> tuple[SearchIndex, Mesh]:
    """The index, opened, and the actors in this process over it and a graph; the models are shared."""
    dimensions = embedder.dimensions if embedder else _NO_VECTORS
    index = spanned(open_index(urls.index, dimensions, embedder.model_id if embedder else "none"), "index")
    return index, inline_mesh(graph, index, embedder, own, open_extractor(urls, language), shard_cache_mb)


def store_urls(settings: Settings, folder: Folder, space: str) -> StoreUrls:
    """Where the stores are: as set, else inside the folder; graph and index are the space's."""
    return StoreUrls(
        graph=settings.stores.graph or url_in(folder, space, "sqlite", "graph.db"),
        log=settings.stores.log or folder.url("sqlite", "log.db"),
        index=settings.stores.index or url_in(folder, space, "local", "index"),
        embedder=settings.stores.embedder,
        embedder_key=settings.stores.embedder_key,
        language=settings.llm,
        record=folder.url("sqlite", "language.db"),
        tracing=settings.tracing,
    )


def placement_of(mesh: MeshSettings) -> Placement:
    """Where on a cluster the actors run."""
    return Placement(mesh.resource, mesh.gpus)


def batch_of(settings: Settings) -> int:
    """How many records a stage takes at once; fewer where a language model reads them, which takes seconds each."""
    return min(settings.streams.batch, _BATCH_OF_A_MODEL) if settings.llm.url else settings.streams.batch


def topics_of(settings: Settings, space: str) -> Topics:
    """The topics as the settings name, divide and keep them, for the workers of a space."""
    kafka = settings.kafka
    days = {OBSERVATIONS: kafka.observations_days, CLAIMS: kafka.claims_days, RECALL_LOG: kafka.recall_log_days}
    return Topics(settings.streams.prefix, settings.streams.partitions, space, days)


def _runtime(mesh: MeshSettings) -> str:
    if mesh.address:
        if mesh.runtime == "inline":
            raise InvalidSetting("mesh.runtime: is inline, but mesh.address names a Ray cluster; drop one of them")
        return "ray"
    if mesh.runtime == "auto":
        return "ray" if ray_is_installed() else "inline"
    if mesh.runtime == "ray" and not ray_is_installed():
        raise InvalidSetting(
            "mesh.runtime: is ray, but Ray is not installed; install beliefmesh[cluster] or set inline"
        )
    return mesh.runtime
