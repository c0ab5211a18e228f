"""What a grant allows: roles in rising order, banks by pattern, one principal or any."""

import pytest

from beliefmesh.grant import OPEN_DOOR, Grant, check_patterns
from schemas.errors import AccessDenied, InvalidInput
from schemas.query import Principal

LENA = Grant(name="lena's", role="writer", banks=("acme-*",), principal="lena", groups=("ops", "eu"))
PLATFORM = Grant(name="platform", role="writer", principal="platform", delegate=True)


def test_a_role_includes_the_ones_below_it_and_no_other() -> None:
    LENA.require_role("reader")
    LENA.require_role("writer")
    with pytest.raises(AccessDenied, match="needs the role admin; lena's has the role writer"):
        LENA.require_role("admin")


@pytest.mark.parametrize(
    ("bank", "reached"), [("acme-eu", True), ("acme", False), ("other", False), ("ACME-EU", False)]
)
def test_banks_are_reached_by_pattern_to_the_letter(bank: str, reached: bool) -> None:
    assert LENA.reaches(bank) is reached


def test_a_grant_for_some_banks_is_not_for_what_concerns_all() -> None:
    OPEN_DOOR.require_all_banks()
    with pytest.raises(AccessDenied, match="concerns every bank"):
        LENA.require_all_banks()


def test_who_speaks_for_itself_asks_as_itself_whatever_it_leaves_out() -> None:
    assert LENA.asker(Principal()) == Principal("lena", ("ops", "eu"))
    assert LENA.asker(Principal("lena", ("ops",))) == Principal("lena", ("ops", "eu"))


@pytest.mark.parametrize("named", [Principal("omar"), Principal("lena", ("board",)), Principal("", ("board",))])
def test_who_speaks_for_itself_asks_as_nobody_else(named: Principal) -> None:
    with pytest.raises(AccessDenied, match="asks as lena and as nobody else"):
        LENA.asker(named)


def test_who_speaks_for_itself_tells_in_its_own_name_only() -> None:
    assert LENA.speaker("") == "lena"
    with pytest.raises(AccessDenied, match="speaks as lena, not as 'treasurer'"):
        LENA.speaker("treasurer")


def test_a_delegate_names_whom_it_asks_and_speaks_for_and_is_itself_otherwise() -> None:
    assert PLATFORM.asker(Principal("omar", ("board",))) == Principal("omar", ("board",))
    assert PLATFORM.asker(Principal()) == Principal("platform")
    assert (PLATFORM.speaker("omar"), PLATFORM.speaker("")) == ("omar", "platform")


@pytest.mark.parametrize("banks", [(), ("",), ("no spaces here",), ("a/b",)])
def test_a_bank_that_no_bank_can_be_called_is_refused(banks: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="bank"):
        check_patterns(banks)
