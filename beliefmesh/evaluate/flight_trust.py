"""Which cells of the first days teach trust, so that the other days can judge it."""

import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import msgspec

from jobs.calibrating import Calibration
from schemas.entity import Entity
from schemas.errors import InvalidInput
from schemas.gold import Gold
from schemas.instant import instant_of

ENTITY_TYPE = "flight"

Cell = tuple[str, str]
"""Entity and column."""


class Labels(msgspec.Struct, frozen=True):
    """How many of the first days teach, by how many cells, drawn by which seed."""

    days: int
    count: int
    seed: int


class TrueCell(msgspec.Struct, frozen=True):
    """A cell whose truth is known."""

    entity: str
    column: str
    value: str
    day: date


def divided(known: Mapping[Cell, TrueCell], labels: Labels) -> tuple[list[TrueCell], dict[Cell, TrueCell]]:
    """The cells to learn from, drawn from the first days, and all cells of the other days.

    Where the first days would be all days, they are the first half. Raises InvalidInput for a single day.
    """
    days = sorted({cell.day for cell in known.values()})
    if len(days) < 2:
        raise InvalidInput("calibrate_days", f"needs two days at least, and the gold has {len(days)}")
    first = set(days[: labels.days if labels.days < len(days) else len(days) // 2])
    teaching = [known[place] for place in sorted(known) if known[place].day in first]
    drawn = random.Random(labels.seed).sample(teaching, min(labels.count, len(teaching)))  # noqa: S311
    return drawn, {place: cell for place, cell in known.items() if cell.day not in first}


def gold_of_cell(cell: TrueCell) -> Gold:
    """A cell as an answer that is known, on its day."""
    at = instant_of(datetime(cell.day.year, cell.day.month, cell.day.day))
    return Gold(Entity(cell.entity, ENTITY_TYPE), cell.column, cell.value, at)


def told_of(
    labels: Labels, learned: Sequence[TrueCell], judged: Mapping[Cell, TrueCell], done: Calibration
) -> dict[str, Any]:
    """The calibration as the evaluation prints it."""
    return {
        "labels": len(learned),
        "seed": labels.seed,
        "outcomes": sum(one.outcomes for one in done.sources),
        "judged_days": len({cell.day for cell in judged.values()}),
        "learned_from": {"before": msgspec.to_builtins(done.before), "after": msgspec.to_builtins(done.after)},
    }
