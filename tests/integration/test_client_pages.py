"""The client over lists that have pages, and over verbs that do not wait: as the memory itself tells and does it."""

from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory

GATE = {"entity": "UA 1", "attribute": "gate"}


def test_all_turns_of_a_slot_come_page_by_page(memory: Memory, url: str) -> None:
    memory.retain(
        [{"claims": [{**GATE, "value": f"B{day}"}], "observed_at": f"2024-06-0{day}"} for day in range(1, 6)],
        agent="desk",
    )
    whole = memory.history(entity="UA 1", attribute="gate")
    remote, turns, after = RemoteMemory(url), [], ""

    while True:
        page = remote.history(entity="UA 1", attribute="gate", oldest_first=True, limit=2, after=after)
        turns += page.turns
        after = page.next
        if not after:
            break

    assert tuple(turns) == whole.turns
    newest = remote.history(entity="UA 1", attribute="gate", limit=2)
    assert newest.turns == whole.turns[-2:]
    assert newest.earlier


def test_what_is_revoked_or_judged_without_waiting_is_so_once_it_is_waited_for(memory: Memory, url: str) -> None:
    memory.retain(["The yard is shut.", "The shop is open."], agent="desk", observed_at="2024-06-01")
    remote = RemoteMemory(url)
    shut, opened = (remote.recall(text).found[0].belief for text in ("Is the yard shut?", "Is the shop open?"))

    revoked = remote.revoke(shut.id, reason="seen open", agent="ana", wait=False)
    judged = remote.feedback(opened.id, "right", agent="ana", wait=False)
    remote.wait(revoked.token)
    remote.wait(judged.token)

    assert memory.belief(shut.id).status == "revoked"
    assert memory.belief(opened.id).supports == 2
