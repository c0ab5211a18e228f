"""How a space is made and checked, and how sessions are opened, lost and found again."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from graph_cluster import Cluster
from graph_faults import Fault
from loopback_certificate import make_certificate

from schemas.errors import InvalidSetting, NewerSchema, StoreUnavailable
from schemas.policy import Policy
from schemas.slot import Decision
from stores.nebula import bootstrap
from stores.nebula import statements as ngql
from stores.nebula.graph import NebulaGraph
from stores.nebula.schema import BURIALS, GRAVE, SHAPES, VERSION
from stores.nebula.script import Request, quoted

pytestmark = pytest.mark.nebula

Opener = Callable[..., NebulaGraph]


@pytest.fixture
def opener() -> Iterator[Opener]:
    """Opens a store by address (or addresses) of graphd, with more of a query."""
    opened: list[NebulaGraph] = []

    def open_it(address: str, query: str = "", login: str = "") -> NebulaGraph:
        opened.append(NebulaGraph(f"nebula://{login}{address}/mesh?heartbeat=0&timeout=1{query}"))
        return opened[-1]

    yield open_it
    for each in opened:
        each.close()


# The schema


def test_opening_twice_makes_the_space_once_and_changes_nothing(
    start_graphd: Callable[..., Any], opener: Opener, decision: Callable[..., Decision]
) -> None:
    graphd = start_graphd()
    first = opener(graphd.address)
    first.apply([decision()])
    before = len(graphd.statements)

    second = opener(graphd.address)

    assert not [text for text in graphd.statements[before:] if text.startswith(("CREATE", "INSERT", "REBUILD"))]
    assert second.scan("acme", "", 9) == ["s1"]


def test_a_space_is_made_with_the_partitions_and_replicas_of_the_url(
    start_graphd: Callable[..., Any], opener: Opener
) -> None:
    graphd = start_graphd()

    opener(graphd.address, "&partitions=5&replicas=1")

    (made,) = [text for text in graphd.statements if text.startswith("CREATE SPACE")]
    assert "partition_num = 5, replica_factor = 1, vid_type = FIXED_STRING(96)" in made


def test_a_schema_that_the_servers_learn_late_is_waited_for(
    start_graphd: Callable[..., Any], decision: Callable[..., Decision]
) -> None:
    graphd = start_graphd(cluster=Cluster(heartbeat=0.1))

    store = NebulaGraph(f"nebula://{graphd.address}/mesh?heartbeat=0.1")

    store.apply([decision()])
    assert store.counts("acme")["slots"] == 1
    store.close()


def test_opening_from_several_processes_at_once_makes_one_space(
    start_graphd: Callable[..., Any], opener: Opener, decision: Callable[..., Decision]
) -> None:
    graphd = start_graphd(cluster=Cluster(heartbeat=0.02))

    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: opener(graphd.address, "&heartbeat=0.02"), range(4)))

    stores[0].apply([decision()])
    assert [each.scan("acme", "", 9) for each in stores] == [["s1"]] * 4


def test_making_a_space_that_was_cut_short_is_completed_by_the_next_opening(
    start_graphd: Callable[..., Any], opener: Opener, decision: Callable[..., Decision]
) -> None:
    graphd = start_graphd()
    graphd.fail_next("CREATE EDGE IF NOT EXISTS `about`", Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        opener(graphd.address)
    graphd.faults.clear()

    opener(graphd.address).apply([decision()])


def test_a_space_of_a_newer_release_is_refused(start_graphd: Callable[..., Any], opener: Opener) -> None:
    graphd = start_graphd()
    opener(graphd.address).sessions.read(ngql.PUT_MESH, vid=quoted(":mesh"), version=VERSION + 1)

    with pytest.raises(NewerSchema, match=f"has schema version {VERSION + 1}; this release knows up to {VERSION}"):
        opener(graphd.address)


def test_a_space_that_is_somebody_elses_is_refused(start_graphd: Callable[..., Any], opener: Opener) -> None:
    graphd = start_graphd()
    opener(graphd.address).sessions.run(Request("CREATE SPACE other (vid_type = FIXED_STRING(96))", {}))
    foreign = NebulaGraph(f"nebula://{graphd.address}/mesh?heartbeat=0")
    for statement in ("USE other", "CREATE TAG slot (id int)"):
        foreign.sessions.run(Request(statement, {}))
    foreign.close()

    with pytest.raises(InvalidSetting, match=r"slot\.bank should be string, and there is nothing"):
        NebulaGraph(f"nebula://{graphd.address}/other?heartbeat=0")


def test_a_space_with_other_vids_is_refused(start_graphd: Callable[..., Any], opener: Opener) -> None:
    graphd = start_graphd()
    opener(graphd.address).sessions.run(Request("CREATE SPACE short (vid_type = FIXED_STRING(32))", {}))

    with pytest.raises(InvalidSetting, match=r"the space short has other vids than FIXED_STRING\(96\)"):
        NebulaGraph(f"nebula://{graphd.address}/short?heartbeat=0")


@pytest.fixture
def first_release(start_graphd: Callable[..., Any], opener: Opener, decision: Callable[..., Decision]) -> Any:
    """A graphd with a space as version 1 of the schema made it, and a slot in it."""
    graphd = start_graphd()
    with pytest.MonkeyPatch.context() as passing:
        passing.setattr(bootstrap, "VERSION", 1)
        passing.setattr(bootstrap, "SHAPES", tuple(each for each in SHAPES if each not in (GRAVE, BURIALS)))
        opener(graphd.address).apply([decision()])
    return graphd


def version_in(store: NebulaGraph) -> object:
    return store.sessions.read(ngql.FETCH_MESH, vids=quoted(":mesh"))[0]["version"]


def test_a_space_of_an_earlier_release_is_migrated_and_keeps_what_it_holds(first_release: Any, opener: Opener) -> None:
    store = opener(first_release.address)

    assert version_in(store) == VERSION
    assert store.scan("acme", "", 9) == ["s1"]
    store.bury("acme", ["g1"])
    assert store.buried("acme", ["g1", "g2"]) == {"g1"}
    assert opener(first_release.address).buried("acme", ["g1"]) == {"g1"}


@pytest.mark.parametrize("statement", ["CREATE TAG IF NOT EXISTS `burials`", "REBUILD", "INSERT VERTEX `mesh`"])
def test_a_migration_that_was_cut_short_is_completed_by_the_next_opening(
    first_release: Any, opener: Opener, statement: str
) -> None:
    first_release.fail_next(statement, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        opener(first_release.address)
    first_release.faults.clear()

    store = opener(first_release.address)

    assert version_in(store) == VERSION
    assert store.scan("acme", "", 9) == ["s1"]


def test_every_version_has_a_way_to_the_next() -> None:
    assert len(bootstrap.MIGRATIONS) == VERSION - 1


# Sessions


def test_calls_one_after_the_other_share_a_session(start_graphd: Callable[..., Any], opener: Opener) -> None:
    graphd = start_graphd()
    store = opener(graphd.address)
    before = store.sessions.log_ins

    for _ in range(20):
        store.policy("acme")

    assert store.sessions.log_ins == before


def test_threads_at_work_have_a_session_each_and_leave_it_to_the_next(
    start_graphd: Callable[..., Any], opener: Opener
) -> None:
    graphd = start_graphd()
    store = opener(graphd.address)
    before = store.sessions.log_ins
    together = threading.Barrier(8)

    def read(_: int) -> None:
        together.wait()
        for _ in range(5):
            store.policy("acme")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(8)))

    assert store.sessions.log_ins - before <= 8
    assert len({each.session for each in graphd.requests[-40:]}) <= 8


def test_a_closed_store_has_signed_out_everywhere(start_graphd: Callable[..., Any], opener: Opener) -> None:
    graphd = start_graphd()
    store = opener(graphd.address)
    store.policy("acme")

    store.close()

    with pytest.raises(StoreUnavailable, match="was closed"):
        store.policy("acme")


def test_a_graphd_that_comes_back_is_used_again(start_graphd: Callable[..., Any], opener: Opener) -> None:
    graphd = start_graphd()
    store = opener(graphd.address)
    with graphd.down(), pytest.raises(StoreUnavailable, match=graphd.address):
        store.policy("acme")

    store.set_policy("acme", Policy(version=4))

    assert store.policy("acme").version == 4


def test_another_graphd_takes_over(
    start_graphd: Callable[..., Any], opener: Opener, decision: Callable[..., Decision]
) -> None:
    one = start_graphd()
    other = start_graphd(cluster=one.cluster)
    store = opener(f"{one.address},{other.address}")
    store.apply([decision()])

    with one.down():
        store.apply([decision(expected=1)])
    with other.down():
        store.apply([decision(expected=2)])

    assert store.slots("acme", ["s1"])["s1"].version == 3


def test_an_address_that_is_down_from_the_start_does_no_harm(start_graphd: Callable[..., Any], opener: Opener) -> None:
    down, up = start_graphd(), start_graphd()
    down.stop()

    assert opener(f"{down.address},{up.address}").banks() == []


def test_a_wrong_password_is_a_wrong_setting(start_graphd: Callable[..., Any], opener: Opener) -> None:
    graphd = start_graphd(users={"ada": "right"})

    assert opener(graphd.address, login="ada:right@").banks() == []
    with pytest.raises(InvalidSetting, match=r"refuses the login") as raised:
        opener(graphd.address, login="ada:wrong@")
    assert "wrong" not in str(raised.value)


def test_nobody_there_is_unavailable_and_said_without_the_password(opener: Opener) -> None:
    with pytest.raises(StoreUnavailable, match=r"NebulaGraph at 127\.0\.0\.1:1/mesh") as raised:
        opener("127.0.0.1:1", login="ada:secret@")

    assert "secret" not in str(raised.value)


# TLS


def test_tls_is_spoken_and_the_certificate_checked(
    start_graphd: Callable[..., Any], opener: Opener, tmp_path: Path
) -> None:
    certificate = make_certificate(tmp_path)
    graphd = start_graphd(certificate=certificate)

    assert opener(graphd.address, f"&tls=true&tls_ca={certificate}").banks() == []
    with pytest.raises(StoreUnavailable, match="certificate verify failed"):
        opener(graphd.address, "&tls=true")


def test_a_file_of_certificates_that_is_not_there_is_a_wrong_setting(opener: Opener) -> None:
    with pytest.raises(InvalidSetting, match=r"cannot use /nowhere/ca\.pem"):
        opener("127.0.0.1:1", "&tls=true&tls_ca=/nowhere/ca.pem")
