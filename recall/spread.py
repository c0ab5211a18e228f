"""Spreading activation: from what the question names and first finds, over the edges of the graph, to what is related.

Collins and Loftus (1975), A spreading-activation theory of semantic processing. A node gives each neighbour

    activation * DECAY * weight of the edge's type * weight of the edge / sqrt(edges of the node)

so that a hub, which is related to everything, passes little to each. A node keeps the sum of what it receives.
"""

import math
from collections.abc import Mapping, Sequence

from recall.question import Question, Sources
from schemas.edge import Edge, EdgeType
from stores.ports import Hit

HOPS = 2
DECAY = 0.5
THRESHOLD = 0.01
"""A node with less activation passes nothing on."""

FAN_OUT = 24
"""How many edges of a node are followed, strongest first."""

FRONTIER = 20
"""How many nodes pass activation on in one hop, most active first."""

SEEDS = 6
"""How many of the first hits of each earlier retriever are seeds."""

MOST = 50
"""How many beliefs are returned at most; further ones have next to no activation."""

WEIGHTS: Mapping[EdgeType, float] = {
    "causes": 1.0,
    "derived_from": 1.0,
    "mentions": 0.8,
    "same_as": 0.0,
    "belongs_to": 0.6,
    "contextualizes": 0.5,
    "next": 0.4,
    "supersedes": 0.3,
}
"""Why and about whom tell more than what was said next, and what a belief replaced is seldom asked for.

A conclusion leads to its premises; not a premise to what was concluded from it, since what merely retells it, as
narratives and summaries do, would come before it.

Which entities are one is for the asker's sight to say: those that are the same as a seed are seeds (question.py).
"""

_BELIEF = "b"


def retrieve(question: Question, sources: Sources) -> list[Hit] | None:
    """Beliefs by the activation that reaches them; None when there is nothing to start from."""
    active = _seeds(question)
    if not active:
        return None
    received: dict[str, float] = {}
    passed: set[str] = set()
    frontier = active
    for hop in range(HOPS):
        sending = _strongest(frontier, passed)
        if hop:
            sending = _open(sending, question.query.bank, sources)
        if not sending:
            break
        passed.update(sending)
        edges = sources.graph.neighbours(question.query.bank, list(sending), FAN_OUT)
        frontier = _pass_on(sending, edges)
        for node, amount in frontier.items():
            received[node] = received.get(node, 0.0) + amount
    hits = [Hit(node, amount) for node, amount in received.items() if node.startswith(_BELIEF)]
    return sorted(hits, key=_best_first)[: min(MOST, question.depth)]


def _open(sending: Mapping[str, float], bank: str, sources: Sources) -> dict[str, float]:
    """Without the beliefs of slots that hold anything private: nobody finds through them what lies behind."""
    found = sources.graph.beliefs(bank, [node for node in sending if node.startswith(_BELIEF)])
    slots = sources.graph.slots(bank, sorted({belief.slot for belief in found.values()}))
    shut = {node for node, belief in found.items() if belief.slot not in slots or slots[belief.slot].restricted}
    return {node: amount for node, amount in sending.items() if node not in shut}


def _seeds(question: Question) -> dict[str, float]:
    """Entities named have activation 1; first hits have their share of the best score's lead over the list's last."""
    active = dict.fromkeys(question.subjects, 1.0)
    active.update(dict.fromkeys(question.named, 1.0))
    for hits in question.seeds.values():
        for hit, share in _shares(hits):
            active[hit.belief] = max(share, active.get(hit.belief, 0.0))
    return active


def _shares(hits: Sequence[Hit]) -> list[tuple[Hit, float]]:
    if not hits:
        return []
    best, last = hits[0].score, hits[-1].score
    reach = best - last
    return [(hit, (hit.score - last) / reach if reach > 0 else 1.0) for hit in hits[:SEEDS]]


def _strongest(active: Mapping[str, float], passed: set[str]) -> dict[str, float]:
    able = [(amount, node) for node, amount in active.items() if amount >= THRESHOLD and node not in passed]
    able.sort(key=lambda pair: (-pair[0], pair[1]))
    return {node: amount for amount, node in able[:FRONTIER]}


def _pass_on(sending: Mapping[str, float], edges: Sequence[Edge]) -> dict[str, float]:
    """What each neighbour receives; sums run in the order of nodes, so that equal graphs give equal hits."""
    degree: dict[str, int] = {}
    for edge in edges:
        for node in (edge.src, edge.dst):
            if node in sending:
                degree[node] = degree.get(node, 0) + 1
    received: dict[str, float] = {}
    for edge in edges:
        for node, other in ((edge.src, edge.dst), (edge.dst, edge.src)):
            amount = sending.get(node)
            if amount is not None and other != node:
                upward = edge.type == "derived_from" and node == edge.dst
                weight = 0.0 if upward else WEIGHTS[edge.type]
                share = amount * DECAY * weight * edge.weight / math.sqrt(degree[node])
                received[other] = received.get(other, 0.0) + share
    return received


def _best_first(hit: Hit) -> tuple[float, str]:
    return (-hit.score, hit.belief)
