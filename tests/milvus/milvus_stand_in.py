"""A Milvus server for tests: Milvus Lite behind a port, made to behave as a server does where the two differ.

It fills expression templates, which Milvus Lite ignores; gives BM25 as a score, the more the better; asks for a login;
scans where HNSW or an index of scalars is asked for. Whether a real server takes the same requests, only a real one
can show (BELIEFMESH_TEST_MILVUS).
"""

import base64
import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from milvus_lite.db import MilvusLite
from pymilvus.grpc_gen import common_pb2, milvus_pb2_grpc

TOKEN = "root:mesh-secret"
LATE_SECONDS = 2.0
_HOLE = re.compile(r"\{(\w+)\}")


class MilvusStandIn:
    """A running stand-in. `asked` counts requests by kind and, for reads, consistency level.

    `faults` are kinds of request that fail once, each `before` or `after` it had its effect, or with a `late` answer.
    """

    def __init__(self, folder: Path) -> None:
        self.asked: Counter[str] = Counter()
        self.faults: dict[str, str] = {}
        self._database = MilvusLite(str(folder / "stand-in"))
        self._server = grpc.server(ThreadPoolExecutor(10), interceptors=[_Login()])
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(
            _Servicer(self._database, self.asked, self.faults), self._server
        )
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    @property
    def url(self) -> str:
        """The URL with its login and a database."""
        return f"milvus://{TOKEN.replace(':', '%3A')}@{self.address}/mesh"

    def stop(self) -> None:
        """End it; a second time does nothing."""
        self._server.stop(grace=1).wait()
        self._database.close()


class _Login(grpc.ServerInterceptor):  # type: ignore[misc]
    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        given = dict(details.invocation_metadata).get("authorization", "")
        if given == base64.b64encode(TOKEN.encode()).decode():
            return continuation(details)
        return grpc.unary_unary_rpc_method_handler(_refuse)


def _refuse(request: bytes, context: grpc.ServicerContext) -> bytes:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "auth check failure, please check username and password")
    return b""


class _Servicer(MilvusServicer):  # type: ignore[misc]
    def __init__(self, database: MilvusLite, asked: Counter[str], faults: dict[str, str]) -> None:
        super().__init__(database)
        self._asked = asked
        self._faults = faults

    def Search(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC names it
        request.dsl = _filled(request.dsl, request.expr_template_values)
        answer = self._answer("search", super().Search, request, context)
        if any(pair.key == "anns_field" and pair.value == "bm25" for pair in request.search_params):
            answer.results.scores[:] = [-score for score in answer.results.scores]
        return answer

    def Query(self, request: Any, context: Any) -> Any:  # noqa: N802
        request.expr = _filled(request.expr, request.expr_template_values)
        return self._answer("query", super().Query, request, context)

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        request.expr = _filled(request.expr, request.expr_template_values)
        return self._answer("delete", super().Delete, request, context)

    def Upsert(self, request: Any, context: Any) -> Any:  # noqa: N802
        return self._answer("upsert", super().Upsert, request, context)

    def CreateIndex(self, request: Any, context: Any) -> Any:  # noqa: N802
        for pair in request.extra_params:
            if pair.key == "index_type" and pair.value == "INVERTED":
                return common_pb2.Status()
            if pair.key == "index_type" and pair.value == "HNSW":
                pair.value = "FLAT"
        return super().CreateIndex(request, context)

    def _answer(self, kind: str, method: Callable[[Any, Any], Any], request: Any, context: Any) -> Any:
        self._asked[kind] += 1
        if kind in ("search", "query"):
            self._asked[f"{kind} {common_pb2.ConsistencyLevel.Name(request.consistency_level)}"] += 1
        fault = self._faults.pop(kind, "")
        if fault == "before":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "it failed before")
        answer = method(request, context)
        if fault == "after":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "it failed after")
        if fault == "late":
            threading.Event().wait(LATE_SECONDS)
        return answer


def _filled(expression: str, values: Any) -> str:
    return _HOLE.sub(lambda hole: _literal(values[hole[1]]), expression)


def _literal(value: Any) -> str:
    match value.WhichOneof("val"):
        case "bool_val":
            return "true" if value.bool_val else "false"
        case "int64_val":
            return str(value.int64_val)
        case "string_val":
            return json.dumps(value.string_val)
    return json.dumps(list(value.array_val.string_data.data))
