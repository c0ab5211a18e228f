"""Goes through all slots of a bank, a page at a time."""

from collections.abc import Iterator

from schemas.slot import StoredSlot
from stores.ports import GraphStore

_PAGE = 500


def slot_pages(graph: GraphStore, bank: str) -> Iterator[dict[str, StoredSlot]]:
    """Every slot of a bank with its evidence, each entity's apart, in id order."""
    after = ""
    while ids := graph.scan(bank, after, _PAGE):
        stored = graph.load_slots(bank, ids)
        yield {id: stored[id] for id in ids if id in stored}
        after = ids[-1]


def all_slots(graph: GraphStore, bank: str) -> Iterator[StoredSlot]:
    """The same, slot by slot."""
    return (stored for page in slot_pages(graph, bank) for stored in page.values())
