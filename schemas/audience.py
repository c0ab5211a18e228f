"""Who may see a piece of evidence, and what a principal may read with: tokens that a store can filter by."""

from schemas.evidence import Evidence
from schemas.query import Principal

PUBLIC = "*"
"""The token of what the whole bank may see."""

GROUP_PREFIX = "group:"
"""Marks a group among the readers of an observation; any other reader is a principal's id."""


def reader_token(reader: str) -> str:
    """The token of one reader: `g:NAME` for `group:NAME`, else `u:ID`."""
    if reader.startswith(GROUP_PREFIX):
        return "g:" + reader[len(GROUP_PREFIX) :]
    return "u:" + reader


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
