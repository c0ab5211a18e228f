"""The store of LangGraph over a memory, in a folder and elsewhere: it does what LangGraph's own memory store does."""

import asyncio
import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from beliefmesh.home import system_clock
from beliefmesh.langgraph import belief_store
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.errors import InvalidInput, MissingExtra

VALUES: list[dict[str, Any]] = [
    {},
    {"text": "Tea", "n": 1, "f": 0.1, "big": 2**70, "yes": True, "none": None},
    {"deep": {"list": [1, [2, {"三": "茶\u0000\n\t😀"}]], "": ""}, "e": 1e300, "neg": -0.0},
]


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """A memory on the real clock, since what is put bears no dates."""
    return open_memory(clock=system_clock)


@pytest.fixture(params=["here", "elsewhere"])
def store(request: pytest.FixtureRequest, memory: Memory) -> BaseStore:
    """The store over a memory in this process, and over one that is served."""
    over = memory if request.param == "here" else RemoteMemory(request.getfixturevalue("url"))
    opened: BaseStore = belief_store(over, bank="agents")
    return opened


@pytest.mark.parametrize("value", VALUES, ids=["empty", "flat", "deep"])
def test_a_value_comes_back_exactly(store: BaseStore, value: dict[str, Any]) -> None:
    store.put(("users", "ana"), "k", value)

    item = store.get(("users", "ana"), "k")

    assert item is not None
    assert item.value == value
    assert repr(item.value) == repr(value)
    assert (item.namespace, item.key) == (("users", "ana"), "k")


def test_the_newest_put_holds_and_the_item_keeps_the_time_of_its_first(store: BaseStore) -> None:
    store.put(("a",), "k", {"v": "Tea"})
    first = store.get(("a",), "k")
    for value in ("tea", "TEA", "Tea"):
        store.put(("a",), "k", {"v": value})
        item = store.get(("a",), "k")
        assert item is not None
        assert item.value == {"v": value}
    assert first is not None
    assert item.created_at == first.created_at
    assert item.updated_at > first.updated_at


def test_names_differ_by_case_and_space_and_by_where_they_are_split(store: BaseStore) -> None:
    places = [(("a",), "k"), (("a",), "K"), (("A",), "k"), (("a",), " k"), (("a", "b"), "c"), (("a",), "b/c")]
    for count, (namespace, key) in enumerate(places):
        store.put(namespace, key, {"n": count})

    found = [store.get(namespace, key) for namespace, key in places]

    assert [item.value["n"] for item in found if item] == list(range(len(places)))
    assert len(store.search(())) == len(places)


def test_what_is_deleted_is_gone_until_it_is_put_again(store: BaseStore) -> None:
    store.delete(("a",), "never")
    store.put(("a",), "k", {"v": 1})
    store.put(("a",), "k", {"v": 2})
    store.delete(("a",), "k")

    assert store.get(("a",), "k") is None
    assert store.search(("a",)) == []
    assert store.list_namespaces() == []
    store.put(("a",), "k", {"v": 3})
    again = store.get(("a",), "k")
    assert again is not None
    assert again.value == {"v": 3}
    assert again.created_at == again.updated_at


def test_filters_prefixes_pages_and_namespaces_are_as_in_langgraphs_own_store(store: BaseStore) -> None:
    model = InMemoryStore()
    for each in (store, model):
        for count in range(6):
            kind = "even" if count % 2 == 0 else "odd"
            each.put(("docs", kind, f"v{count % 3}"), f"k{count}", {"n": count, "kind": kind, "in": {"x": [count]}})
        each.put(("other",), "k", {"n": 9})

    def found(of: BaseStore, prefix: tuple[str, ...], **asked: Any) -> list[tuple[tuple[str, ...], str]]:
        return sorted((item.namespace, item.key) for item in of.search(prefix, **asked))

    for prefix, filter in [
        ((), None),
        (("docs",), None),
        (("docs", "even"), None),
        (("doc",), None),
        (("docs",), {"kind": "odd"}),
        (("docs",), {"n": {"$gte": 2, "$lt": 4}}),
        (("docs",), {"n": {"$ne": 2}}),
        (("docs",), {"in": {"x": [3]}}),
        (("docs",), {"kind": {"$eq": "even"}, "n": {"$gt": 0}}),
    ]:
        assert found(store, prefix, filter=filter) == found(model, prefix, filter=filter), (prefix, filter)
    assert len(store.search(("docs",), limit=2, offset=5)) == 1
    assert [item.value["n"] for item in store.search(("docs",), limit=2)] == [5, 4]
    for asked in (
        {},
        {"prefix": ("docs",)},
        {"prefix": ("docs", "*", "v1")},
        {"suffix": ("v2",)},
        {"prefix": ("docs",), "max_depth": 2},
        {"limit": 2, "offset": 1},
        {"prefix": ("docs", "even"), "suffix": ("*", "v0")},
    ):
        assert store.list_namespaces(**asked) == model.list_namespaces(**asked), asked


