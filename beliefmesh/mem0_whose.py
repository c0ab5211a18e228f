"""Whose a memory is, in the words of mem0: a user's, an agent's, a run's; and who may therefore see it here.

A user is a principal; an agent and a run are groups (`agent:NAME`, `run:NAME`). What is told for several of them may
be seen by each, and is found by whoever is named together with it.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import msgspec

from schemas.audience import GROUP_PREFIX
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.limits import check_name
from schemas.query import Principal

_AGENT, _RUN = "agent:", "run:"
_MARK = "~"
_FIELDS = ("user_id", "agent_id", "run_id")


class Whose(msgspec.Struct, frozen=True):
    """The user, the agent and the run that a memory is of; at least one of them."""

    user: str = ""
    agent: str = ""
    run: str = ""

    @property
    def principal(self) -> Principal:
        """Who asks for them."""
        return Principal(self.user, tuple(reader.removeprefix(GROUP_PREFIX) for reader in self.groups))

    @property
    def groups(self) -> tuple[str, ...]:
        """Agent and run as readers."""
        named = ((_AGENT, self.agent), (_RUN, self.run))
        return tuple(f"{GROUP_PREFIX}{kind}{name}" for kind, name in named if name)

    @property
    def readers(self) -> tuple[str, ...]:
        """All of them as readers."""
        return (self.user, *self.groups) if self.user else self.groups

    @property
    def voice(self) -> str:
        """Who speaks where nobody else is named."""
        return self.user or self.agent or self.run

    def audience(self) -> dict[str, object]:
        """The fields of an observation that is for them alone."""
        return {"visibility": "group", "readers": list(self.readers), "owner": self.readers[0]}

    def has(self, piece: Evidence) -> bool:
        """Whether a piece of evidence was told for all of them."""
        return piece.visibility == "group" and set(self.readers) <= set(piece.readers)

    def named(self) -> dict[str, str]:
        """Them by the names that mem0 gives them."""
        return {field: name for field, name in zip(_FIELDS, (self.user, self.agent, self.run), strict=True) if name}


def whose(user_id: object, agent_id: object, run_id: object) -> Whose:
    """Those named. Raises InvalidInput where nobody is."""
    given = dict(zip(_FIELDS, (user_id, agent_id, run_id), strict=True))
    names = {field: check_name(name, field) for field, name in given.items() if name is not None}
    if not names:
        raise InvalidInput("user_id", "is missing; say whose memory it is: user_id, agent_id or run_id, or several")
    for field, name in names.items():
        if name != name.strip() or "," in name or name.startswith(GROUP_PREFIX):
            raise InvalidInput(field, f"{name!r:.80} has outer spaces, a comma or begins with {GROUP_PREFIX!r}")
    return Whose(*(names.get(field, "") for field in _FIELDS))


def whose_among(
    user_id: object, agent_id: object, run_id: object, filters: Mapping[str, Any] | None
) -> tuple[Whose, dict[str, Any]]:
    """Those named as arguments or among the filters, and the other filters."""
    if filters is not None and not isinstance(filters, Mapping):
        raise InvalidInput("filters", f"must be an object, not {type(filters).__name__}")
    rest = dict(filters or {})
    given = (user_id, agent_id, run_id)
    named = [rest.pop(field, None) if name is None else name for field, name in zip(_FIELDS, given, strict=True)]
    return whose(*named), rest


def whose_is(piece: Evidence) -> Whose:
    """Whose a piece of evidence is, by its readers."""
    user = agent = run = ""
    for reader in piece.readers:
        name = reader.removeprefix(GROUP_PREFIX)
        if name == reader:
            user = reader
        elif name.startswith(_AGENT):
            agent = name.removeprefix(_AGENT)
        elif name.startswith(_RUN):
            run = name.removeprefix(_RUN)
    return Whose(user, agent, run)


def marked(id: str, of: Whose) -> str:
    """The id of a memory: that of its belief, marked with whose it is, since mem0 names nobody with an id."""
    mark = base64.urlsafe_b64encode(msgspec.json.encode((of.user, of.agent, of.run))).decode("ascii").rstrip("=")
    return f"{id}{_MARK}{mark}"


def unmarked(memory_id: str) -> tuple[Whose, str]:
    """Whose a memory is, and the id of its belief. Raises InvalidInput for what is no id of a memory."""
    id, _, mark = check_name(memory_id, "memory_id").partition(_MARK)
    try:
        padded = mark.encode("ascii") + b"=" * (-len(mark) % 4)
        names = msgspec.json.decode(base64.urlsafe_b64decode(padded), type=tuple[str, str, str])
        return whose(*(name or None for name in names)), id
    except (binascii.Error, UnicodeError, msgspec.MsgspecError) as error:
        raise InvalidInput(
            "memory_id", f"{memory_id!r:.80} is no id of a memory; take it as results give it"
        ) from error
