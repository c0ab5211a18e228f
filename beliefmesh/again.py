"""Decides all slots of a bank again, because its policy is another."""

from beliefmesh.home import Home

_SLOTS_AT_ONCE = 1_000


def decide_again(home: Home, bank: str) -> None:
    """Have every slot of the bank reviewed; without a background worker it is done on return."""
    after = ""
    while slots := home.graph.scan(bank, after, _SLOTS_AT_ONCE):
        home.worker.review([(bank, slot) for slot in slots])
        after = slots[-1]
    if not home.streaming:
        home.worker.drain()