def test_a_query_finds_items_by_what_they_say_best_first_and_not_what_is_not_indexed(store: BaseStore) -> None:
    store.put(("notes", "ana"), "tea", {"text": "Ana drinks green tea.", "secret": "harbour"}, index=["text"])
    store.put(("notes", "ana"), "car", {"text": "Ana drives a blue car."})
    store.put(("notes", "bob"), "tea", {"text": "Bob drinks black tea."})
    store.put(("notes", "ana"), "hidden", {"text": "Ana drinks tea at night."}, index=False)

    found = store.search(("notes", "ana"), query="Who drinks tea?", limit=2)

    assert found[0].key == "tea"
    assert found[0].score is not None
    assert "hidden" not in [item.key for item in store.search(("notes",), query="tea at night")]
    assert {item.namespace for item in found} == {("notes", "ana")}
    assert store.search(("notes",), query="drinks tea", filter={"text": "Bob drinks black tea."})[0].key == "tea"
    assert store.get(("notes", "ana"), "hidden") is not None


def test_a_query_in_chinese_finds_what_is_written_in_chinese(store: BaseStore) -> None:
    for key, text in enumerate(("王小明喜欢喝绿茶。", "会议在三号会议室。", "价格是二十元。", "办公室的门是红色的。")):
        store.put(("notes",), f"{key}", {"文": text}, index=["文"] if key % 2 else None)

    assert store.search(("notes",), query="喜欢喝绿茶", limit=1)[0].key == "0"
    assert store.search(("notes",), query="三号会议室", limit=1)[0].key == "1"


def test_a_batch_reads_before_it_puts_and_keeps_the_last_word_on_an_item(store: BaseStore) -> None:
    store.put(("a",), "k", {"v": 0})

    results = store.batch(
        [
            PutOp(("a",), "k", {"v": 1}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"v": 2}),
            SearchOp(("a",)),
            PutOp(("a",), "other", {"v": 3}),
        ]
    )

    assert results[0] is results[2] is results[4] is None
    assert results[1].value == {"v": 0}  # type: ignore[union-attr]
    assert [item.value for item in results[3]] == [{"v": 0}]  # type: ignore[union-attr]
    assert [item.value for item in store.search(("a",))][::-1] in ([{"v": 2}, {"v": 3}], [{"v": 3}, {"v": 2}])


def test_it_can_be_awaited(store: BaseStore) -> None:
    async def awaited() -> list[Any]:
        await store.aput(("a",), "k", {"v": 1})
        await asyncio.gather(*(store.aput(("b",), f"k{each}", {"v": each}) for each in range(5)))
        item = await store.aget(("a",), "k")
        found = await store.asearch(("b",))
        await store.adelete(("a",), "k")
        return [item.value if item else None, len(found), await store.aget(("a",), "k"), await store.alist_namespaces()]

    assert asyncio.run(awaited()) == [{"v": 1}, 5, None, [("b",)]]


def test_what_other_use_put_into_the_bank_is_no_item(store: BaseStore, memory: Memory) -> None:
    memory.retain("The tea is cold.", bank="agents")
    memory.retain({"claims": [{"entity": "x", "attribute": "item", "value": "y"}]}, bank="agents")

    assert store.search((), query="tea") == store.search(()) == []


@pytest.mark.parametrize(
    "value", [{"a": float("nan")}, {"a": {1: 2}}, {"a": (1, 2)}, {"a": object()}, {"a": "\ud800"}, [1], "x"]
)
def test_a_value_that_would_not_come_back_exactly_is_refused(store: BaseStore, value: Any) -> None:
    with pytest.raises(InvalidInput, match="value"):
        store.put(("a",), "k", value)
    assert store.get(("a",), "k") is None


def test_a_time_to_live_is_refused_and_so_are_namespaces_that_langgraph_refuses(store: BaseStore) -> None:
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("a",), "k", {}, ttl=5)
    with pytest.raises(NotImplementedError, match="ttl"):
        store.batch([PutOp(("a",), "k", {}, ttl=5)])
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])
    store.put(("a",), "k", {"n": 1})
    with pytest.raises(InvalidInput, match="operator"):
        store.search(("a",), filter={"n": {"$near": 1}})


def test_without_langgraph_the_error_names_what_to_install(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemas.extras.is_installed", lambda _: False)

    with pytest.raises(MissingExtra, match=r"beliefmesh\[langgraph\]"):
        belief_store(memory)
    assert importlib.util.find_spec("beliefmesh.langgraph") is not None
