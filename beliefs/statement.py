"""How a belief reads: its newest evidence's own words, else its parts, with its exceptions."""

from collections.abc import Sequence

from schemas.claim import Scope, Stance, Value
from schemas.entity import Entity

_VERBS: dict[Stance, str] = {"supports": "is", "refutes": "is not", "retracts": "is no longer"}


def compose(
    entity: Entity, attribute: str | None, value: Value | None, scope: Scope, stance: Stance = "supports"
) -> str:
    """A plain sentence for a claim that came without words, as in "shop policy: returns is 30 days (region: EU)"."""
    told = f"{entity.name}: {attribute or 'something'} {_VERBS[stance]} {'set' if value is None else spell(value)}"
    return f"{told} ({spell_scope(scope)})" if scope else told


def with_exceptions(statement: str, exceptions: Sequence[Scope]) -> str:
    """The statement, followed by the scopes in which something else holds."""
    if not exceptions:
        return statement
    spelled = "; ".join(spell_scope(scope) for scope in exceptions)
    return f"{statement.rstrip(' .。')}, except {spelled}"


def spell(value: Value | None) -> str:
    """A value as a reader expects it: booleans as yes and no, whole floats without a point."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
    return str(value)


def spell_scope(scope: Scope) -> str:
    """A scope as "name: value" pairs."""
    return ", ".join(f"{name}: {value}" for name, value in scope)
