"""How scopes relate: a scope is a set of qualifiers, and fewer qualifiers reach wider (design 3.5)."""

from schemas.claim import Scope


def covers(wide: Scope, narrow: Scope) -> bool:
    """Whether `wide` reaches everything that `narrow` reaches: equal or wider."""
    return wide == narrow or not wide or set(wide) <= set(narrow)


def narrower(one: Scope, other: Scope) -> bool:
    """Whether `one` is strictly narrower than `other`."""
    return one != other and covers(other, one)


def disjoint(one: Scope, other: Scope) -> bool:
    """Whether no case lies in both: they give one qualifier two different values."""
    names = dict(one)
    return any(names.get(name, value) != value for name, value in other)


def overlapping(one: Scope, other: Scope) -> bool:
    """Whether they share some cases and each has cases of its own."""
    return not (covers(one, other) or covers(other, one) or disjoint(one, other))


def specificity(scope: Scope) -> int:
    """How many qualifiers a scope has; more is narrower."""
    return len(scope)
