"""At the stand-in's door: logins, sessions, schema that is known late, faults on request, and a graphd that dies."""

import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nebula3", reason="the cluster extra is not installed")

from graph_cluster import Cluster
from graph_faults import Fault
from loopback_certificate import make_certificate
from nebula3.Config import Config, SessionPoolConfig, SSL_config
from nebula3.Exception import AuthFailedException, IOErrorException
from nebula3.fbthrift.transport.TTransport import TTransportException
from nebula3.gclient.net import Connection, ConnectionPool
from nebula3.gclient.net.SessionPool import SessionPool
from nebula_client import Client, client_of

SPACE = "CREATE SPACE s (partition_num = 4, replica_factor = 1, vid_type = FIXED_STRING(8))"
TAG = "CREATE TAG t (n int NOT NULL DEFAULT 0, token string NULL)"
EDGE = "CREATE EDGE e (w double NOT NULL DEFAULT 1.0)"
PUT = 'INSERT VERTEX t (n) VALUES "a":(1)'
GET = 'FETCH PROP ON t "a" YIELD t.n AS n'
RAISE = 'UPDATE VERTEX ON t "a" SET n = n + 1'


class Clock:
    """A cluster's clock that only a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def graphd(start_graphd: Callable[..., Any]) -> Any:
    """A stand-in with a space `s`, a tag, an edge type, and a vertex `a` whose n is 1."""
    graphd = start_graphd()
    with client_of(graphd.address) as client:
        client.rows(SPACE)
        client.rows("USE s")
        for statement in (TAG, EDGE, PUT):
            client.rows(statement)
    graphd.requests.clear()
    return graphd


@pytest.fixture
def client(graphd: Any) -> Iterator[Client]:
    """A session in that space."""
    with client_of(graphd.address) as client:
        client.rows("USE s")
        graphd.requests.clear()
        yield client


def _n(graphd: Any) -> int:
    with client_of(graphd.address) as client:
        client.rows("USE s")
        return int(client.rows(GET)[0]["n"])


def test_every_login_will_do_unless_users_are_given(start_graphd: Callable[..., Any]) -> None:
    anyone, somebody = start_graphd(), start_graphd(users={"mesh": "secret"})
    with client_of(anyone.address, user="whoever", password="whatever"):
        assert anyone.sessions.count() == 1
    with client_of(somebody.address, user="mesh", password="secret"):
        assert somebody.sessions.count() == 1
    with pytest.raises(AuthFailedException):
        Client(somebody.address, user="mesh", password="wrong")


def test_a_user_has_300_sessions_at_most(start_graphd: Callable[..., Any]) -> None:
    sessions = start_graphd().sessions
    for _ in range(300):
        sessions.open("mesh", "")
    with pytest.raises(Exception, match="Too many sessions"):
        sessions.open("mesh", "")
    sessions.open("another", "")


def test_a_session_is_gone_once_it_was_idle_too_long(start_graphd: Callable[..., Any]) -> None:
    clock = Clock()
    graphd = start_graphd(cluster=Cluster(clock=clock), idle_seconds=60)
    with client_of(graphd.address) as client:
        clock.now += 59
        assert client.rows("YIELD 1 AS x") == [{"x": 1}]
        clock.now += 61
        assert client.error("YIELD 1 AS x")[0] == -1002


def test_a_released_session_is_signed_out(graphd: Any) -> None:
    with client_of(graphd.address) as client:
        assert graphd.sessions.count() == 1
        client.rows("SHOW SPACES")
    with client_of(graphd.address) as other:
        other.rows("SHOW SPACES")
        assert graphd.sessions.count() == 1


def test_the_space_is_the_sessions_and_every_reply_names_it(graphd: Any) -> None:
    with client_of(graphd.address) as client:
        assert client.error(GET)[0] == -1009
        assert client.ask("USE s").space_name() == "s"
        assert client.ask(GET).space_name() == "s"
        code, text = client.error("USE other")
        assert (code, text.startswith("SpaceNotFound:")) == (-1005, True)
        assert client.ask(GET).space_name() == "s"


# The pool forgets the invalid session without closing its socket.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_the_session_pool_of_the_client_uses_its_space(graphd: Any) -> None:
    pool = SessionPool("root", "nebula", "s", [("127.0.0.1", graphd.port)])
    assert pool.init(SessionPoolConfig())
    assert pool.execute(GET).as_primitive() == [{"n": 1}]
    graphd.fail_next(GET, Fault.SESSION_INVALID)
    assert pool.execute(GET).error_code() == -1002
    assert pool.execute(GET).as_primitive() == [{"n": 1}]
    pool.close()


def test_new_schema_is_known_to_graphd_after_a_heartbeat_and_to_storaged_after_two(
    start_graphd: Callable[..., Any],
) -> None:
    clock = Clock()
    graphd = start_graphd(cluster=Cluster(heartbeat=10, clock=clock))
    with client_of(graphd.address) as client:
        client.rows(SPACE)
        assert client.error("USE s")[1].startswith("SpaceNotFound:")
        clock.now += 10
        client.rows("USE s")
        client.rows(TAG)
        client.rows(EDGE)
        assert [row["Field"] for row in client.rows("DESCRIBE TAG t")] == ["n", "token"]
        assert client.error(PUT) == (-1009, "SemanticError: No schema found for `t'")
        assert client.error(GET)[1].startswith("TagNotFound:")
        assert "not found in space" in client.error('GO FROM "a" OVER e YIELD dst(edge) AS d')[1]
        clock.now += 10
        assert client.error(PUT) == (-1005, "Storage Error: Tag not found.")
        clock.now += 10
        client.rows(PUT)
        client.rows("ALTER TAG t ADD (more int NULL)")
        assert "Unknown column" in client.error('INSERT VERTEX t (n, more) VALUES "a":(1, 2)')[1]
        client.rows("CREATE TAG INDEX i ON t (n)")
        assert client.error("LOOKUP ON t YIELD id(vertex) AS vid")[1].startswith("IndexNotFound:")
        clock.now += 20
        client.rows('INSERT VERTEX t (n, more) VALUES "b":(1, 2)')
        assert client.rows("LOOKUP ON t YIELD id(vertex) AS vid") == [{"vid": "b"}]


def test_all_statements_of_a_request_are_checked_before_the_first_runs(start_graphd: Callable[..., Any]) -> None:
    clock = Clock()
    graphd = start_graphd(cluster=Cluster(heartbeat=10, clock=clock))
    with client_of(graphd.address) as client:
        client.rows(SPACE)
        clock.now += 20
        client.rows("USE s")
        assert client.error(f"{TAG}; {PUT}")[1] == "SemanticError: No schema found for `t'"
        assert client.rows("SHOW TAGS") == []


def test_a_job_is_done_a_heartbeat_later(start_graphd: Callable[..., Any]) -> None:
    clock = Clock()
    cluster = Cluster(heartbeat=10, clock=clock)
    with client_of(start_graphd(cluster=cluster).address) as client:
        client.rows(SPACE)
        clock.now += 20
        client.rows("USE s")
        client.rows(TAG)
        client.rows("CREATE TAG INDEX i ON t (n)")
        job = client.rows("REBUILD TAG INDEX i")[0]["New Job Id"]
        assert client.rows(f"SHOW JOB {job}")[0]["Status"] == "QUEUE"
        clock.now += 10
        assert client.rows(f"SHOW JOB {job}")[0]["Status"] == "FINISHED"


def test_what_ran_before_a_failing_statement_stays(graphd: Any, client: Client) -> None:
    error = client.error(f'{RAISE}; UPDATE VERTEX ON t "nobody" SET n = 1; {RAISE}')
    assert error == (-1005, "Storage Error: Vertex or edge not found.")
    assert _n(graphd) == 2


def test_a_request_of_many_statements_is_one_round_trip(graphd: Any, client: Client) -> None:
    assert client.rows("; ".join([*[RAISE] * 300, GET])) == [{"n": 301}]
    assert len(graphd.statements) == 1


@pytest.mark.parametrize(
    ("fault", "code", "part"),
    [
        (Fault.LEADER_CHANGED, -1005, "Storage Error: Not the leader of 3. Please retry later."),
        (Fault.BUSY, -1005, "Storage Error: More than one request trying to add/update/delete"),
        (Fault.FORBIDDEN, -1008, "No permission"),
        (Fault.SESSION_INVALID, -1002, "Session not existed"),
    ],
)
def test_a_refused_request_was_not_applied(graphd: Any, client: Client, fault: Fault, code: int, part: str) -> None:
    graphd.fail_next("SET n", fault)
    found = client.error(RAISE)
    assert (found[0], part in found[1]) == (code, True)
    assert _n(graphd) == 1


def test_an_invalid_session_stays_invalid(graphd: Any, client: Client) -> None:
    graphd.fail_next(GET, Fault.SESSION_INVALID)
    assert [client.error(GET)[0] for _ in range(2)] == [-1002, -1002]


@pytest.mark.parametrize(("fault", "n"), [(Fault.CUT, 1), (Fault.REPLY_LOST, 2)])
def test_a_broken_connection_says_nothing_about_what_was_applied(graphd: Any, fault: Fault, n: int) -> None:
    with client_of(graphd.address) as client:
        client.rows("USE s")
        graphd.fail_next(RAISE, fault)
        with pytest.raises(IOErrorException) as caught:
            client.ask(RAISE)
        assert caught.value.type == IOErrorException.E_CONNECT_BROKEN
        assert _n(graphd) == n


def test_when_storage_does_not_answer_in_time_the_request_may_have_been_applied(graphd: Any, client: Client) -> None:
    graphd.fail_next(RAISE, Fault.STORAGE_SILENT)
    assert client.error(RAISE) == (-1005, "Storage Error: RPC failure, probably timeout")
    assert _n(graphd) == 2


def test_a_reply_that_is_too_late_leaves_a_session_that_works(graphd: Any) -> None:
    with client_of(graphd.address, timeout_ms=200) as client:
        client.rows("USE s")
        graphd.fail_next(RAISE, Fault.TOO_LATE)
        with pytest.raises(IOErrorException) as caught:
            client.ask(RAISE)
        assert caught.value.type == IOErrorException.E_TIMEOUT
        assert client.rows(GET) == [{"n": 2}]


def test_half_a_write_reaches_some_partitions_and_one_copy_of_an_edge(graphd: Any, client: Client) -> None:
    graphd.fail_next("INSERT", Fault.HALF, times=2)
    vids = [f'"v{n}"' for n in range(16)]
    rows = ", ".join(f"{vid}:(1)" for vid in vids)
    assert "Not the leader of" in client.error(f"INSERT VERTEX t (n) VALUES {rows}")[1]
    stored = client.rows(f"FETCH PROP ON t {', '.join(vids)} YIELD id(vertex) AS vid")
    assert 0 < len(stored) < 16
    assert "Not the leader of" in client.error('INSERT EDGE e (w) VALUES "a"->"b":(0.5)')[1]
    assert len(client.rows('GO FROM "a" OVER e YIELD dst(edge) AS d')) == 1
    assert client.rows('GO FROM "b" OVER e REVERSELY YIELD src(edge) AS s') == []


def test_half_a_request_of_many_statements_stops_in_its_middle(graphd: Any, client: Client) -> None:
    graphd.fail_next(RAISE, Fault.HALF)
    assert "Not the leader of" in client.error("; ".join([RAISE] * 10))[1]
    assert _n(graphd) == 6


def test_faults_come_in_the_order_and_number_asked_for(graphd: Any, client: Client) -> None:
    graphd.fail_next(GET, Fault.LEADER_CHANGED, times=2, after=1)
    codes = [client.ask(GET).error_code() for _ in range(5)]
    assert codes == [0, -1005, -1005, 0, 0]
    assert graphd.faults.waiting() == 0


def test_who_meets_another_writer_of_the_row_is_refused_and_insert_is_not(graphd: Any, client: Client) -> None:
    with graphd.cluster.writing("s", "t", "a"):
        assert "More than one request trying to" in client.error(RAISE)[1]
        client.rows('DELETE VERTEX "a"')
        client.rows(PUT)
    client.rows(RAISE)
    client.rows("CREATE TAG INDEX i ON t (n)")
    with graphd.cluster.writing("s", "t", "a"):
        assert "More than one request trying to" in client.error('DELETE VERTEX "a"')[1]


def test_of_many_swaps_at_once_each_version_is_won_by_one(graphd: Any) -> None:
    won: list[int] = []

    def swap(writer: int) -> None:
        with client_of(graphd.address) as client:
            client.rows("USE s")
            for version in range(1, 11):
                token = f"{writer}:{version}"
                set = f'UPDATE VERTEX ON t "a" SET n = {version + 1}, token = "{token}" WHEN n == {version}'
                found = client.ask(f"{set} YIELD token AS token")
                if found.is_succeeded() and found.as_primitive() == [{"token": token}]:
                    won.append(version)

    writers = [threading.Thread(target=swap, args=(writer,)) for writer in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(won) == sorted(set(won))
    assert _n(graphd) == len(won) + 1


def test_a_graphd_that_died_comes_back_on_its_port_with_its_data_and_without_its_sessions(graphd: Any) -> None:
    with client_of(graphd.address) as client:
        client.rows("USE s")
        with graphd.down():
            with pytest.raises(IOErrorException):
                client.ask(GET)
            config = Config()
            config.timeout = 1000
            with pytest.raises(RuntimeError):
                ConnectionPool().init([("127.0.0.1", graphd.port)], config)
        assert _n(graphd) == 1
        assert graphd.sessions.count() <= 1


# The client makes its TLS as it was made long ago, and leaves open what could not connect.
@pytest.mark.filterwarnings("ignore:ssl:DeprecationWarning", "ignore:unclosed <socket:ResourceWarning")
def test_with_a_certificate_only_tls_gets_in(start_graphd: Callable[..., Any], tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    graphd = start_graphd(certificate=certificate)
    trust = SSL_config()
    trust.ca_certs, trust.cert_reqs = str(certificate), ssl.CERT_REQUIRED
    connection = Connection()
    connection.open_SSL("127.0.0.1", graphd.port, 5000, trust)
    assert connection.authenticate("root", "nebula").get_session_id() > 0
    connection.close()
    with pytest.raises(TTransportException):
        Connection().open("127.0.0.1", graphd.port, 5000)


def test_two_graphd_before_one_cluster_share_data_and_no_sessions(
    graphd: Any, client: Client, start_graphd: Callable[..., Any]
) -> None:
    other = start_graphd(cluster=graphd.cluster)
    client.rows(RAISE)
    assert _n(other) == 2
    assert (graphd.sessions.count(), len(graphd.statements)) == (1, 1)
