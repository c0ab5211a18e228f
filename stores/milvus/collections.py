"""Which collections an index reads and writes: its model's own, and those that earlier models left."""

import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import structlog

from schemas.errors import NewerSchema
from stores.milvus.client import CollectionGone, MilvusCalls
from stores.milvus.filter import Condition
from stores.milvus.schema import SCHEMA_VERSION, collection_name, indexes_of, schema_of, version_of

_LOOK_EVERY_SECONDS = 30.0
_ANY_ROW = Condition('row != ""', {})
_ADVICE = "the workers index everything again; `beliefmesh doctor` tells what is left, and with --fix does it at once"

_log = structlog.get_logger()

Answer = TypeVar("Answer")


class Collections:
    """The collections of one index under its prefix. `name` is the own one, made where it is not there.

    Raises NewerSchema where a newer release has written under the prefix. Collections of an older schema are left
    alone.
    """

    def __init__(self, calls: MilvusCalls, dimensions: int, model_id: str) -> None:
        self.name = collection_name(calls.place.collection, model_id, dimensions)
        self._calls = calls
        self._dimensions = dimensions
        self._looking = Lock()
        self._looked = float("-inf")
        self._earlier: tuple[str, ...] = ()
        self._refuse_newer()
        self._make()
        if self.earlier():
            _log.warning("index.model_changed", index=calls.place.shown, model=model_id, advice=_ADVICE)

    def others(self) -> list[str]:
        """Every other collection of this schema, as of now."""
        return sorted(name for name, version in self._ours().items() if version == SCHEMA_VERSION and name != self.name)

    def earlier(self) -> tuple[str, ...]:
        """The others that hold rows; looked up twice a minute at most."""
        if self._is_old():
            with self._looking:
                if self._is_old():
                    self._look()
        return self._earlier

    def look_again(self) -> None:
        """Look the others up at the next question."""
        self._looked = float("-inf")

    def read_own(self, ask: Callable[[str], list[Answer]]) -> list[Answer]:
        """What the own collection answers; nothing where somebody dropped it, and then it is made again."""
        try:
            return ask(self.name)
        except CollectionGone:
            self._make()
            return []

    def read(self, ask: Callable[[str], list[Answer]]) -> list[Answer]:
        """What the own collection and the earlier ones answer together."""
        found = self.read_own(ask)
        for name in self.earlier():
            try:
                found = found + ask(name)
            except CollectionGone:
                self.look_again()
        return found

    def write(self, put: Callable[[str], None]) -> None:
        """Write to the own collection; once more where somebody dropped it meanwhile."""
        try:
            put(self.name)
        except CollectionGone:
            self._make()
            put(self.name)

    def remove(self, condition: Condition) -> None:
        """Remove rows from every collection, the own one last."""
        for name in self.others():
            self._remove(name, condition)
        self._remove(self.name, condition)

    def remove_from_others(self, condition: Condition) -> None:
        """Remove rows from all collections but the own one."""
        for name in self.others():
            self._remove(name, condition)

    def remove_own(self, condition: Condition) -> None:
        """Remove rows from the own collection."""
        self._remove(self.name, condition)

    def drop_empty(self) -> None:
        """Drop the others that hold no row any more. A process that still writes to one makes it again."""
        for name in self.others():
            if not self._holds_rows(name):
                self._calls.drop(name)
        self.look_again()

    def _is_old(self) -> bool:
        return time.monotonic() - self._looked > _LOOK_EVERY_SECONDS

    def _ours(self) -> dict[str, int]:
        """The schema version of every collection under the prefix."""
        versions = {name: version_of(name, self._calls.place.collection) for name in self._calls.collections()}
        return {name: version for name, version in versions.items() if version is not None}

    def _refuse_newer(self) -> None:
        """Only at the start: while a newer release takes over, the older one goes on answering."""
        for name, version in self._ours().items():
            if version > SCHEMA_VERSION:
                raise NewerSchema(
                    f"index {self._calls.place.shown}: a newer Beliefmesh has written {name}; upgrade this one"
                )

    def _make(self) -> None:
        lite = self._calls.place.lite
        self._calls.make(self.name, schema_of(self._dimensions, lite), indexes_of(lite))

    def _look(self) -> None:
        found = []
        for name in self.others():
            try:
                if name not in self._earlier:
                    self._calls.load(name)
                if self._holds_rows(name):
                    found.append(name)
            except CollectionGone:
                continue
        self._earlier = tuple(found)
        self._looked = time.monotonic()

    def _holds_rows(self, name: str) -> bool:
        return bool(self._calls.query(name, _ANY_ROW, ["row"], 1, strong=True))

    def _remove(self, name: str, condition: Condition) -> None:
        try:
            self._calls.delete(name, condition)
        except CollectionGone:
            self.look_again()
