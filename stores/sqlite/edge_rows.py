"""How a slot's edges stand in the embedded graph: under both of their ends."""

from collections.abc import Iterator

from schemas.slot import Slot

DROP_EDGE = """
DELETE FROM edge_ends
WHERE bank = ? AND node = ? AND weight = ? AND type = ? AND other = ? AND outward = ? AND slot = ?
"""

Row = tuple[str | int | float | bytes | None, ...]


def edge_rows(slot: Slot, no: int) -> Iterator[Row]:
    """A slot's edges as DROP_EDGE and _ADD_EDGE take them, under both ends."""
    for edge in slot.edges:
        yield slot.bank, edge.src, edge.weight, edge.type, edge.dst, 1, no
        yield slot.bank, edge.dst, edge.weight, edge.type, edge.src, 0, no
