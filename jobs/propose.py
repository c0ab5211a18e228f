"""The job merge-proposals: which entities may be one, found by going through the whole bank, and kept to be shown."""

from beliefs.likeness import proposals
from jobs.job import Page, Work
from jobs.proposed import Proposed
from recall.profiles import profiles_of
from recall.seen import Seen, Sight
from schemas.entity import entity_id
from schemas.query import Principal


def propose_merges(work: Work, after: str) -> Page:  # noqa: ARG001 (one page does it all)
    """Score the pairs that may be one, as the whole bank sees them, and keep them in place of the former ones."""
    now, at_least = work.clock(), float(work.arguments["at_least"])
    seen = Seen(work.graph, work.graph.policy(work.bank), Sight(bank=work.bank, principal=Principal(), moment=now))
    profiles = profiles_of(seen)
    found = proposals(profiles, at_least)
    if work.applies:
        work.proposed.write(work.bank, Proposed(now, at_least, tuple(found)))
    return Page(
        after=None,
        counts={"entities": len(profiles), "proposals": len(found)},
        examples=tuple(
            f"{entity_id(work.bank, one.entity)} into {entity_id(work.bank, one.into)}: {one.score:.2f}"
            for one in found
        ),
    )
