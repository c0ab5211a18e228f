"""The graphs and indexes under test, an adapter a parameter, and how tests write beliefs, evidence, decisions, rows."""

import importlib
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schemas.belief import Belief, Mass, Status
from schemas.claim import Network
from schemas.edge import Edge
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Source
from schemas.slot import Decision, Slot
from stores.local.index import LocalIndex
from stores.open import open_graph, open_index
from stores.ports import PUBLIC, GraphStore, IndexFilter, IndexRow, SearchIndex, Vectors

MAY = 1_714_521_600_000_000
TEMPLATE = Entity("Report template", "rule")
EAST = np.array([1, 0, 0, 0], np.float32)


@pytest.fixture
def nebula_url(nebula: str, nebula_is_real: bool) -> Iterator[str]:
    """An empty space: a new one of the stand-in's, or on a real server, where that takes long, one that is emptied."""
    graph = importlib.import_module("stores.nebula.graph")
    ngql = importlib.import_module("stores.nebula.statements")
    schema = importlib.import_module("stores.nebula.schema")
    script = importlib.import_module("stores.nebula.script")
    space = "beliefmesh_test" if nebula_is_real else f"test_{uuid.uuid4().hex[:12]}"
    url = f"nebula://{nebula}/{space}" + ("" if nebula_is_real else "?heartbeat=0")
    store = graph.NebulaGraph(url)
    if nebula_is_real:
        store.sessions.run(script.Request(f"CLEAR SPACE IF EXISTS `{space}`", {}))
        store.sessions.read(ngql.PUT_MESH, vid=script.quoted(":mesh"), version=schema.VERSION)
    yield url
    if not nebula_is_real:
        store.sessions.run(script.Request(f"DROP SPACE IF EXISTS `{space}`", {}))
    store.close()


@pytest.fixture(params=["sqlite", pytest.param("nebula", marks=pytest.mark.nebula)])
def reopen_graph(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], GraphStore]]:
    """Opens one and the same store again and again, as another process would."""
    opened: list[GraphStore] = []
    url = request.getfixturevalue("nebula_url") if request.param == "nebula" else f"sqlite:///{tmp_path}/graph.db"

    def opener() -> GraphStore:
        opened.append(open_graph(url))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


@pytest.fixture
def graph_store(reopen_graph: Callable[[], GraphStore]) -> GraphStore:
    """An empty store of the adapter under test."""
    return reopen_graph()


@pytest.fixture
def graphd(start_graphd: Callable[..., Any]) -> Any:
    """A stand-in that this test alone makes fail."""
    return start_graphd()


@pytest.fixture
def opener(graphd: Any) -> Iterator[Callable[..., Any]]:
    """Opens the space of the test once more, as another process would, impatient unless told otherwise."""
    graph = importlib.import_module("stores.nebula.graph")
    opened: list[Any] = []

    def open_it(timeout: float = 0.3, claim_timeout: float = 30.0) -> Any:
        query = f"heartbeat=0&timeout={timeout}&claim_timeout={claim_timeout}"
        opened.append(graph.NebulaGraph(f"nebula://{graphd.address}/mesh?{query}"))
        return opened[-1]

    yield open_it
    for each in opened:
        each.close()


def _belief(id: str, slot: str = "s1", bank: str = "acme", version: int = 1, status: Status = "active") -> Belief:
    return Belief(
        id=id,
        bank=bank,
        slot=slot,
        entity=TEMPLATE,
        statement=f"All reports use {id}",
        status=status,
        attribute="template",
        value=id,
        scope=(("report", "financial"),),
        support=(Mass(1.5, MAY, 30 * DAY), Mass(2.0, MAY)),
        newest_support=MAY,
        exceptions=((("report", "annual"),),),
        supports=1,
        version=version,
    )


def _evidence(
    id: str,
    slot: str = "s1",
    bank: str = "acme",
    statement: str = "All reports use template A",
    observation: str = "o1",
    session: str = "",
    turn: int | None = None,
    at: int = MAY,
    ingested_at: int = MAY + 5,
    mentions: tuple[Entity, ...] = (),
) -> Evidence:
    return Evidence(
        id=id,
        bank=bank,
        slot=slot,
        entity=TEMPLATE,
        observation_id=observation,
        source=Source("handbook", origin="ops", type="document"),
        effective_at=at,
        observed_at=at,
        statement=statement,
        attribute="template",
        value="A",
        session=session,
        turn=turn,
        ingested_at=ingested_at,
        mentions=mentions,
    )


def _decision(
    slot: str = "s1",
    bank: str = "acme",
    expected: int = 0,
    entity: Entity = TEMPLATE,
    keeps: tuple[Belief, ...] = (),
    changed: tuple[Belief, ...] | None = None,
    adds: tuple[Evidence, ...] = (),
    aliases: dict[str, str] | None = None,
    edges: tuple[Edge, ...] = (),
    review_at: int | None = None,
    removes: tuple[str, ...] = (),
    ends: bool = False,
) -> Decision:
    state = Slot(
        id=slot,
        bank=bank,
        entity=entity,
        attribute="template",
        beliefs=keeps,
        version=expected + 1,
        resolved_at=MAY,
        review_at=review_at,
        aliases=aliases or {},
        edges=edges,
    )
    return Decision(
        slot=state,
        expected_version=expected,
        evidence=adds,
        beliefs=keeps if changed is None else changed,
        removed=removes,
        ends=ends,
    )


