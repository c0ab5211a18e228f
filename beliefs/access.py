"""Who may see which evidence (design 3.10): the tokens of a principal and of a piece of evidence."""

from collections.abc import Iterable

from schemas.audience import audience_of, readers_of
from schemas.evidence import Evidence
from schemas.query import Principal


def visible(evidence: Iterable[Evidence], principal: Principal) -> list[Evidence]:
    """The evidence that a principal may see, in the order given."""
    tokens = frozenset(readers_of(principal))
    return [piece for piece in evidence if piece.visibility == "bank" or not tokens.isdisjoint(audience_of(piece))]


def public(evidence: Iterable[Evidence]) -> list[Evidence]:
    """The evidence that the whole bank may see."""
    return [piece for piece in evidence if piece.visibility == "bank"]
