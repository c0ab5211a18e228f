"""An edge of the graph, between entities, beliefs and evidence."""

from typing import Literal

import msgspec

EdgeType = Literal[
    "mentions",  # entity -> belief
    "contextualizes",  # belief -> belief
    "derived_from",  # belief -> premise
    "causes",  # belief -> belief
    "belongs_to",  # entity -> entity
    "supersedes",  # belief -> the belief it replaced
    "same_as",  # entity -> canonical entity
    "next",  # belief -> belief told next in the same session
]


class Edge(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A directed, typed edge; ids are those of the nodes it joins."""

    src: str
    type: EdgeType
    dst: str
    weight: float = 1.0
