"""Who may see a piece of evidence, as tokens that a store can filter by."""

PUBLIC = "*"
"""The token of what the whole bank may see."""

GROUP_PREFIX = "group:"
"""Marks a group among the readers of an observation; any other reader is a principal's id."""


def reader_token(reader: str) -> str:
    """The token of one reader: `g:NAME` for `group:NAME`, else `u:ID`."""
    if reader.startswith(GROUP_PREFIX):
        return "g:" + reader[len(GROUP_PREFIX) :]
    return "u:" + reader
