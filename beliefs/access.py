"""Who may see which evidence (design 3.10): the tokens of a principal and of a piece of evidence."""

from collections.abc import Iterable

from schemas.audience import GROUP_PREFIX, PUBLIC, reader_token
from schemas.evidence import Evidence
from schemas.query import Principal


def readers_of(principal: Principal) -> tuple[str, ...]:
    """The tokens that a principal may read with: the bank's, their own, and one a group."""
    groups = (reader_token(GROUP_PREFIX + group) for group in principal.groups)
    own = (f"u:{principal.id}",) if principal.id else ()
    return (PUBLIC, *own, *groups)


def audience_of(evidence: Evidence) -> tuple[str, ...]:
    """The tokens that may read a piece of evidence, sorted: the bank's, or its owner's and a group's readers'."""
    if evidence.visibility == "bank":
        return (PUBLIC,)
    tokens = {reader_token(reader) for reader in evidence.readers} if evidence.visibility == "group" else set()
    if evidence.owner:
        tokens.add(f"u:{evidence.owner}")
    return tuple(sorted(tokens))


def visible(evidence: Iterable[Evidence], principal: Principal) -> list[Evidence]:
    """The evidence that a principal may see, in the order given."""
    tokens = frozenset(readers_of(principal))
    return [piece for piece in evidence if piece.visibility == "bank" or not tokens.isdisjoint(audience_of(piece))]


def public(evidence: Iterable[Evidence]) -> list[Evidence]:
    """The evidence that the whole bank may see."""
    return [piece for piece in evidence if piece.visibility == "bank"]
