"""How much of a bank may be kept, and how much of it there is."""

import msgspec

from schemas.limits import check_number

_MOST = 1e15
MEASURES = ("beliefs", "bytes", "importance")
"""What a budget may bound, and what is measured of a bank."""


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Upper bounds of a bank; None bounds nothing. `erase` allows to destroy what no archive takes.

    `bytes` are those of evidence and slots as `wire.dump` writes them, and of vectors, without indices; `importance`
    is the sum of importance at birth (0 to 10 a belief).
    """

    beliefs: int | None = None
    bytes: int | None = None
    importance: float | None = None
    erase: bool = False


class Use(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What there is of a bank, or of a part of it, by the measures of a budget."""

    beliefs: int = 0
    bytes: int = 0
    importance: float = 0.0


def added(one: Use, other: Use) -> Use:
    """Both together."""
    return _combined(one, other, 1)


def less(one: Use, other: Use) -> Use:
    """What is left of one without the other."""
    return _combined(one, other, -1)


def check_budget(budget: Budget, field: str) -> None:
    """Raises InvalidInput unless every bound is at least one belief, byte or point."""
    for name in MEASURES:
        bound = getattr(budget, name)
        if bound is not None:
            check_number(bound, f"{field}.{name}", 1, _MOST)


class BudgetReport(msgspec.Struct, frozen=True, kw_only=True):
    """A bank's bounds, and how much there was of it when it was last measured; `fullness` of the fullest measure.

    `measured_at` is ISO 8601 text; None where it was never measured, and then use is not known. `note` is what the
    last run of the job `budget` could not bring about, "" if nothing.
    """

    bank: str
    budget: Budget
    use: Use
    fullness: float
    measured_at: str | None = None
    note: str = ""


def _combined(one: Use, other: Use, sign: int) -> Use:
    return Use(
        beliefs=one.beliefs + sign * other.beliefs,
        bytes=one.bytes + sign * other.bytes,
        importance=one.importance + sign * other.importance,
    )
