"""What a piece of work takes of a cluster: what was asked for, or what it would like, held against what nodes have."""

from collections.abc import Sequence

import msgspec

from schemas.errors import InvalidInput


class Resources(msgspec.Struct, frozen=True):
    """CPUs and GPUs: of a node, or what work takes of one."""

    cpus: float
    gpus: float = 0.0

    def within(self, other: "Resources") -> bool:
        """Whether a node that has the other has room for this."""
        return self.cpus <= other.cpus and self.gpus <= other.gpus


def placed(nodes: Sequence[Resources], *, cpus: float | None, gpus: float | None, liked: Resources) -> Resources:
    """What to ask of these nodes, so that one of them can give it; busy or not is not looked at.

    What is asked for (`cpus`, `gpus`) must be there, what is only liked is taken as far as it is. Raises InvalidInput
    for what no node could ever give: Ray would wait for such a node without a word.
    """
    if not nodes:
        raise InvalidInput("address", "is of a cluster without a node; start one that can run the job")
    if gpus is not None and gpus > 1 and gpus != int(gpus):
        raise InvalidInput("gpus", f"is {gpus:g}; above 1 use a whole number, as Ray does")
    asked = Resources(0.0 if cpus is None else cpus, 0.0 if gpus is None else gpus)
    fitting = [node for node in nodes if asked.within(node)]
    if not fitting:
        raise _impossible(nodes, asked)
    best = max(fitting, key=lambda node: (min(node.gpus, liked.gpus), min(node.cpus, liked.cpus)))
    return Resources(
        min(liked.cpus, best.cpus) if cpus is None else cpus, min(liked.gpus, best.gpus) if gpus is None else gpus
    )


def _impossible(nodes: Sequence[Resources], asked: Resources) -> InvalidInput:
    most = Resources(max(node.cpus for node in nodes), max(node.gpus for node in nodes))
    have = f"the cluster's nodes have {', '.join(sorted({_told(node) for node in nodes}))}"
    if asked.gpus > most.gpus:
        return InvalidInput("gpus", f"is {asked.gpus:g}, but {have}; ask for fewer, or start a node that has them")
    if asked.cpus > most.cpus:
        return InvalidInput("cpus", f"is {asked.cpus:g}, but {have}; ask for fewer, or start a node that has them")
    return InvalidInput("cpus", f"are {asked.cpus:g} beside {asked.gpus:g} GPUs on one node, but {have}; ask for fewer")


def _told(node: Resources) -> str:
    return f"{node.cpus:g} CPUs and {node.gpus:g} GPUs"
