"""The memory in the shape of mem0: what a program that was written for mem0 calls, over beliefs.

A memory of mem0 is a belief here, and its id the belief's, marked with whose it is. What is edited by hand stands from
then on in a slot of its own under the same id. `docs/mem0.md` says what differs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from beliefmesh.backup import observation_in
from beliefmesh.mem0_filter import matches
from beliefmesh.mem0_history import ended_with, events
from beliefmesh.mem0_memory import (
    edit_of,
    end_of,
    is_item,
    is_told,
    item_id,
    item_slot,
    memory_of,
    observations_of,
)
from beliefmesh.mem0_whose import Whose, unmarked, whose, whose_among
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.answer import Answer, Explanation, History
from schemas.belief import LIVE, Belief
from schemas.errors import NotFound, UnknownBank
from schemas.limits import MAX_ITEMS, check_number, check_text

Plain = dict[str, Any]
Messages = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]

_MOST = 100_000
_MORE = 4
_NETWORKS = ("world", "experience", "opinion")


class Mem0:
    """The methods of mem0's `Memory`, with its arguments and results, over a memory in this process or elsewhere.

    `user_id`, `agent_id` and `run_id` say whose a memory is: it is for those alone, and what one is told never meets
    what another one is told.
    """

    def __init__(self, memory: Memory | RemoteMemory, *, bank: str | None = None) -> None:
        self.memory = memory
        self._bank = bank

    def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
    ) -> Plain:
        """Remember what messages say; with `infer` what can be concluded from it, else each word for word.

        A result with the event `UPDATE` took the place of `previous_memory`.
        """
        of = whose(user_id, agent_id, run_id)
        told = observations_of(messages, of, metadata, infer)
        if not told:
            return {"results": []}
        receipt = self.memory.retain(told, bank=self._bank)
        made = sorted(self._explained(of, observations=receipt.ids), key=lambda pair: _place(pair[0], receipt.ids))
        return {"results": [self._added(one, memory, of) for one, memory in made if one.belief.status in LIVE]}

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int = 100,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
    ) -> Plain:
        """The memories that answer best, with a `score` between 0 and 1; `threshold` leaves out what is below it."""
        of, wanted = whose_among(user_id, agent_id, run_id, filters)
        asked = int(check_number(limit, "limit", 1, MAX_ITEMS))
        least = None if threshold is None else check_number(threshold, "threshold", 0, 1)
        reach = asked
        while True:
            answer = self._recalled(query, of, reach)
            found = [one for one in _rows(answer, of) if matches(one, wanted)]
            fit = [one for one in found if least is None or one["score"] >= least]
            if len(fit) >= asked or reach == MAX_ITEMS or answer is None or len(answer.found) < reach:
                return {"results": fit[:asked]}
            reach = min(MAX_ITEMS, reach * _MORE)

    def get(self, memory_id: str) -> Plain | None:
        """One memory as it is now; None where it was deleted, gave way to what was learned since, or never was."""
        of, id = unmarked(memory_id)
        held = self._held(of, id)
        return None if held is None else held[1]

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 100,
    ) -> Plain:
        """What is remembered for those named, the oldest first, `limit` at most."""
        of, wanted = whose_among(user_id, agent_id, run_id, filters)
        asked = int(check_number(limit, "limit", 1, _MOST))
        found = [memory for _, memory in self._all(of) if matches(memory, wanted)]
        return {"results": sorted(found, key=_oldest_first)[:asked]}

    def update(self, memory_id: str, data: str, metadata: Mapping[str, Any] | None = None) -> Plain:
        """Let a memory say something else from now on; its id stays, and `history` tells what it said before."""
        check_text(data, "data", empty=False)
        of, id = unmarked(memory_id)
        belief, memory = self._required(of, id)
        kept = memory["metadata"] if metadata is None else metadata
        self.memory.retain(edit_of(id, data, kept, of), bank=self._bank)
        if not is_item(belief):
            self._end(belief, of)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str, *, for_good: bool = False) -> Plain:
        """End a memory: it is found no more, and `history` still tells of it; with `for_good` it is erased instead."""
        of, id = unmarked(memory_id)
        belief, _ = self._required(of, id)
        self._delete(belief, of, for_good)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        for_good: bool = False,
    ) -> Plain:
        """Delete every memory of those named, as `delete` does."""
        of = whose(user_id, agent_id, run_id)
        for belief, _ in list(self._all(of)):
            self._delete(belief, of, for_good)
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> None:
        """Erase all that was ever told as a memory in the bank, whosever it is, edits and what was deleted included.

        What the bank knows from elsewhere stays. Over the network it needs an admin's key that may speak for others.
        """
        told = list(self._told())
        for start in range(0, len(told), MAX_ITEMS):
            self.memory.forget(ids=told[start : start + MAX_ITEMS], bank=self._bank)

    def history(self, memory_id: str) -> list[Plain]:
        """What became of a memory, the oldest first: `ADD`, then each `UPDATE`, and `DELETE` where it ended."""
        of, id = unmarked(memory_id)
        return events(memory_id, id, self._history(of, {"of": id}), self._history(of, item_slot(id)))

    def _added(self, one: Explanation, memory: Plain, of: Whose) -> Plain:
        row = {"id": memory["id"], "memory": memory["memory"], "metadata": memory["metadata"], "event": "ADD"}
        past = self._history(of, {"of": one.belief.slot}) if one.belief.attribute else None
        before = [each for each in (past.beliefs if past else ()) if each.by == one.belief.id]
        if before:
            newest = max(before, key=lambda each: (each.newest_support or 0, each.id))
            return row | {"event": "UPDATE", "previous_memory": newest.statement}
        return row

    def _recalled(self, query: str, of: Whose, limit: int) -> Answer | None:
        with suppress(NotFound):  # a bank into which nothing was told yet
            return self.memory.recall(query, bank=self._bank, principal=of.principal, networks=_NETWORKS, limit=limit)
        return None

    def _explained(self, of: Whose, **named: Sequence[str]) -> list[tuple[Explanation, Plain]]:
        """The beliefs named, each as a memory, those that were told for these."""
        found = self.memory.explanations(bank=self._bank, principal=of.principal, **named)
        rows = ((one, memory_of(one.belief, one.contributions, of)) for one in found)
        return [(one, row) for one, row in rows if row is not None]

    def _held(self, of: Whose, id: str) -> tuple[Belief, Plain] | None:
        """A memory as it is held now, edited or as it was told."""
        page = self.memory.beliefs(bank=self._bank, principal=of.principal, statuses=LIVE, **item_slot(id))
        for asked in ([each.id for each in page.beliefs], [id]):
            for one, row in self._explained(of, beliefs=asked) if asked else ():
                if one.belief.status in LIVE:
                    return one.belief, row
        return None

    def _required(self, of: Whose, id: str) -> tuple[Belief, Plain]:
        held = self._held(of, id)
        if held is None:
            raise NotFound(f"there is no memory {id:.80} of {', '.join(of.readers):.200}, or it is no longer held")
        return held

    def _all(self, of: Whose) -> Iterator[tuple[Belief, Plain]]:
        after = ""
        while True:
            page = self.memory.beliefs(
                bank=self._bank, principal=of.principal, statuses=LIVE, networks=_NETWORKS, limit=MAX_ITEMS, after=after
            )
            ids = [belief.id for belief in page.beliefs]
            yield from ((one.belief, row) for one, row in (self._explained(of, beliefs=ids) if ids else ()))
            if not page.next:
                return
            after = page.next

    def _delete(self, belief: Belief, of: Whose, for_good: bool) -> None:
        if not for_good:
            self._end(belief, of)
            return
        ids = [each.id for each in self._with_replaced(belief, of)]
        if is_item(belief):
            ids += ended_with(self._history(of, {"of": item_id(belief)}), item_id(belief))
        found = self.memory.explanations(ids[:MAX_ITEMS], bank=self._bank, principal=of.principal)
        pieces = [term.evidence for one in found for term in one.contributions if term.stance == "supports"]
        told_by = {piece.observation_id for piece in pieces if of.has(piece)}
        self.memory.forget(ids=sorted(told_by), bank=self._bank)

    def _end(self, belief: Belief, of: Whose) -> None:
        """End a belief, and what it had replaced, which would else hold again."""
        ended = [belief] if belief.attribute is None else self._with_replaced(belief, of)
        self.memory.retain(end_of(ended, of), bank=self._bank)

    def _with_replaced(self, belief: Belief, of: Whose) -> list[Belief]:
        """A belief, and what it took the place of, also by and by; others that hold, or were ended, stay apart."""
        past = self._history(of, {"of": belief.slot})
        before = past.beliefs if past else ()
        gone = (each for each in before if each.status not in LIVE and each.reason != "retracted")
        return [belief, *(each for each in gone if each.id != belief.id)]

    def _told(self) -> Iterator[str]:
        """The ids of all observations that were told as memories."""
        with suppress(UnknownBank):
            for one in map(observation_in, self.memory.export(self._bank)):
                if one is not None and is_told(one.source.id):
                    yield one.id

    def _history(self, of: Whose, asked: dict[str, Any]) -> History | None:
        with suppress(NotFound):
            return self.memory.history(**asked, bank=self._bank, principal=of.principal)
        return None


def _rows(answer: Answer | None, of: Whose) -> list[Plain]:
    """What was recalled, as memories of these with their scores, the best first."""
    rows = []
    for found in answer.found if answer else ():
        row = memory_of(found.belief, found.evidence, of)
        if row is not None:
            rows.append(row | {"score": 1.0 / (1.0 + math.exp(-found.score)), "confidence": found.confidence})
    return rows


def _place(one: Explanation, observations: Sequence[str]) -> tuple[int, str]:
    """Where the first of these observations stands that a belief rests on."""
    told = {term.evidence.observation_id for term in one.contributions}
    return min(place for place, id in enumerate(observations) if id in told), one.belief.id


def _oldest_first(memory: Plain) -> tuple[str, str]:
    return (memory["created_at"], memory["id"])
