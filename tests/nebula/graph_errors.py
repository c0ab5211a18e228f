"""What graphd answers when a statement fails: the code and the text (reference, section 6).

Section 6 gives the texts by which a client tells errors apart; where it gives only their beginning, the rest is ours.
"""

SUCCEEDED = 0
BAD_LOGIN = -1001
SESSION_INVALID = -1002
SYNTAX = -1004
EXECUTION = -1005
STATEMENT_EMPTY = -1006
BAD_PERMISSION = -1008
SEMANTIC = -1009


class Refused(Exception):
    """A statement that graphd does not run or did not finish: the code and the text of its reply."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def syntax(text: str) -> Refused:
    """The grammar does not have it: a mistake of whoever wrote the statement."""
    return Refused(SYNTAX, f"SyntaxError: {text}")


def unspoken(what: str) -> Refused:
    """NebulaGraph may have it, this stand-in has not: so no test can lean on it."""
    return syntax(f"the stand-in does not speak {what}")


def semantic(text: str) -> Refused:
    """The statement does not fit the schema that graphd has in its cache, or the types of its parts."""
    return Refused(SEMANTIC, f"SemanticError: {text}")


def storage(text: str) -> Refused:
    """What storaged answered; its own codes do not reach the client, only the text."""
    return Refused(EXECUTION, f"Storage Error: {text}")


def execution(text: str) -> Refused:
    """What the meta service answered, or graphd about what it looked up there."""
    return Refused(EXECUTION, text)


def absent(kind: str) -> Refused:
    """What the meta service has not; the reference does not give the text."""
    return execution(f"{kind.capitalize()} not existed!")


def not_found(kind: str, name: str) -> Refused:
    """What graphd does not know, or not yet: `kind` is Space, Tag or Edge."""
    return execution(f"{kind}NotFound: {kind}Name `{name}`")


def no_schema(name: str) -> Refused:
    """A tag or edge type that graphd does not know, or not yet (section 12, case 11)."""
    return semantic(f"No schema found for `{name}'")


def no_index() -> Refused:
    """A LOOKUP on what has no index, or none that graphd knows yet (section 9)."""
    return execution("IndexNotFound: No valid index found")


ROW_NOT_FOUND = "Vertex or edge not found."
WRONG_TYPE_INSERTED = "The data type does not meet the requirements. Use the correct type of data."
WRONG_TYPE_UPDATED = "Invalid data, may be wrong value type."
NOT_NULL = "The not null field cannot be null."
NO_DEFAULT = "The not null field doesn't have a default value."
NO_VALUE_UPSERTED = "Invalid field value: may be the filed is not NULL or without default value or wrong schema."
OUT_OF_RANGE = "Out of range value."
VID_TOO_LONG = "The VID must be a 64-bit integer or a string fitting space vertex id length limit."
BUSY = "More than one request trying to add/update/delete one edge/vertex at the same time."
SPACE_NOT_STORED = "Space not found."
TAG_NOT_STORED = "Tag not found."


def not_leader(part: int) -> Refused:
    """The partition's leader is elsewhere now; nothing of that partition was written."""
    return storage(f"Not the leader of {part}. Please retry later.")
