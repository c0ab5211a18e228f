"""The budget job: weighs a bank, plans what has to go when it is near its bounds, and does it (design 10).

A run has three parts, each in pages, with its place in the cursor: `weigh:SLOT` after a slot, `plan`, `do:N` from the
N-th step on. Weights and steps are kept beside the ledger, so that a run that was killed goes on with the same plan.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import takewhile

from beliefs.forget import plan
from jobs.compaction import compressed
from jobs.job import PAGE, Budgeting, Page, Work
from jobs.moving import NOTHING, Going, Moved, coming, move, one_by_one, take_out, tell
from jobs.weigh import total_use
from schemas.archived import Archived, archived
from schemas.budget import MEASURES, Budget
from schemas.plan import Action, BudgetPlan, BudgetStep
from schemas.slot import Amendment, StoredSlot

_WEIGH, _PLAN, _DO = "weigh:", "plan", "do:"
_WHY: Mapping[Action, str] = {
    "compress": "compressed: said again by the same voice, or alike by several",
    "demote": "demoted out of the vectors: worth less than what stays",
    "archive": "archived: worth less than what stays",
    "erase": "erased: worth less than what stays, and the archive has no room",
}

Steps = Mapping[str, BudgetStep]
"""Steps of one kind by slot."""


def keep_budget(work: Work, after: str) -> Page:
    """Do one page of a run; a bank without bounds, or well within them, stays as it is."""
    given = work.budgeting
    if not is_bounded(work.graph.policy(work.bank).budget):
        return Page(after=None, notes=("the policy of the bank has no budget",))
    if after == _PLAN:
        return _planned(work, given)
    if after.startswith(_DO):
        return _done(work, given, int(after.removeprefix(_DO)))
    return _weighed(work, given, after.removeprefix(_WEIGH))


def is_bounded(budget: Budget) -> bool:
    """Whether anything of a bank is bounded."""
    return any(getattr(budget, name) is not None for name in MEASURES)


def _weighed(work: Work, given: Budgeting, after: str) -> Page:
    if not after:
        given.plans.clear(work.bank, work.mode)
    ids = work.graph.scan(work.bank, after, PAGE)
    given.plans.weigh(work.bank, work.mode, [one.candidate for one in given.scales().page(ids)])
    return Page(after=_WEIGH + ids[-1] if len(ids) == PAGE else _PLAN, counts={"slots": len(ids)})


def _planned(work: Work, given: Budgeting) -> Page:
    """Plan from all weights; the plan is durable before its first step."""
    budget = work.graph.policy(work.bank).budget
    candidates = list(given.plans.weighed(work.bank, work.mode))
    room = max(0, given.archive_bytes - work.archive.takes(work.bank))
    made = plan(budget, total_use(candidates), candidates, archive_room=room)
    given.plans.plan(work.bank, work.mode, made)
    if work.applies:
        given.keep_use(made.before)
    return Page(after=f"{_DO}0" if made.steps else None, notes=(*_told_use(made, budget), *made.notes))


def _done(work: Work, given: Budgeting, start: int) -> Page:
    """Do the next steps, as many of one kind as a page has; where nothing is to be changed, tell of them only."""
    steps = given.plans.steps(work.bank, work.mode, start, PAGE)
    if not steps:
        if work.applies:
            given.keep_use(given.plans.left(work.bank, work.mode))
        return Page(after=None)
    action = steps[0].action
    some = list(takewhile(lambda step: step.action == action, steps))
    by_slot = {step.slot: step for step in some}
    moved = _do(work, given, action, by_slot) if work.applies else Moved(gone=dict.fromkeys(by_slot, NOTHING))
    done = [step for step in some if step.slot in moved.gone]
    given.plans.did(work.bank, work.mode, [start + place for place, step in enumerate(some) if step.slot in moved.gone])
    counts = Counter({f"{action} slots": len(done), f"{action} pieces": moved.pieces, "moved on": moved.moved_on})
    counts["bytes freed"] = sum(step.frees.bytes for step in done)
    return Page(
        after=f"{_DO}{start + len(some)}",
        counts=dict(+counts),
        reasons={_WHY[action]: len(done)} if done else {},
        examples=tuple(f"slot {step.slot}: {action}, worth {step.value:.2f}" for step in done),
        bytes=moved.bytes,
    )


def _do(work: Work, given: Budgeting, action: Action, steps: Steps) -> Moved:
    """Carry steps out; a slot that is gone already was dropped by a page that was cut short."""
    if action == "compress":
        return move(work, list(steps), compressed(work))
    there = work.graph.slots(work.bank, list(steps))
    versions = _droppable(given, {id: step for id, step in steps.items() if id in there})
    match action:
        case "demote":
            moved = _demoted(work, versions)
        case "archive":
            moved = _archived(work, versions)
        case _:
            moved = _erased(work, given, versions)
    moved.gone |= {id: NOTHING for id in steps if id not in there}
    moved.moved_on = len(steps) - len(moved.gone)
    return moved


def _droppable(given: Budgeting, steps: Steps) -> dict[str, int]:
    """The versions of those slots that are as they were weighed, and in which still nothing is in the way."""
    now = [one.candidate for one in given.scales().page(list(steps))]
    return {
        each.slot: each.version
        for each in now
        if each.version == steps[each.slot].version and not each.pinned and not each.holds
    }


def _demoted(work: Work, versions: Mapping[str, int]) -> Moved:
    """Take slots at these versions out of the vectors.

    What is written is marked as not indexed, so a kill before the changes are told leaves nothing behind.
    """
    asked = [
        Amendment(bank=work.bank, slot=id, version=version, demote=True) for id, version in sorted(versions.items())
    ]
    changes = work.mesh.amend(asked, work.clock())
    work.announce(changes)
    return Moved(gone={change.slot: NOTHING for change in changes})


def _archived(work: Work, versions: Mapping[str, int]) -> Moved:
    """Move slots at these versions to the archive as a whole."""

    def chosen(stored: StoredSlot) -> list[Archived]:
        as_read = versions[stored.slot.id] == stored.slot.version
        return [archived(piece) for piece in stored.evidence] if as_read else []

    return move(work, list(versions), one_by_one(chosen))


def _erased(work: Work, given: Budgeting, versions: Mapping[str, int]) -> Moved:
    """Erase slots at these versions for good.

    The order of durable writes; each is safe to repeat, and a kill between two repeats from the first:
    1. the changes that are to be told, and that what goes is no loss;
    2. the evidence, out of its slots; 3. the changes.
    """
    tell(work, work.archive.untold(work.bank))
    found = work.graph.load_slots(work.bank, list(versions))
    stored = {id: slot for id, slot in found.items() if slot.slot.version == versions[id]}
    if not stored:
        return Moved()
    pieces = {id: Going([archived(piece) for piece in slot.evidence]) for id, slot in stored.items()}
    work.archive.note(work.bank, [coming(slot, work.clock()) for slot in stored.values()])
    given.plans.erase(work.bank, [id for slot in stored.values() for id in _ids(slot)])
    out = take_out(work, [going.amendment(stored[id].slot) for id, going in pieces.items()])
    return Moved(gone={id: pieces[id] for id in out})


def _ids(stored: StoredSlot) -> set[str]:
    return {id for piece in stored.evidence for id in (piece.id, piece.observation_id)}


def _told_use(made: BudgetPlan, budget: Budget) -> list[str]:
    """By measure that is bounded, what there is and what will be."""
    return [
        f"{name}: {getattr(made.before, name):,.0f} of {bound:,.0f}"
        + (f", to become {getattr(made.after, name):,.0f}" if made.steps else "")
        for name in MEASURES
        if (bound := getattr(budget, name)) is not None
    ]