@pytest.fixture
def belief() -> Callable[..., Belief]:
    """A belief by id, of slot s1 in bank acme unless told otherwise; its value is its id."""
    return _belief


@pytest.fixture
def evidence() -> Callable[..., Evidence]:
    """A piece of evidence by id, of slot s1 in bank acme unless told otherwise."""
    return _evidence


@pytest.fixture
def decision() -> Callable[..., Decision]:
    """What to write to a slot, `expected` being its version; it `keeps` beliefs and `adds` evidence."""
    return _decision


@pytest.fixture
def milvus_lite_url(tmp_path: Path) -> str:
    """Where an empty index in Milvus Lite is."""
    pytest.importorskip("milvus_lite", reason="the milvus-lite extra is not installed")
    return f"milvus:///{tmp_path}/index.db"


@pytest.fixture
def milvus_server_url(milvus: str) -> Iterator[str]:
    """Where an empty index on a server is: under a prefix of its own, and removed after the test."""
    prefix = f"test_{uuid.uuid4().hex[:12]}"
    url = f"{milvus}{'&' if '?' in milvus else '?'}collection={prefix}"
    yield url
    client, place = (importlib.import_module(f"stores.milvus.{name}") for name in ("client", "place"))
    calls = client.MilvusCalls(place.place_of(url))
    for collection in calls.collections():
        if collection.startswith(prefix):
            calls.drop(collection)
    calls.close()


_LITE = pytest.param("milvus_lite", marks=pytest.mark.milvus)
_SERVER = pytest.param("milvus_server", marks=pytest.mark.milvus)


@pytest.fixture(params=[_LITE, _SERVER])
def milvus_url(request: pytest.FixtureRequest) -> str:
    """Where an empty index in Milvus is, Lite or a server."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(params=["local", "local-graph", _LITE, _SERVER])
def reopen_index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], SearchIndex]]:
    """Opens one and the same index again and again; `local-graph` goes by neighbours from nine vectors on."""
    opened: list[SearchIndex] = []
    exact_up_to = 8 if request.param == "local-graph" else 20_000
    url = request.getfixturevalue(f"{request.param}_url") if "milvus" in request.param else ""

    def opener() -> SearchIndex:
        while opened:
            opened.pop().close()
        if url:
            opened.append(open_index(url, 4, "model-1"))
        else:
            opened.append(LocalIndex(tmp_path / "index", 4, "model-1", exact_up_to=exact_up_to))
        return opened[-1]

    yield opener
    for each in opened:
        each.close()


@pytest.fixture
def crowd(request: pytest.FixtureRequest) -> int:
    """A number of rows that is large for the adapter under test."""
    return 3_000 if "milvus" in request.node.callspec.params["reopen_index"] else 20_000


@pytest.fixture
def index_files(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder with all files of the index under test."""
    if request.node.callspec.params["reopen_index"] == "milvus_server":
        pytest.skip("the files of a server are not ours to read")
    return tmp_path


@pytest.fixture
def index(reopen_index: Callable[[], SearchIndex]) -> SearchIndex:
    """An empty index of four dimensions."""
    return reopen_index()


def _row(
    belief: str,
    text: str = "",
    bank: str = "acme",
    audience: str = "",
    readers: tuple[str, ...] = (PUBLIC,),
    version: int = 1,
    network: Network = "world",
    status: Status = "active",
    keywords: str = "",
    entities: tuple[str, ...] = (),
    at: int = MAY,
    occurred: tuple[int | None, int | None] = (None, None),
    embedded: bool = True,
    checked: bool = False,
) -> IndexRow:
    return IndexRow(
        bank=bank,
        belief=belief,
        audience=audience,
        readers=readers,
        version=version,
        network=network,
        status=status,
        text=text,
        keywords=keywords,
        entities=entities,
        at=at,
        occurred_start=occurred[0],
        occurred_end=occurred[1],
        embedded=embedded,
        checked=checked,
    )


def _put(index: SearchIndex, *rows: IndexRow, vector: Vectors = EAST) -> None:
    """Rows that all lie in one direction."""
    index.upsert(rows, np.tile(vector, (len(rows), 1)))


def _found_by(index: SearchIndex, filter: IndexFilter) -> set[str]:
    found = {hit.belief for hit in index.semantic(filter, EAST, 100)}
    assert {hit.belief for hit in index.keyword(filter, "word", 100)} == found
    assert {hit.belief for hit in index.by_time(filter, MAY - 100 * DAY, MAY + 100 * DAY, 100)} == found
    return found


@pytest.fixture
def row() -> Callable[..., IndexRow]:
    """A row by belief and text, of bank acme and for everybody unless told otherwise."""
    return _row


@pytest.fixture
def put() -> Callable[..., None]:
    """Writes rows that all lie in one direction, EAST unless told otherwise."""
    return _put


@pytest.fixture
def found_by() -> Callable[[SearchIndex, IndexFilter], set[str]]:
    """What each of the three searches finds when only the filter chooses, and that it is the same.

    Every row has the text `word`, lies EAST and was told in May.
    """
    return _found_by
