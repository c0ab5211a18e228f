"""What a belief is worth keeping for, term by term; and what was learned of that from outcomes."""

from typing import Any

import msgspec


class Worth(msgspec.Struct, frozen=True, kw_only=True):
    """The value of a belief: the sum of its terms, which a pinned one goes before whatever they are.

    `by` says which value is in force: `heuristic`, or `learned N` for the bank's model of version N. `holds` says that
    its slot is held, so that a plan never drops it.
    """

    belief: str
    statement: str
    value: float
    by: str
    terms: dict[str, float]
    features: dict[str, Any]
    pinned: bool = False
    holds: bool = False


class ValueModel(msgspec.Struct, frozen=True, kw_only=True):
    """A logistic model of being of use: weights of scaled features by name, and how good it is on held-out outcomes.

    `auc` is the chance that it puts a belief that was of use before one that was not; `heuristic_auc` that of the
    heuristic. It is in force only where it is the better one.
    """

    version: int
    bias: float
    weights: dict[str, float]
    means: dict[str, float]
    scales: dict[str, float]
    outcomes: int
    credited: int
    held_out: int
    auc: float
    heuristic_auc: float
    in_force: bool


class LearnedValue(msgspec.Struct, frozen=True, kw_only=True):
    """What came of learning: the model if there were outcomes enough, and in words which value is in force and why."""

    bank: str
    outcomes: int
    credited: int
    by: str
    reason: str
    model: ValueModel | None = None
