"""What each error of NebulaGraph 3.8 means for the statement that got it: the texts are the server's own."""

import pytest

pytest.importorskip("nebula3", reason="the cluster extra is not installed")

from schemas.errors import InvalidSetting, StoreUnavailable
from stores.nebula.errors import NebulaBroken, NebulaRefused, meaning_of

FAILED = -1005
AGAIN = (
    "Storage Error: Not the leader of 3. Please retry later.",
    "Storage Error: Term of part 7 is out of date, please retry later.",
    "Storage Error: Part 7 raft buffer is full. Please retry later.",
    "Storage Error: Write is blocked when creating snapshot",
    "Storage Error: Atomic operation failed.",
    "Storage Error: More than one request trying to add/update/delete one edge/vertex at the same time.",
    "Storage Error: E_CONSENSUS_ERROR",
    "Storage Error: E_WRITE_STALLED",
    "Storage Error: E_RAFT_TERM_OUT_OF_DATE",
    "Storage Error: RPC failure, probably timeout.",
)
SETTLING = (
    "SpaceNotFound: SpaceName `mesh`",
    "TagNotFound: ",
    "EdgeNotFound: ",
    "IndexNotFound: No valid index found",
    "SemanticError: No schema found for `grave'",
    "SemanticError: Unknown column `loose' in schema",
    "Storage Error: Part 12 not found.",
    "Storage Error: Space not found.",
    "Storage Error: Tag not found.",
    "Storage Error: Tag prop not found.",
)
NEVER = (
    "Storage Error: The data type does not meet the requirements. Use the correct type of data.",
    "Storage Error: Invalid data, may be wrong value type.",
    "Storage Error: The not null field cannot be null.",
    "Storage Error: The VID must be a 64-bit integer or a string fitting space vertex id length limit.",
    "Storage Error: Out of range value.",
    "Existed!",
    "Invalid param!",
)


@pytest.mark.parametrize("text", AGAIN)
def test_what_may_pass_by_itself_is_sent_again(text: str) -> None:
    assert meaning_of(FAILED, text) == "again"


@pytest.mark.parametrize("text", SETTLING)
def test_what_a_new_schema_causes_is_waited_for(text: str) -> None:
    assert meaning_of(FAILED, text) == "settling"


@pytest.mark.parametrize("text", NEVER)
def test_a_mistake_is_never_sent_again(text: str) -> None:
    assert meaning_of(FAILED, text) == "mine"
    assert isinstance(NebulaRefused(FAILED, text).ours(), StoreUnavailable)


@pytest.mark.parametrize(
    ("code", "text", "meaning"),
    [
        (-1002, "Session not existed!", "login"),
        (-1003, "Session timeout", "login"),
        (-1001, "Invalid password", "settings"),
        (-1008, "PermissionError: No permission to write data.", "settings"),
        (-1004, "SyntaxError: syntax error near `x'", "mine"),
        (-1009, "SemanticError: Missing yield clause.", "mine"),
        (-1011, "partial", "mine"),
        (FAILED, "Storage Error: Vertex or edge not found.", "absent"),
    ],
)
def test_a_code_says_what_is_to_be_done(code: int, text: str, meaning: str) -> None:
    assert meaning_of(code, text) == meaning


def test_a_refused_login_or_a_missing_role_is_a_wrong_setting() -> None:
    assert isinstance(NebulaRefused(-1008, "PermissionError: no").ours(), InvalidSetting)


def test_of_a_broken_connection_it_is_known_whether_the_statement_may_have_run() -> None:
    assert (NebulaBroken("timed out", sent=True).sent, NebulaBroken("timed out", sent=True).slow) == (True, True)
    assert (NebulaBroken("refused", sent=False).sent, NebulaBroken("refused", sent=False).slow) == (False, False)
