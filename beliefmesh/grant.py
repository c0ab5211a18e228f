"""What somebody who asks over HTTP may do: a role, the banks it holds for, and the principal that is spoken for."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal, get_args

import msgspec

from schemas.errors import AccessDenied, InvalidInput
from schemas.limits import check_bank, check_name
from schemas.query import Principal

Role = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""In rising order: a reader asks, a writer also tells, an admin also runs the mesh and forgets."""

ANY_BANK = "*"


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """The rights of one caller. `banks` are names or shell wildcards.

    With `delegate` the caller is trusted to say, by header, for whom it asks, and who told what it tells; without it,
    it is `principal` with `groups` and nobody else.
    """

    name: str
    role: Role
    banks: tuple[str, ...] = (ANY_BANK,)
    principal: str = ""
    groups: tuple[str, ...] = ()
    delegate: bool = False

    def has_role(self, role: Role) -> bool:
        """Whether the grant is of a role or one above."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def require_role(self, role: Role) -> None:
        """Raises AccessDenied below a role."""
        if not self.has_role(role):
            raise AccessDenied(f"this needs the role {role}; {self.name} has the role {self.role}")

    def require_bank(self, bank: str) -> None:
        """Raises AccessDenied for a bank that the grant is not for, whether it exists or not."""
        if not self.reaches(bank):
            raise AccessDenied(f"{self.name} has no access to the bank {bank!r:.80}")

    def require_all_banks(self) -> None:
        """Raises AccessDenied for a grant that is for some banks only."""
        if ANY_BANK not in self.banks:
            raise AccessDenied(f"this concerns every bank; {self.name} has access to some only")

    def reaches(self, bank: str) -> bool:
        """Whether the grant is for a bank."""
        return any(fnmatchcase(bank, pattern) for pattern in self.banks)

    def asker(self, named: Principal) -> Principal:
        """Who asks, given who the headers say it is. Raises AccessDenied for another than the grant's own."""
        if self.delegate:
            return named if named.id or named.groups else Principal(self.principal, self.groups)
        if named.id not in ("", self.principal) or not set(named.groups) <= set(self.groups):
            raise AccessDenied(f"{self.name} asks as {self.principal or 'nobody in particular'} and as nobody else")
        return Principal(self.principal, self.groups)

    def speaker(self, agent: str) -> str:
        """Who tells something, given who the message says it is. Raises AccessDenied for another than the own name."""
        if self.delegate:
            return agent or self.principal
        if agent not in ("", self.principal):
            raise AccessDenied(
                f"{self.name} speaks as {self.principal or 'nobody in particular'}, not as {agent!r:.80}"
            )
        return self.principal


OPEN_DOOR = Grant(name="anybody", role="admin", delegate=True)
"""Where there is no authentication: everybody may do everything, and is who they say they are."""


def check_patterns(banks: Iterable[str]) -> tuple[str, ...]:
    """Accept names of banks, in which `*` and `?` may stand for others. Raises InvalidInput."""
    checked = tuple(banks)
    for pattern in checked:
        check_name(pattern, "bank")
        plain = pattern.replace("*", "").replace("?", "")
        if plain:
            check_bank(plain)
    if not checked:
        raise InvalidInput("bank", "name at least one, or * for all")
    return checked
