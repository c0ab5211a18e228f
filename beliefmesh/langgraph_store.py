"""The store of LangGraph (`langgraph.store.base.BaseStore`) over one bank of a memory."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from beliefmesh.langgraph_item import (
    ATTRIBUTE,
    KeptItem,
    Namespace,
    deletion,
    json_of,
    leaves_of,
    put,
    slot_of_item,
    stored_in,
)
from beliefmesh.langgraph_match import fits, is_under, lies
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.belief import LIVE
from schemas.errors import InvalidInput, NotFound
from schemas.limits import MAX_ITEMS

_MORE = 4


class BeliefStore(BaseStore):
    """Items by namespace and key. Within a batch, what reads sees the items as they were before what is put in it."""

    supports_ttl = False

    def __init__(
        self, memory: Memory | RemoteMemory, *, bank: str | None = None, fields: Sequence[str] = ("$",)
    ) -> None:
        self.memory = memory
        self._bank = bank
        self._fields = tuple(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what is asked, in this order: everything that reads, then what is put, all of it or nothing."""
        wanted = list(ops)
        for op in wanted:
            validate_op_namespace(op)
        results = [self._read(op) for op in wanted]
        self._put([op for op in wanted if isinstance(op, PutOp)])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                held = self._held(op.namespace, op.key)
                return None if held is None else _item(held)
            case SearchOp():
                found = self._ranked(op, op.query) if op.query else ((one, None) for one in self._listed(op))
                return [_search_item(one, score) for one, score in list(found)[op.offset : op.offset + op.limit]]
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise InvalidInput("ops", f"hold {type(op).__name__}, which is no operation of a store")

    def _put(self, ops: Sequence[PutOp]) -> None:
        """Tell the last word on each item of a batch, at once."""
        last = {(op.namespace, op.key): op for op in ops}
        told = [said for op in last.values() if (said := self._said(op)) is not None]
        if told:
            self.memory.retain(told, bank=self._bank)

    def _said(self, op: PutOp) -> dict[str, object] | None:
        if op.ttl is not None:
            raise NotImplementedError("ttl is not supported: what is put stays until it is deleted; leave ttl out")
        held = self._held(op.namespace, op.key)
        if op.value is None:
            return None if held is None else deletion(op.namespace, op.key)
        json_of(op.value)
        return put(op.namespace, op.key, op.value, self._texts(op), held.created_at if held else None)

    def _texts(self, op: PutOp) -> list[str] | None:
        if op.index is False:
            return None
        paths = self._fields if op.index is None else op.index
        return [text for path in paths for text in _texts_at(op.value, path)]

    def _held(self, namespace: Namespace, key: str) -> KeptItem | None:
        slot = slot_of_item(namespace, key)
        with suppress(NotFound):
            page = self.memory.beliefs(bank=self._bank, statuses=LIVE, **slot)
            return max(filter(None, map(stored_in, page.beliefs)), key=_age, default=None)
        return None

    def _all(self) -> list[KeptItem]:
        """Every item, the one put last first."""
        found: dict[tuple[Namespace, str], KeptItem] = {}
        for one in self._scanned():
            place = (one.namespace, one.key)
            found[place] = max(one, found.get(place, one), key=_age)
        return sorted(found.values(), key=_age, reverse=True)

    def _scanned(self) -> Iterator[KeptItem]:
        after = ""
        with suppress(NotFound):  # a bank into which nothing was put yet
            while True:
                page = self.memory.beliefs(
                    bank=self._bank, attribute=ATTRIBUTE, statuses=LIVE, limit=MAX_ITEMS, after=after
                )
                yield from filter(None, map(stored_in, page.beliefs))
                if not page.next:
                    return
                after = page.next

    def _listed(self, op: SearchOp) -> Iterator[KeptItem]:
        return (one for one in self._all() if _admits(op, one))

    def _ranked(self, op: SearchOp, query: str) -> list[tuple[KeptItem, float | None]]:
        """What answers a query best first, from as many recalled as it takes to fill the page asked for."""
        reach = min(MAX_ITEMS, max(1, op.offset + op.limit))
        while True:
            try:
                answer = self.memory.recall(query, bank=self._bank, attribute=ATTRIBUTE, limit=reach)
            except NotFound:
                return []
            kept = ((stored_in(found.belief), found.score) for found in answer.found)
            fit = [(one, score) for one, score in kept if one is not None and one.found and _admits(op, one)]
            if len(fit) >= op.offset + op.limit or len(answer.found) < reach or reach == MAX_ITEMS:
                return list(fit)
            reach = min(MAX_ITEMS, reach * _MORE)

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {one.namespace for one in self._scanned()}
        fit = (one for one in found if all(lies(one, each.path, each.match_type) for each in conditions))
        return sorted({one[: op.max_depth] for one in fit})[op.offset : op.offset + op.limit]


def _texts_at(value: object, path: str) -> Iterable[str]:
    return leaves_of(value) if path == "$" else get_text_at_path(value, tokenize_path(path))


def _admits(op: SearchOp, one: KeptItem) -> bool:
    under = is_under(one.namespace, op.namespace_prefix)
    return under and all(fits(one.value.get(name), asked) for name, asked in (op.filter or {}).items())


def _item(one: KeptItem) -> Item:
    return Item(
        value=one.value, key=one.key, namespace=one.namespace, created_at=one.created_at, updated_at=one.updated_at
    )


def _search_item(one: KeptItem, score: float | None) -> SearchItem:
    return SearchItem(one.namespace, one.key, one.value, one.created_at, one.updated_at, score)


def _age(one: KeptItem) -> tuple[object, ...]:
    return (one.updated_at, one.namespace, one.key)
