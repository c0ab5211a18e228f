"""Says of what is told of a slot how much of its past lies in the archive, as far as the asker may see it."""

from typing import TypeVar

import msgspec

from schemas.answer import Explanation, History
from schemas.audience import readers_of
from schemas.query import Principal
from stores.archive import Archive

Account = TypeVar("Account", History, Explanation)


def slots_beneath(account: History | Explanation) -> set[str]:
    """The slots that an account was told from; of entities that are one there are several."""
    if isinstance(account, History):
        return {account.slot, *(piece.slot for turn in account.turns for piece in turn.evidence)}
    return {account.belief.slot, *(one.evidence.slot for one in account.contributions)}


def with_archived(archive: Archive, bank: str, account: Account, who: Principal) -> Account:
    """The account, with the number of pieces of evidence beneath it that are archived."""
    found = archive.beneath(bank, slots_beneath(account), readers_of(who))
    return msgspec.structs.replace(account, archived=found) if found else account


def why_missing(archive: Archive, bank: str, slot: str, who: Principal) -> str:
    """That a slot is not there because all of it is archived; empty where it is not, or not for the asker to know."""
    found = archive.beneath(bank, {slot}, readers_of(who))
    told = f"all {found} pieces of evidence of slot {slot} are archived; the job restore brings them back"
    return told if found else ""
