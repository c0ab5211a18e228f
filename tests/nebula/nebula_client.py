"""nebula3-python's own client as tests of the stand-in use it: one session that never repeats a statement by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nebula3.Config import Config
from nebula3.gclient.net import ConnectionPool
from nebula3.gclient.net.base import _build_byte_param

SCHEMA = (
    "CREATE TAG entity (name string, aliases string)",
    "CREATE TAG belief (statement string NOT NULL, confidence double NOT NULL DEFAULT 0.5,"
    ' version int NOT NULL DEFAULT 0, write_id string NOT NULL DEFAULT "", status string NOT NULL DEFAULT "active",'
    " updated_at int NOT NULL DEFAULT 0, revoked_at int NULL)",
    "CREATE TAG evidence (content string, source string)",
    "CREATE EDGE supports (weight double NOT NULL DEFAULT 1.0)",
    "CREATE EDGE refutes (weight double NOT NULL DEFAULT 1.0)",
    "CREATE TAG INDEX i1 ON belief (status(16))",
    "CREATE TAG INDEX i_at ON belief (updated_at)",
)
START = (
    'INSERT VERTEX belief (statement, version, write_id) VALUES "b:1":("sky is blue", 3, "w3")',
    'INSERT VERTEX evidence (content, source) VALUES "v:1":("c1", "s1"), "v:2":("c2", "s2")',
    'INSERT EDGE supports (weight) VALUES "v:1"->"b:1"@0:(0.8), "v:2"->"b:1"@0:(0.4)',
)
"""The schema and the rows that the reference's examples of statements and results begin with."""


class Client:
    """A session of one graphd."""

    def __init__(self, address: str, user: str = "root", password: str = "nebula", timeout_ms: int = 5000) -> None:
        host, _, port = address.rpartition(":")
        config = Config()
        config.timeout = timeout_ms
        self._pool = ConnectionPool()
        self._pool.init([(host, int(port))], config)
        self.session = self._pool.get_session(user, password, False)

    def ask(self, statement: str, **parameters: Any) -> Any:
        """The client's result, whether it succeeded or not."""
        return self.session.execute_parameter(statement, _build_byte_param(parameters) if parameters else None)

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """The rows of a statement that has to succeed."""
        result = self.ask(statement, **parameters)
        assert result.is_succeeded(), result.error_msg()
        found: list[dict[str, Any]] = result.as_primitive()
        return found

    def error(self, statement: str, **parameters: Any) -> tuple[int, str]:
        """Code and text of a statement that has to fail."""
        result = self.ask(statement, **parameters)
        assert not result.is_succeeded(), result.as_primitive()
        return result.error_code(), result.error_msg()

    def close(self) -> None:
        """Log out and close."""
        self.session.release()
        self._pool.close()


@contextmanager
def client_of(address: str, **login: Any) -> Iterator[Client]:
    """A session for a while."""
    client = Client(address, **login)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def client_of_examples(address: str) -> Iterator[Client]:
    """A session in a new space `beliefmesh` that holds what the reference's examples begin with."""
    with client_of(address) as client:
        client.rows("CREATE SPACE beliefmesh (partition_num = 16, replica_factor = 1, vid_type = FIXED_STRING(96))")
        client.rows("USE beliefmesh")
        for statement in (*SCHEMA, *START):
            client.rows(statement)
        yield client
