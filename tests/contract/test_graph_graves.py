"""How a graph store keeps what was forgotten: by bank, for good, and told apart in one look."""

from collections.abc import Callable

from stores.ports import GraphStore


def test_graves_are_kept_by_bank(reopen_graph: Callable[[], GraphStore]) -> None:
    store = reopen_graph()
    assert (store.burials("acme"), store.buried("acme", ["g1"])) == (0, set())

    store.bury("acme", ["g1", "g2"])
    store.bury("acme", ["g1"])

    again = reopen_graph()
    assert again.buried("acme", ["g1", "g2", "g3"]) == {"g1", "g2"}
    assert again.buried("other", ["g1"]) == set()
    assert again.burials("other") == 0
    assert again.banks() == []


def test_every_burial_is_noticed(graph_store: GraphStore) -> None:
    graph_store.bury("acme", ["g1"])
    first = graph_store.burials("acme")

    graph_store.bury("acme", ["g2"])

    assert graph_store.burials("acme") > first > 0


def test_many_graves_are_kept_and_found(graph_store: GraphStore) -> None:
    graves = [f"{number:032x}" for number in range(700)]

    graph_store.bury("acme", graves)

    assert graph_store.buried("acme", [*graves, "unknown"]) == set(graves)


def test_a_wiped_store_holds_what_it_held(graph_store: GraphStore) -> None:
    graph_store.bury("acme", ["g1"])

    graph_store.wipe()

    assert graph_store.buried("acme", ["g1"]) == {"g1"}
