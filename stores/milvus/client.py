"""pymilvus as the index uses it: every call with a timeout, values beside expressions, failures as our own errors."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import grpc
from pymilvus import CollectionSchema, MilvusClient
from pymilvus.exceptions import ErrorCode, MilvusException

from schemas.errors import InvalidSetting, StoreUnavailable
from schemas.extras import load_with
from stores.milvus.filter import Condition, written_out
from stores.milvus.place import MilvusPlace

# Everything that matters leaves as an exception; the rest is tracebacks, and timestamps that Milvus Lite lacks.
for _name in ("pymilvus", "pymilvus.milvus_client", "milvus_lite"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

MOST_ROWS = 16_384
"""Rows that one answer of Milvus may have."""

_CONNECTING = "connecting"
_BATCH = 500
_LEAST_SETUP_SECONDS = 60.0
_REFUSED = ("unauthenticated", "auth check failure", "permission", "privilege")

Found = dict[str, Any]


class CollectionGone(StoreUnavailable):
    """The collection was dropped by somebody else."""


class MilvusCalls:
    """A client of one place. It may be used from several threads; in Milvus Lite, writers take turns.

    `searches` and `queries` count what it was asked, roughly where several threads ask at once.
    """

    def __init__(self, place: MilvusPlace) -> None:
        self.place = place
        self._lite = _lite(place)
        self._closed = False
        self.searches = 0
        self.queries = 0
        with self._errors(_CONNECTING):
            try:
                self._client = _connected(place, self._lite.address if self._lite else "")
            except BaseException:
                if self._lite:
                    self._lite.release()
                raise

    def collections(self) -> list[str]:
        """The names of all collections."""
        with self._errors("listing collections"):
            names: list[str] = self._client.list_collections(timeout=self.place.timeout)
        return names

    def make(self, name: str, schema: CollectionSchema, indexes: Sequence[Any]) -> None:
        """Make a collection with its indexes unless it is there, complete one that is not, and load it."""
        with self._errors("making a collection"):
            if not self._client.has_collection(name, timeout=self.place.timeout):
                self._client.create_collection(
                    name,
                    schema=schema,
                    consistency_level=self.place.consistency,
                    timeout=self._setup_seconds,
                )
            there = set(self._client.list_indexes(name, timeout=self.place.timeout))
            for index in indexes:
                if index.field_name not in there:
                    params = MilvusClient.prepare_index_params()
                    params.append(index)
                    # Not waited for: loading does so.
                    self._client.create_index(name, params, timeout=self._setup_seconds, sync=False)
        self.load(name)

    def load(self, name: str) -> None:
        """Make a collection answer searches."""
        with self._errors("loading a collection"):
            self._client.load_collection(name, timeout=self._setup_seconds)

    def drop(self, name: str) -> None:
        """Remove a collection."""
        with self._errors("dropping a collection"):
            self._client.drop_collection(name, timeout=self._setup_seconds)

    def upsert(self, name: str, rows: Sequence[Found]) -> None:
        """Write rows, each in the place of the one with its key; durable on return."""
        with self._errors("writing"), self._turn():
            for at in range(0, len(rows), _BATCH):
                self._client.upsert(name, list(rows[at : at + _BATCH]), timeout=self.place.timeout)

    def delete(self, name: str, condition: Condition) -> None:
        """Remove the rows of a condition; on return no search finds them: a strong read waits for that."""
        with self._errors("removing"), self._turn():
            self._client.delete(name, timeout=self.place.timeout, **self._filter(condition))
        if not self.place.lite:
            self.query(name, condition, ["row"], 1, strong=True)

    def query(
        self, name: str, condition: Condition, fields: Sequence[str], limit: int, *, strong: bool = False
    ) -> list[Found]:
        """Up to `limit` rows of a condition, in no order."""
        self.queries += 1
        with self._errors("reading"):
            rows = self._client.query(
                name,
                output_fields=list(fields),
                limit=limit,
                consistency_level=self._level(strong),
                timeout=self.place.timeout,
                **self._filter(condition),
            )
            return [dict(row) for row in rows]

    def pages(self, name: str, condition: Condition, fields: Sequence[str], size: int) -> Iterator[list[Found]]:
        """All rows of a condition as of now, in pages."""
        filter = self._filter(condition)
        with self._errors("reading"):
            iterator = self._client.query_iterator(
                name,
                batch_size=size,
                filter=filter["filter"],
                output_fields=list(fields),
                consistency_level=self._level(True),
                timeout=self.place.timeout,
                # The iterator hands what it does not know to the query, which knows the values by this name.
                expr_params=filter.get("filter_params", {}),
            )
        try:
            while True:
                with self._errors("reading"):
                    page = iterator.next()
                if not page:
                    return
                yield [dict(row) for row in page]
        finally:
            iterator.close()

    def search(
        self, name: str, column: str, data: Any, condition: Condition, limit: int, params: dict[str, Any]
    ) -> list[tuple[str, float]]:
        """(belief, distance as Milvus gives it) of the rows of a condition nearest to the data."""
        self.searches += 1
        with self._errors("searching"):
            answers = self._client.search(
                name,
                data=[data],
                anns_field=column,
                limit=limit,
                output_fields=["belief"],
                search_params=params,
                consistency_level=self._level(False),
                timeout=self.place.timeout,
                **self._filter(condition),
            )
            return [(hit["entity"]["belief"], float(hit["distance"])) for hit in answers[0]]

    def flush(self, name: str) -> None:
        """Put what was written into segments, where searches of Milvus Lite are many times faster."""
        with self._errors("flushing"), self._turn():
            self._client.flush(name, timeout=self._setup_seconds)

    def close(self) -> None:
        """Release the connection, and Milvus Lite with the last of its users."""
        if self._closed:
            return
        self._closed = True
        with suppress(MilvusException, grpc.RpcError):
            self._client.close()
        if self._lite:
            self._lite.release()

    @property
    def _setup_seconds(self) -> float:
        return max(_LEAST_SETUP_SECONDS, self.place.timeout)

    def _level(self, strong: bool) -> str:
        return "Strong" if strong else self.place.consistency

    def _filter(self, condition: Condition) -> dict[str, Any]:
        if self.place.lite:
            return {"filter": written_out(condition)}
        return {"filter": condition.expression, "filter_params": condition.values}

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self._lite is None:
            yield
            return
        with self._lite.writing:
            yield

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        """Raises StoreUnavailable, InvalidSetting for a refused login, CollectionGone for a dropped collection."""
        if self._closed:
            raise StoreUnavailable(f"index {self.place.shown}: it was closed; open it again")
        try:
            yield
        except MilvusException as error:
            raise _ours(self.place, doing, error.code, error.message) from error
        except (grpc.RpcError, OSError, ValueError, RuntimeError) as error:
            raise _ours(self.place, doing, 0, str(error)) from error


def _ours(place: MilvusPlace, doing: str, code: object, message: str) -> StoreUnavailable | InvalidSetting:
    told = message.replace(place.token, "***") if place.token else message
    if code == ErrorCode.COLLECTION_NOT_FOUND:
        return CollectionGone(f"index {place.shown}: {doing}: {told:.300}")
    if any(word in told.lower() for word in _REFUSED):
        return InvalidSetting(f"index {place.shown}: Milvus refuses the token: {told:.300}; set stores.index anew")
    takes = " and takes this token" if doing == _CONNECTING else ""
    advice = "" if place.lite else f"; see that Milvus runs at {place.address}{takes}, and try again"
    return StoreUnavailable(f"index {place.shown}: {doing} failed: {told:.300}{advice}")


def _lite(place: MilvusPlace) -> Any:
    """The server of Milvus Lite, None for another place. Raises MissingExtra without the package."""
    if place.path is None:
        return None
    return load_with("milvus_lite", "milvus-lite", "stores.milvus.lite", "milvus-lite").lite_server(place.path)


def _connected(place: MilvusPlace, lite_address: str) -> MilvusClient:
    """A client with a connection of its own; the database is made where it is not there."""
    if lite_address:
        return MilvusClient(uri=f"http://{lite_address}", timeout=place.timeout, dedicated=True)
    trusted = {"server_pem_path": place.tls_ca} if place.tls_ca else {}
    client = MilvusClient(uri=place.uri, token=place.token, timeout=place.timeout, dedicated=True, **trusted)
    if place.database:
        try:
            if place.database not in client.list_databases(timeout=place.timeout):
                client.create_database(place.database, timeout=place.timeout)
            client.use_database(place.database, timeout=place.timeout)
        except BaseException:
            client.close()
            raise
    return client
